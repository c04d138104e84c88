"""Whole runs: verdicts become pytest outcomes, exit codes and a report, and a dead server is replaced."""

import subprocess
import time
import xml.etree.ElementTree as ElementTree

import pytest
from version_zero import VERSION_ZERO

from steertag.suite.run.options import lock_report_directory, make_report_directory

EVERY_VERDICT = """
    from steertag.suite import case, expect

    MUST, SHOULD, MAY = "RFC8166-4.5.1-1", "RFC8166-4.5.2-5", "RFC8166-4.2.1-2"

    @case("self.pass", requirements=[MUST])
    def test_pass(bench):
        expect(bench.connect().exchange(bench.connect().null_call()), MUST, must=["reply"])

    @case("self.latitude", requirements=[MAY])
    def test_latitude(bench):
        bench.latitude(MAY, "it does")

    @case("self.warn", requirements=[SHOULD])
    def test_warn(bench):
        expect.equal(1, 2, SHOULD, "number")

    @case("self.fail", requirements=[MUST])
    def test_fail(bench):
        conn = bench.connect()
        expect(conn.exchange(conn.null_call()), MUST, must=["err-vers"])

    @case("self.unsupported", requirements=[MUST])
    def test_unsupported(bench):
        bench.unsupported("PROG_UNAVAIL for NFS version 9")

    @case("self.not-testable", requirements=[MUST])
    def test_not_testable(bench):
        bench.not_testable("no way to see it")

    @case("self.harness-error", requirements=[MUST])
    def test_harness_error(bench):
        assert 1 == 2

    @case("self.exception", requirements=[MUST])
    def test_exception(bench):
        {}["missing"]
"""
WORK = """
    from steertag.suite import case, expect

    @case("self.work", requirements=["RFC8166-4.2.4-1"])
    def test_work(bench):
        conn = bench.connect()
        expect(conn.exchange(conn.rpc_call(0x20000000, 1, 7)), "RFC8166-4.2.4-1", must=["reply"])
"""
KILLS_ITS_RUN = """
    import os, signal
    from steertag.suite import case

    @case("self.kills", requirements=["RFC8166-4.2.4-1"])
    def test_kills(bench):
        os.kill(os.getpid(), signal.SIGKILL)
"""
# A server ends within this after SIGTERM.
SERVER_END_S = 10


def test_every_verdict_has_its_pytest_outcome(suite):
    suite.cases(test_all=EVERY_VERDICT)
    result = suite.run("-v")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=3, failed=1, skipped=2, errors=2, warnings=1)
    result.stdout.fnmatch_lines(
        [
            "*test_latitude LATITUDE*",
            "*test_warn WARN*",
            "*test_unsupported UNSUPPORTED*",
            "*test_not_testable NOT-TESTABLE*",
            "*test_harness_error HARNESS-ERROR*",
        ]
    )
    result.stdout.fnmatch_lines(
        ["3 causes, 3 cases; in 1 of them: the server breaks RFC 8166 4.5.1*"]
    )
    result.stdout.fnmatch_lines(["  seen      reply", "  expected  err-vers"])
    result.stdout.fnmatch_lines(["1 warning, 1 case: the server breaks RFC 8166 4.5.2 (SHOULD): *"])
    result.stdout.fnmatch_lines(["*RFC 8166 section 4.5.1 (MUST):*"])
    assert suite.document()["totals"] == {
        **{"pass": 1, "latitude": 1, "warn": 1, "not-testable": 1, "unsupported": 1},
        **{"fail": 1, "hang": 0, "crash": 0, "harness-error": 2},
    }


def test_junit_tells_error_from_failure_and_names_the_case(suite):
    suite.cases(test_all=EVERY_VERDICT)
    suite.run()
    seen = {}
    for element in ElementTree.parse(suite.report / "junit.xml").iter("testcase"):
        properties = {each.get("name"): each.get("value") for each in element.iter("property")}
        children = {child.tag for child in element} & {"failure", "error", "skipped"}
        seen[properties["case"]] = (properties["verdict"], children)
    assert seen["self.pass"] == ("pass", set())
    assert seen["self.warn"] == ("warn", set())
    assert seen["self.fail"] == ("fail", {"failure"})
    assert seen["self.harness-error"] == ("harness-error", {"error"})
    assert seen["self.unsupported"] == ("unsupported", {"skipped"})


def test_a_conforming_server_passes_and_is_captured(suite):
    suite.cases(test_version=VERSION_ZERO)
    result = suite.run("--captures", "all")
    assert result.ret == pytest.ExitCode.OK, result.stdout.str()
    assert suite.verdicts() == {"self.null": "pass", "self.version-zero": "pass"}
    row = suite.document()["cases"][1]
    assert row["requirements"] == ["RFC8166-4.5.1-1"] and row["findings"] == []
    capture = (suite.report / row["capture"]).read_bytes()
    assert b"case self.version-zero" in capture and b"verdict pass" in capture


def test_a_wrong_answer_fails(suite):
    suite.cases(test_version=VERSION_ZERO)
    result = suite.run("--deviate", "wrong-error")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert suite.verdicts() == {"self.null": "pass", "self.version-zero": "fail"}


@pytest.mark.parametrize(
    "deviation, verdict, reason",
    [
        ("dies", "crash", "the server process ended with exit status 3"),
        ("hangs", "hang", "after the case the server does not answer a new connection"),
    ],
)
def test_a_dead_server_is_the_verdict_of_its_case_and_is_replaced(
    suite, deviation, verdict, reason
):
    suite.cases(test_version=VERSION_ZERO)
    result = suite.run("--deviate", deviation)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert suite.verdicts() == {"self.null": "pass", "self.version-zero": verdict}
    assert reason in suite.document()["cases"][1]["reason"]


SILENT = """
    from steertag.suite import case, expect

    @case("self.silent", requirements=["RFC8166-4.2.4-1"])
    def test_silent(bench):
        conn = bench.connect(private_data=None)
        expect(conn.exchange(conn.null_call()), "RFC8166-4.2.4-1", must=["reply"])
"""


def test_a_refused_connection_fails_under_a_requirement(suite):
    suite.cases(test_silent=SILENT)
    suite.run("--deviate", "refuses-the-silent")
    (row,) = suite.document()["cases"]
    reason = "RFC8166-3.3.3-1: the target refused a connection"
    assert (row["verdict"], row["reason"]) == ("fail", reason)


def test_what_the_judge_finds_fails_the_case(suite):
    suite.cases(test_version=VERSION_ZERO)
    result = suite.run("--deviate", "grants-zero", "-k", "null")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    (row,) = suite.document()["cases"]
    assert row["reason"].startswith("RFC8166-3.3.1-5: ")
    assert {finding["id"] for finding in row["findings"]} == {"RFC8166-3.3.1-5"}


TOLERANT = """
    from steertag.suite import case, expect

    @case(
        "self.tolerant",
        requirements=["RFC8166-4.2.4-1"],
        tolerates={"RFC8166-3.3.1-5": "grants are the business of other cases"},
    )
    def test_tolerant(bench):
        conn = bench.connect()
        expect(conn.exchange(conn.null_call()), "RFC8166-4.2.4-1", must=["reply"])

    @case("self.not-hostile", requirements=["RFC8166-4.5.1-1"])
    def test_not_hostile(bench):
        conn = bench.connect()
        call = conn.null_call()
        call.vers = 2
        expect(conn.exchange(call), "RFC8166-4.5.1-1", must=["err-vers"])
"""


def test_tolerated_findings_are_reported_and_do_not_fail(suite):
    suite.cases(test_tolerant=TOLERANT)
    result = suite.run("--deviate", "grants-zero", "-k", "not hostile")
    assert result.ret == pytest.ExitCode.OK
    (row,) = suite.document()["cases"]
    assert row["verdict"] == "pass"
    assert {finding["id"] for finding in row["findings"]} == {"RFC8166-3.3.1-5"}


def test_our_own_violation_in_a_case_without_hostility_is_our_error(suite):
    suite.cases(test_tolerant=TOLERANT)
    suite.run("-k", "not_hostile")
    (row,) = suite.document()["cases"]
    assert row["verdict"] == "harness-error"
    assert "our own client broke RFC8166-4.2.2-1" in row["reason"]


def test_a_server_that_ends_badly_spoils_the_run(suite):
    suite.cases(test_version=VERSION_ZERO)
    result = suite.run("--deviate", "ends-badly")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["ERROR: bundled server ended with exit status 23*"])


def test_workers_report_together(suite):
    suite.cases(test_all=EVERY_VERDICT, test_version=VERSION_ZERO)
    suite.run("-n", "2")
    parallel = suite.verdicts()
    suite.run()
    assert parallel == suite.verdicts() and len(parallel) == 10


def test_cases_are_selected_by_their_ids(suite):
    suite.cases(test_version=VERSION_ZERO)
    suite.run("--case", "self.null")
    document = suite.document()
    assert [row["id"] for row in document["cases"]] == ["self.null"] and document["partial"]
    result = suite.run("--case", "self.null", "--case", "self.nil")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    sentence = "--case self.nil: no case here has this id; did you mean self.null?"
    result.stderr.fnmatch_lines([f"ERROR: {sentence}"])


def test_a_run_that_executes_nothing_is_no_success(suite):
    suite.cases(
        test_none="""
        from steertag.suite import case

        @case("self.none", requirements=["RFC8166-4.5.1-1"])
        def test_none(bench):
            bench.not_testable("never")
        """
    )
    result = suite.run()
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["ERROR: no case was executed"])


def test_the_options_can_be_asked_for(suite):
    result = suite.run("--help")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["  --client-command=COMMAND*"])


def test_ordinary_tests_are_left_alone(suite):
    suite.cases(test_plain="def test_plain(): pass")
    result = suite.run()
    assert result.ret == pytest.ExitCode.OK
    assert not suite.report.exists()


def test_a_case_id_belongs_to_one_case(suite):
    suite.cases(test_one=VERSION_ZERO, test_two=VERSION_ZERO)
    result = suite.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*case id self.version-zero is used by test_one.py::*"])


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--report", "file/report"], "*report directory *file/report: Not a directory*"),
        (["--profile", "file"], "*profile file: expected a mapping of keys*"),
        (["--target", "iwarp://h/", "--deviate", "x"], "*are for the bundled server*"),
        (["--target", "nonsense"], "*--target nonsense: *"),
        (["--target", "tcp://h:1", "--over", "tcp"], "--over is for the bundled server; *"),
        (["--target", "iwarp://h", "--listen", "x"], "--listen is for the bundled server; *"),
        (["--listen", "tcp://127.0.0.1:0"], "--listen is for RDMA; *"),
        (["--listen", "nonsense"], "--listen nonsense: *"),
    ],
)
def test_mistakes_of_the_command_line_are_one_line(suite, arguments, sentence):
    suite.cases(test_version=VERSION_ZERO)
    (suite.pytester.path / "file").write_text("just text\n")
    result = suite.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {sentence}"])
    assert "Traceback" not in result.stderr.str() + result.stdout.str()


def test_a_server_that_cannot_start_is_one_sentence(suite, monkeypatch):
    monkeypatch.setenv("STEERTAG_SERVE", "/nonexistent/steertag-serve")
    suite.cases(test_version=VERSION_ZERO)
    result = suite.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: cannot start /nonexistent/steertag-serve: No such file*"])


def test_a_run_that_is_killed_takes_its_server_along(suite):
    suite.cases(test_kills=KILLS_ITS_RUN)
    suite.run()
    limit = time.monotonic() + SERVER_END_S
    while still_runs(suite):
        assert time.monotonic() < limit, f"a server still runs after {SERVER_END_S} s"


@pytest.mark.parametrize("arguments", [(), ("-n", "2")])
def test_a_report_directory_that_another_run_writes_to_is_left_alone(suite, arguments):
    suite.cases(test_version=VERSION_ZERO)
    make_report_directory(suite.report)
    lock = lock_report_directory(suite.report)
    with lock:
        result = suite.run(*arguments)
    assert result.ret != pytest.ExitCode.OK
    assert "another run writes to it" in result.stdout.str()
    assert not (suite.report / "report.json").exists()
    assert suite.run(*arguments).ret == pytest.ExitCode.OK


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (("--target", ""), "--target is empty"),
        (("--profile", ""), "--profile is empty"),
        (("--report", ""), "--report is empty"),
        (("--target", "http://127.0.0.1:80"), "--target http://127.0.0.1:80: "),
        (("--target", "foo://x:1"), "--target foo://x:1: "),
        (("--target", "iwarp://x:99999"), "--target iwarp://x:99999: "),
    ],
)
def test_mistakes_of_the_command_line_are_one_sentence(suite, arguments, sentence):
    suite.cases(test_version=VERSION_ZERO)
    result = suite.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert sentence in result.stderr.str()
    assert "Traceback" not in result.stdout.str() + result.stderr.str()


def test_a_target_that_sends_without_being_asked_fails_at_the_first_contact(suite):
    suite.cases(test_version=VERSION_ZERO)
    result = suite.run("--deviate", "floods")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "sends messages without end" in result.stdout.str()


def test_a_slow_call_is_not_taken_for_silence(suite):
    suite.cases(test_work=WORK)
    assert suite.run("--deviate", "executes-slowly").ret == pytest.ExitCode.OK
    assert suite.verdicts() == {"self.work": "pass"}


def test_warnings_fail_a_run_that_is_to_be_strict(suite):
    suite.cases(test_every=EVERY_VERDICT)
    assert suite.run("-k", "test_warn").ret == pytest.ExitCode.OK
    assert suite.run("-k", "test_warn", "--strict-verdicts").ret == pytest.ExitCode.TESTS_FAILED
    assert suite.verdicts() == {"self.warn": "warn"}


def still_runs(suite):
    """Whether a process of this test's runs is there."""
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return str(suite.pytester.path) in listed.stdout


def test_the_bundled_server_does_not_outlive_the_run(suite):
    suite.cases(test_version=VERSION_ZERO)
    suite.run()
    assert not still_runs(suite)
