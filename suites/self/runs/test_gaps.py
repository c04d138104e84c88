"""What a run lacks: told before its first case, found by itself where it can be, and counted."""

import pytest

from steertag.suite.run.options import INCOMPLETE
from steertag.suite.tcp.nfs_port import NFS_PORT

from third_party import third_party

CASES = """
    from steertag.suite import case, expect

    ID = "RFC8166-4.2.4-1"

    @case("self.plain.null", requirements=[ID])
    def test_null(bench):
        conn = bench.connect()
        expect(conn.exchange(conn.null_call()), ID, must=["reply"])

    @case("self.twin.null", requirements=[ID, "RFC5531-9-1"], needs=["tcp"])
    def test_twin(bench):
        conn = bench.connect_tcp()
        expect(conn.exchange(conn.null_call()), "RFC5531-9-1", must=["reply"])

    @case("self.twin.by-hand", requirements=[ID])
    def test_by_hand(bench):
        conn = bench.connect_nfs_over_tcp()
        expect.true(conn.open, ID, "NFS is served over TCP")

    @case("self.risk.all", requirements=[ID], risk="destructive")
    def test_all(bench):
        bench.connect()
"""
WRONG = """
    from steertag.suite import case, expect

    @case("self.plain.wrong", requirements=["RFC8166-4.2.4-1"])
    def test_wrong(bench):
        expect.equal(1, 2, "RFC8166-4.2.4-1", "a number")
"""
NO_URL = "needs tcp: no URL says how the target is reached over TCP"
# Addresses of this machine on which nothing listens on the port of NFS.
LISTENS, SILENT = "127.22.49.1", "127.22.49.2"


def outcomes(suite):
    """{case id: (verdict, reason)}"""
    return {row["id"]: (row["verdict"], row["reason"]) for row in suite.document()["cases"]}


def text_of(result):
    """The output with single spaces, as the paragraph is wrapped."""
    return " ".join(result.stdout.str().split())


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_the_port_of_nfs_is_tried(suite, workers):
    suite.cases(test_gaps=CASES)
    with third_party(suite, host=LISTENS, tcp_port=NFS_PORT) as (rdma, _):
        result = suite.run("--target", f"iwarp://{LISTENS}:{rdma}/", *workers)
        assert result.ret == pytest.ExitCode.OK, result.stdout.str()
        assert outcomes(suite)["self.twin.null"] == ("pass", "")
        found = f"tcp://{LISTENS}:2049 answers NFS: the cases that need TCP use it"
        assert text_of(result).count(found) == 1
        assert text_of(result).count("not tested: 1 of 4 cases") == 1
        forbidden = suite.run("--target", f"iwarp://{LISTENS}:{rdma}/", "--no-tcp", *workers)
    assert outcomes(suite)["self.twin.null"] == ("not-testable", NO_URL)
    assert outcomes(suite)["self.twin.by-hand"] == ("not-testable", NO_URL)
    told = f"{NO_URL} (--no-tcp forbids a try of the NFS port); give --tcp URL, or `tcp:` in the"
    assert f"1 not-testable, on twin 1: {told} profile" in text_of(forbidden)


def test_a_port_on_which_nothing_listens(suite):
    suite.cases(test_gaps=CASES)
    with third_party(suite, host=SILENT) as (rdma, _):
        result = suite.run("--target", f"iwarp://{SILENT}:{rdma}/", "-k", "null or twin or all")
    assert result.ret == pytest.ExitCode.OK, result.stdout.str()
    found = outcomes(suite)
    assert found["self.plain.null"] == ("pass", "")
    assert found["self.twin.null"] == ("not-testable", NO_URL)
    text = text_of(result)
    assert "not tested: 2 of 3 cases" in text
    refused = f"(port 2049 was tried: {SILENT}:2049: Connection refused)"
    assert f"{NO_URL} {refused}; give --tcp URL, or `tcp:` in the profile" in text
    assert "on risk 1: destructive: runs against a third party only with --allow-destr" in text
    assert text.index("not tested:") < text.index("steertag ====")


def test_the_url_over_tcp_as_an_option(suite):
    suite.cases(test_gaps=CASES)
    with third_party(suite) as (rdma, tcp):
        given = "--no-tcp", "--tcp", f"tcp://127.0.0.1:{tcp}"
        result = suite.run("--target", f"iwarp://127.0.0.1:{rdma}/", *given, "-k", "twin")
    assert result.ret == pytest.ExitCode.OK, result.stdout.str()
    assert set(suite.verdicts().values()) == {"pass"}
    assert "not tested" not in result.stdout.str()


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--tcp", "tcp://127.0.0.1"], "--tcp is for --target; the bundled server listens over"),
        (
            ["--target", "iwarp://127.0.0.1/", "--tcp", "iwarp://127.0.0.1"],
            "--tcp iwarp://127.0.0.1: it must be a URL tcp://host[[]:port]",
        ),
    ],
)
def test_wrong_urls_over_tcp(suite, arguments, sentence):
    suite.cases(test_gaps=CASES)
    result = suite.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {sentence}*"])


def test_an_incomplete_run_fails_on_demand(suite):
    suite.cases(test_gaps=CASES)
    with third_party(suite) as (rdma, tcp):
        target = "--target", f"iwarp://127.0.0.1:{rdma}/", "--tcp", f"tcp://127.0.0.1:{tcp}"
        result = suite.run(*target, "--require-complete")
        assert result.ret == INCOMPLETE == 6, result.stdout.str()
        sentence = "ERROR: --require-complete: 1 of 4 cases are not-testable in this run"
        result.stdout.fnmatch_lines([sentence])
        assert suite.run(*target).ret == pytest.ExitCode.OK
        whole = suite.run(*target, "--require-complete", "--allow-destructive")
        assert whole.ret == pytest.ExitCode.OK, whole.stdout.str()


def test_a_failure_has_the_exit_status_of_failures(suite):
    suite.cases(test_gaps=CASES, test_wrong=WRONG)
    with third_party(suite) as (rdma, _):
        target = "--target", f"iwarp://127.0.0.1:{rdma}/", "-k", "null or wrong or all or twin"
        result = suite.run(*target, "--no-tcp", "--require-complete")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["ERROR: --require-complete: 2 of 4 cases are not-testable*"])
