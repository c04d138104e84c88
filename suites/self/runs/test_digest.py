"""What a run with many failures prints and leaves: its cause first, in few lines and little space."""

import xml.etree.ElementTree as ElementTree

import pytest
import warm_runs
from steertag_command import steertag

from steertag import build_paths
from steertag.suite.run.kept_files import MOST_OF_A_CAUSE
from steertag.traces.line import MARK

# A part of the suite, and how its digest begins. Each breaks something else in another way.
RUNS = {
    "grants-zero": (
        "test_xid",
        "cases: the server breaks RFC 8166 3.3.1 (MUST NOT): A granted credit value is never zero.",
    ),
    "write-beyond-chunk": (
        "test_write_chunks",
        "cases: the server breaks RFC 8166 8.1.4: Writing more than the requester offered",
    ),
    "reduced-name-accepted": (
        "reduced",
        "the server breaks RFC 8166 6.1 (MUST NOT): A call in which a non-eligible argument was",
    ),
    "records-behind-lost": (
        "test_records and not property",
        "the server breaks RFC 5531 11: Over a byte stream one",
    ),
}
MOST_LINES = 60
# Of a part of the suite: seconds on an idle machine, minutes on one with much else to do.
RUN_LIMIT_S = 300
# Octets of junit.xml for each of 1,676 cases that fail, of 2,000,000.
MOST_JUNIT_OCTETS_A_CASE = 1193


@pytest.fixture(scope="module", params=RUNS)
def run(request, tmp_path_factory):
    """(lines printed, start of the digest, report directory) of a part of the suite with a deviation."""
    report = tmp_path_factory.mktemp("run") / "report"
    selection, start = RUNS[request.param]
    words = ["suites/server", "-q", "-k", selection]
    words += ["--server-arg=--deviate", f"--server-arg={request.param}", "--report", str(report)]
    done = warm_runs.completed("pytest", words, build_paths.checkout(), RUN_LIMIT_S)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout.splitlines(), start, report


def digest_of(lines):
    """The lines after pytest's own last one."""
    end = next(n for n, line in enumerate(lines) if " failed" in line and " in " in line)
    return lines[end + 1 :]


def test_the_first_line_of_the_digest_names_the_cause(run):
    lines, start, _ = run
    digest = digest_of(lines)
    assert start in digest[0]
    assert len(digest) < MOST_LINES, "\n".join(digest)


def test_the_event_to_blame_is_marked_and_whole(run):
    lines, _, _ = run
    marked = [line for line in digest_of(lines) if line.startswith(f"    {MARK} #")]
    assert marked and not any(line.endswith(" ...") for line in marked), "\n".join(digest_of(lines))


def test_pytest_lists_no_failures_beside_it(run):
    lines, _, _ = run
    assert not any(line.startswith(("FAIL ", "FAILED ", "___", "=== FAIL")) for line in lines)
    assert len(lines) < 100, "\n".join(lines)


def test_its_commands_and_files_are_there(run):
    lines, _, report = run
    rows = [line.split(maxsplit=1) for line in digest_of(lines) if line.startswith("  ")]
    named = {row[0]: row[1] for row in reversed(rows) if len(row) == 2}
    assert named["again"].endswith(".steertag") and named["capture"].endswith(".pcapng")
    again = steertag("replay", named["again"].removeprefix("steertag replay "))
    assert "the same verdict and reason" in again.stdout, again.stdout + again.stderr
    listed = steertag("causes", report)
    assert listed.stdout.splitlines() == digest_of(lines)


def test_junit_has_a_line_a_failure(run):
    _, _, report = run
    path = report / "junit.xml"
    tests = list(ElementTree.parse(path).iter("testcase"))
    assert path.stat().st_size / len(tests) < MOST_JUNIT_OCTETS_A_CASE
    failures = [test.find("failure") for test in tests if test.find("failure") is not None]
    assert failures and all("\n" not in each.get("message") for each in failures)


def test_only_cases_that_went_wrong_leave_files(run):
    _, _, report = run
    failed = set(steertag("causes", report, "--ids").stdout.split())
    captures, failures, texts = (
        {path.stem for path in (report / folder).iterdir()}
        for folder in ("captures", "failures", "texts")
    )
    assert texts == failed
    assert captures == failures and captures <= failed
    assert len(captures) == min(len(failed), MOST_OF_A_CAUSE)
