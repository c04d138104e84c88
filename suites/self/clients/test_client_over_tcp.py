"""Runs against clients with a server over TCP alone: what is about NFS runs, and what is about RDMA does not."""

CASES = """
    from steertag.suite import ANY, case, client_kinds as kinds, expect
    from steertag.suite.client.script import operations_of, Script

    SESSION, LOSS = "RFC8881-2.10.6.1-6", "RFC8166-4.5.5-1"

    class Noting(Script):
        def __init__(self):
            self.names = []

        def on_call(self, conn, call):
            self.names += [number.name for number, _ in operations_of(call)]

    @case("client.self.any", requirements=[SESSION], needs=["client-backchannel"], over=ANY)
    def test_any(bench):
        script = Noting()
        expect(bench.use(script), SESSION, must=[kinds.COMPLETED])
        expect.true("CREATE_SESSION" in script.names, SESSION, "it makes a session")

    @case("client.self.version", requirements=[SESSION], needs=["client-nfs3"], over=ANY)
    def test_version(bench):
        expect(bench.use(), SESSION, must=[kinds.COMPLETED])

    @case("client.self.rdma", requirements=[LOSS])
    def test_rdma(bench):
        expect(bench.use(), LOSS, must=[kinds.COMPLETED])
"""
OVER_TCP = ("--listen", "tcp://127.0.0.1:0")


def test_cases_on_nfs_run(suite):
    suite.cases(test_cases=CASES)
    result = suite.run(*OVER_TCP)
    assert result.ret == 0, result.stdout.str()
    rows = {row["id"]: row for row in suite.document()["cases"]}
    assert rows["client.self.any"]["verdict"] == "pass"
    assert rows["client.self.version"]["verdict"] == "not-testable"
    assert rows["client.self.rdma"]["verdict"] == "not-testable"
    assert rows["client.self.rdma"]["reason"].startswith("needs RDMA: the suite's server listens")


def test_a_client_of_another_version(suite):
    suite.cases(test_cases=CASES)
    result = suite.run(*OVER_TCP, "--client-nfs", "3")
    assert result.ret == 0, result.stdout.str()
    verdicts = suite.verdicts()
    assert verdicts["client.self.version"] == "pass"
    assert verdicts["client.self.any"] == "not-testable"


def test_a_client_that_completes_nothing_is_one_sentence(suite):
    suite.cases(test_cases=CASES)
    result = suite.run(*OVER_TCP, "--client-command", "false")
    assert result.ret != 0
    text = result.stdout.str() + result.stderr.str()
    assert "the client does not complete with an unaltered server" in text
    assert "Traceback" not in text
