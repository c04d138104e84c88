"""How a step's tests are counted from JUnit files and exit statuses."""

import os
import subprocess

import pytest

from ci.jobs import PROJECT

COMMAND = ["/usr/bin/python3", "-BP", "-m", "ci.jobs.steps.junit_count"]


def run(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


GOOD = '<testcase name="good"/>'
BAD = '<testcase name="bad"><failure/></testcase>'
ERROR = '<testcase name="error"><error/></testcase>'
SKIPPED = '<testcase name="skipped"><skipped/></testcase>'
CTEST_BAD = '<testcase name="bad" status="fail"/>'


def count(tmp_path, status, *cases):
    path = tmp_path / "junit.xml"
    if cases:
        path.write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
    done = run(path, status)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    "status, cases, counted",
    [
        (0, [], "1 0"),
        (2, [], "0 1"),
        (0, [GOOD, GOOD, SKIPPED], "2 0"),
        (1, [GOOD, BAD, ERROR, CTEST_BAD], "1 3"),
        (0, [GOOD, BAD], "1 1"),
        (1, [GOOD], "1 1"),  # the status knows of a failure that no test shows
        (0, [SKIPPED], "0 1"),  # nothing ran
        (0, [""], "0 1"),
    ],
)
def test_count(tmp_path, status, cases, counted):
    assert count(tmp_path, status, *cases) == counted


def test_failures_are_told_in_a_line_each(tmp_path):
    path = tmp_path / "junit.xml"
    why = (
        '<testcase classname="ci.a" name="bad"><failure message="saw 1&#10;expected 2"/></testcase>'
    )
    path.write_text(
        f"<testsuites><testsuite>{GOOD}{why}{CTEST_BAD}{SKIPPED}</testsuite></testsuites>"
    )
    done = run("--failures", path)
    assert (done.returncode, done.stdout) == (0, "ci.a.bad: saw 1\nbad: \n")


def test_cut_file_is_an_error(tmp_path):
    path = tmp_path / "junit.xml"
    path.write_text("<testsuites><testsuite>")
    assert run(path, 0).returncode != 0
