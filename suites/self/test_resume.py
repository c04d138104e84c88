"""--resume: a run whose machine died is gone on with behind the case that it died in."""

import json

import pytest

from steertag.suite.progress import NAME
from steertag.suite.server import BundledServer

REQUIREMENT = "RFC8166-4.2.4-1"
# Each case leaves a line; the second kills the process that runs it, as a dying machine would.
CASES = """
    import os, pathlib, signal
    from steertag.suite import case, expect

    def ran(name):
        with open("ran", "a") as file:
            file.write(name + "\\n")

    @case("self.a-first", requirements=["RFC8166-4.2.4-1"])
    def test_first(bench):
        ran("first")
        expect(bench.connect().probe(), "RFC8166-4.2.4-1", must=["err-vers"])

    @case("self.b-deadly", requirements=["RFC8166-4.2.4-1"])
    def test_deadly(bench):
        ran("deadly")
        os.kill(os.getpid(), signal.SIGKILL)

    @case("self.c-last", requirements=["RFC8166-4.2.4-1"])
    def test_last(bench):
        ran("last")
        expect(bench.connect().probe(), "RFC8166-4.2.4-1", must=["reply"])
"""


@pytest.fixture
def target(suite):
    """The URL of a server that is not the suite's own."""
    server = BundledServer(suite.program, [], suite.pytester.path, "third-party")
    server.start()
    yield server.url
    server.stop()


def test_a_run_goes_on_behind_the_case_in_which_it_died(suite, target):
    suite.cases(test_cases=CASES)
    assert suite.run("--target", target, "--resume").ret < 0
    assert not (suite.report / "report.json").exists()
    result = suite.run("--target", target, "--resume")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert (suite.pytester.path / "ran").read_text().split() == ["first", "deadly", "last"]
    rows = {row["id"]: row for row in suite.document()["cases"]}
    verdicts = {case_id: row["verdict"] for case_id, row in rows.items()}
    assert verdicts == {"self.a-first": "fail", "self.b-deadly": "crash", "self.c-last": "pass"}
    assert rows["self.a-first"]["reason"] == "RFC8166-4.2.4-1: expected err-vers, saw reply"
    assert rows["self.a-first"]["seconds"] > 0
    died = rows["self.b-deadly"]
    assert died["reason"] == "the machine that the suite shares with the target died"
    assert died["requirements"] == [REQUIREMENT]
    assert (suite.report / "junit.xml").read_text().count("<testcase") == 3
    # The run is whole: the next one begins anew.
    assert not (suite.report / NAME).exists()


def test_a_run_that_was_stopped_keeps_what_is_done(suite, target):
    suite.cases(test_cases=CASES)
    suite.run("--target", target, "--resume", "-x", "-k", "first or last")
    suite.run("--target", target, "--resume", "-k", "first or last")
    assert (suite.pytester.path / "ran").read_text().split() == ["first", "last"]
    assert suite.verdicts() == {"self.a-first": "fail", "self.c-last": "pass"}


def test_what_was_cut_in_the_middle_of_a_line_is_not_done(suite, target):
    suite.cases(test_cases=CASES)
    suite.run("--target", target, "--resume", "-x", "-k", "first or last")
    progress = suite.report / NAME
    progress.write_text(progress.read_text()[:-20])
    suite.run("--target", target, "--resume", "-k", "first or last")
    assert suite.verdicts() == {"self.a-first": "crash", "self.c-last": "pass"}


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("nonsense\n", "line 1: not the progress of a run"),
        ('{"target": "iwarp://elsewhere/"}\n', "the run in it is of iwarp://elsewhere/, not *"),
        ('{"ended": {"id": "self.a-first"}}\n', "line 1: not the progress of a run"),
        (json.dumps({"ended": None}) + "\n", "line 1: not the progress of a run"),
    ],
)
def test_a_file_that_is_no_progress_is_one_sentence(suite, target, text, sentence):
    suite.cases(test_cases=CASES)
    suite.report.mkdir(parents=True)
    (suite.report / NAME).write_text(text)
    result = suite.run("--target", target, "--resume")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: *{NAME}*{sentence}"])
    assert (suite.report / NAME).read_text() == text
    assert not (suite.pytester.path / "ran").exists()


@pytest.mark.parametrize("arguments", [("--resume",), ("--resume", "--target", "{}", "-n", "2")])
def test_resume_is_for_one_process_and_a_target(suite, target, arguments):
    suite.cases(test_cases=CASES)
    result = suite.run(*(each.format(target) for each in arguments))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --resume is for a --target, tested by one process*"])
