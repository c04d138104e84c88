"""Runs over plain TCP: what runs, what the report says of the rest, and what broken records lead to.

Also the twin over TCP of a target that is reached over RDMA."""

import pytest

from third_party import third_party

CASES = """
    import pytest
    from steertag.suite import ANY, RDMA, case, expect

    RPC, HEADER = "RFC5531-9-1", "RFC8166-4.5.1-1"

    @case("self.null", requirements=[RPC, HEADER], over=ANY)
    def test_null(bench):
        conn = bench.connect(greet=False)
        expect(conn.exchange(conn.null_call()), RPC, must=["reply"])
        expect.equal(conn.has_header, bench.target.url.startswith("iwarp"), RPC, "has a header")

    @case("self.work", requirements=[RPC], over=ANY)
    def test_work(bench):
        conn = bench.connect()
        expect(conn.exchange(conn.rpc_call(0x20000000, 1, 7)), RPC, must=["reply"])

    @case("self.header", requirements=[HEADER])
    def test_header(bench):
        conn = bench.connect()
        expect(conn.exchange(conn.null_call()), HEADER, must=["reply"])

    @case("self.twin", requirements=[RPC], needs=["tcp"], over=ANY)
    def test_twin(bench):
        conn = bench.connect_tcp()
        expect(conn.exchange(conn.null_call()), RPC, must=["reply"])
        expect.equal(conn.has_header, False, RPC, "has a header")

    @case("self.pieces", requirements=[RPC], needs=["tcp"], over=ANY)
    def test_pieces(bench):
        conn = bench.connect_tcp()
        calls = [conn.null_call() for _ in range(3)]
        conn.send(calls[0], fragment_octets=3)
        conn.send(calls[1])
        conn.send_octets(b"\\x80\\0\\0\\x28" + bytes(calls[2].payload))
        for outcome in conn.collect_sent(calls).values():
            expect(outcome, RPC, must=["reply"])
        conn.end()
        expect.true(conn.wait_closed(), RPC, "the server ends its half too")
"""
MISTAKES = """
    from steertag.suite import ANY, case, expect

    RPC, HEADER = "RFC5531-9-1", "RFC8166-4.5.1-1"

    @case("self.foreign", requirements=[RPC, HEADER], over=ANY)
    def test_foreign(bench):
        conn = bench.connect()
        expect(conn.exchange(conn.null_call()), HEADER, must=["reply"])

    @case("self.field", requirements=[RPC], over=ANY)
    def test_field(bench):
        bench.connect().null_call().vers = 2

    @case("self.settings", requirements=[RPC], over=ANY)
    def test_settings(bench):
        bench.connect(credits=1, private_data=None)
"""
NEEDS_RDMA = (
    "needs RDMA: the target is reached over TCP, which has no transport header, chunks or credits"
)


def rows(suite):
    """{case id: (verdict, reason)}"""
    return {row["id"]: (row["verdict"], row["reason"]) for row in suite.document()["cases"]}


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_run_over_tcp_tells_what_it_did_not_run(suite, workers):
    suite.cases(test_over=CASES)
    result = suite.run("--over", "tcp", *workers)
    assert result.ret == pytest.ExitCode.OK, result.stdout.str()
    passed = ("pass", "")
    assert rows(suite) == {
        "self.header": ("not-testable", NEEDS_RDMA),
        **dict.fromkeys(["self.null", "self.work", "self.twin", "self.pieces"], passed),
    }
    assert suite.document()["target"] == "bundled server over TCP"
    told = "1 not-testable, on header 1: needs RDMA: the target is reached over TCP,*"
    result.stdout.fnmatch_lines(["*not tested: 1 of 5 cases", f"  {told}"])


def test_the_report_names_only_what_binds_over_tcp(suite):
    suite.cases(test_over=CASES)
    suite.run("--over", "tcp")
    named = {row["id"]: row["requirements"] for row in suite.document()["cases"]}
    assert named["self.null"] == ["RFC5531-9-1"]
    assert named["self.header"] == ["RFC8166-4.5.1-1"]


def test_the_same_cases_over_rdma(suite):
    suite.cases(test_over=CASES)
    assert suite.run().ret == pytest.ExitCode.OK
    assert set(suite.verdicts().values()) == {"pass"}


@pytest.mark.parametrize(
    "defect, verdict, reason, shown",
    [
        ("sends-no-record", "fail", "expected reply, saw violation", "#1    <- 28 octets ["),
        (
            "cuts-its-reply",
            "fail",
            "expected reply, saw disconnect",
            "ended the stream inside a rec",
        ),
        (
            "keeps-silent",
            "fail",
            "expected reply, saw silence",
            "#4    <- record of 24 octets xid 0x",
        ),
    ],
)
def test_what_comes_of_records_that_are_none(suite, defect, verdict, reason, shown):
    suite.cases(test_over=CASES)
    result = suite.run("--over", "tcp", "--deviate", defect, "-k", "work", "-v")
    (row,) = suite.document()["cases"]
    assert (row["verdict"], row["reason"]) == (verdict, f"RFC5531-9-1: {reason}")
    text = result.stdout.str()
    assert shown in text and "-> record of 40 octets xid 0x" in text, text
    assert "CALL program 536870912 version 1 procedure 7\n" in text


def test_a_twin_that_hangs_is_the_verdict_of_the_case_that_uses_it(suite):
    suite.cases(test_over=CASES)
    suite.run("--deviate", "hangs-over-tcp", "-k", "null or twin")
    found = suite.verdicts()
    assert found == {"self.null": "pass", "self.twin": "hang"}


def test_mistakes_of_a_case_over_tcp_are_ours(suite):
    suite.cases(test_mistakes=MISTAKES)
    suite.run("--over", "tcp")
    found = rows(suite)
    assert {verdict for verdict, _ in found.values()} == {"harness-error"}
    assert found["self.foreign"][1].endswith("RFC8166-4.5.1-1, which binds no peer over tcp")
    assert found["self.field"][1] == "AttributeError"
    assert found["self.settings"][1] == "a connection over TCP has no credits, private_data"


def test_a_target_over_tcp(suite):
    suite.cases(test_over=CASES)
    with third_party(suite) as (_, port):
        result = suite.run("--target", f"tcp://127.0.0.1:{port}/")
    assert result.ret == pytest.ExitCode.OK, result.stdout.str()
    assert suite.document()["totals"]["pass"] == 4


def test_a_target_whose_twin_the_profile_names(suite):
    suite.cases(test_over=CASES)
    profile = suite.pytester.path / "profile.yaml"
    with third_party(suite) as (rdma, tcp):
        profile.write_text(f"tcp: tcp://127.0.0.1:{tcp}\n")
        target = ("--target", f"iwarp://127.0.0.1:{rdma}/")
        assert suite.run(*target, "--profile", str(profile)).ret == pytest.ExitCode.OK
        assert suite.verdicts()["self.twin"] == "pass"
        assert suite.run(*target).ret == pytest.ExitCode.OK
        sentence = "needs tcp: no URL says how the target is reached over TCP"
        assert rows(suite)["self.twin"] == ("not-testable", sentence)


def test_a_twin_that_is_not_there_is_one_sentence(suite):
    suite.cases(test_over=CASES)
    profile = suite.pytester.path / "profile.yaml"
    profile.write_text("tcp: tcp://127.0.0.1:1\n")
    with third_party(suite) as (rdma, _):
        result = suite.run("--target", f"iwarp://127.0.0.1:{rdma}/", "--profile", str(profile))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    line = "ERROR: target tcp://127.0.0.1:1: 127.0.0.1:1: Connection refused"
    result.stderr.fnmatch_lines([line])


def test_many_cases_that_do_not_run_share_a_line(suite):
    suite.cases(
        test_many="""
        import pytest
        from steertag.suite import ANY, case

        @case("self.null", requirements=["RFC5531-9-1"], over=ANY)
        def test_null(bench):
            bench.connect()

        @case("self.header-{number}", requirements=["RFC8166-4.5.1-1"])
        @pytest.mark.parametrize("number", range(20))
        def test_header(bench, number):
            bench.connect()
        """
    )
    result = suite.run("--over", "tcp")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["not tested: 20 of 21 cases", "  20 not-testable, on *"])
    assert "self.header-1:" not in result.stdout.str()
