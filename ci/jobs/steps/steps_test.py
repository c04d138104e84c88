"""The runner of steps, ci/steps.sh: what it prints, counts and shows, of steps one after another and side by side."""

import os
import pathlib
import re
import select
import signal
import subprocess
import sys

import pytest

from ci.jobs import PROJECT

LIMIT_S = 60
GOOD = '<testsuites><testsuite><testcase name="a"/><testcase name="b"/></testsuite></testsuites>'
BAD = (
    '<testsuites><testsuite><testcase name="a"/><testcase classname="t" name="b">'
    '<failure message="saw 1"/></testcase></testsuite></testsuites>'
)


def script(tmp_path, body):
    return ["bash", "-c", f"set -euo pipefail\nlogs={tmp_path}\nsource ci/steps.sh\n{body}"]


def run(tmp_path, body):
    """(status, lines without their times, the text)."""
    done = subprocess.run(
        script(tmp_path, body), cwd=PROJECT, capture_output=True, text=True, timeout=LIMIT_S
    )
    lines = re.sub(r" +\d+ s +\d+ cpu s", " TIME", done.stdout).splitlines()
    return done.returncode, [" ".join(line.split()) for line in lines], done.stdout + done.stderr


def test_steps_are_counted_into_the_closing_line(tmp_path):
    body = f"""
    tests() {{ echo said; echo '{GOOD}' >"$logs/b.xml"; }}
    step a true
    step b tests
    totals
    """
    status, lines, _ = run(tmp_path, body)
    assert lines == ["a ok 1 passed TIME", "b ok 2 passed TIME", "", "3 passed, 0 failed"]
    assert status == 0
    assert (tmp_path / "b.log").read_text() == "said\n"


def test_a_failure_is_shown_and_counted(tmp_path):
    body = f"""
    tests() {{ echo '{BAD}' >"$logs/b.xml"; echo the reason; return 1; }}
    step a false
    step b tests
    totals
    """
    status, lines, _ = run(tmp_path, body)
    assert status != 0
    assert lines == [
        f"a FAILED 0 passed 1 failed TIME {tmp_path}/a.log",
        f"b FAILED 1 passed 1 failed TIME {tmp_path}/b.log",
        "the reason",
        "",
        "failed steps: a b",
        "a:",
        "b: t.b: saw 1",
        "",
        "1 passed, 2 failed",
    ]


def test_the_end_shows_why_a_step_without_named_tests_failed(tmp_path):
    body = "reasons() { seq 9; echo other rows; false; }\nstep a reasons\nstep b true\ntotals"
    _, lines, _ = run(tmp_path, body)
    numbers = [f"a: {number}" for number in range(3, 10)]
    assert lines[-11:] == ["failed steps: a", *numbers, "a: other rows", "", "1 passed, 1 failed"]


def test_the_first_command_that_fails_ends_a_step(tmp_path):
    body = "several() { false; echo went on; }\nstep a several\ntotals"
    status, lines, _ = run(tmp_path, body)
    assert status != 0 and lines[-1] == "0 passed, 1 failed"
    assert (tmp_path / "a.log").read_text() == ""


def test_a_stale_result_counts_for_nothing(tmp_path):
    (tmp_path / "a.xml").write_text(GOOD)
    _, lines, _ = run(tmp_path, "step a true\ntotals")
    assert lines[-1] == "1 passed, 0 failed"


def test_steps_run_side_by_side_and_wait_for_each_other(tmp_path):
    """Each of two steps waits for a pipe that only the other opens: one after the other would never end."""
    body = """
    mkfifo "$logs/there" "$logs/back"
    one() { echo ping >"$logs/there"; read -r answer <"$logs/back"; echo "$answer" >"$logs/order"; }
    two() { read -r word <"$logs/there"; echo "pong $word" >"$logs/back"; }
    start one one
    step two two
    collect one
    totals
    """
    status, lines, _ = run(tmp_path, body)
    assert status == 0
    assert lines[:2] == ["two ok 1 passed TIME", "one ok 1 passed TIME"]
    assert (tmp_path / "order").read_text() == "pong ping\n"


def test_a_step_beside_which_another_runs_gives_way(tmp_path):
    body = """
    mkfifo "$logs/end"
    start beside cat "$logs/end"
    step polite nice
    echo >"$logs/end"
    collect beside
    step alone nice
    """
    status, _, said = run(tmp_path, body)
    assert status == 0, said
    polite, alone = (int((tmp_path / f"{name}.log").read_text()) for name in ("polite", "alone"))
    assert polite == min(alone + 10, 19)


def test_a_failed_step_beside_others_fails_the_check_even_if_it_is_never_collected(tmp_path):
    body = "start a false\nstep b true\ntotals"
    status, lines, _ = run(tmp_path, body)
    assert status != 0
    assert lines[0] == "b ok 1 passed TIME" and lines[-1] == "1 passed, 1 failed"


def test_a_step_that_others_need_ends_the_check_and_what_runs_beside_it(tmp_path):
    body = """
    mkfifo "$logs/never"
    bad() { echo the reason; false; echo went on; }
    start beside cat "$logs/never"
    needed a true
    needed b bad
    step c true
    totals
    """
    status, lines, _ = run(tmp_path, body)
    assert status == 1
    assert lines == [
        "a ok 1 passed TIME",
        f"b FAILED 0 passed 1 failed TIME {tmp_path}/b.log",
        "the reason",
        "",
        "ended by step b: the others need it",
    ]


def test_a_step_that_is_killed_has_failed(tmp_path):
    status, lines, _ = run(tmp_path, "hit() { kill -KILL $BASHPID; }\nstep a hit\ntotals")
    assert status != 0 and lines[-1] == "0 passed, 1 failed"


def test_no_step_is_no_success(tmp_path):
    status, lines, _ = run(tmp_path, "totals")
    assert status != 0 and lines[-1] == "0 passed, 0 failed"


def test_a_line_has_the_processor_time_of_what_a_step_started(tmp_path):
    program = "import time\nwhile time.process_time() < 1.2: pass"
    body = f"spin() {{ {sys.executable} -c '{program}'; }}\nstep a spin"
    _, _, said = run(tmp_path, body)
    assert 1 <= int(re.search(r"(\d+) cpu s", said).group(1)) <= 5, said


def heed_interrupts():
    """A shell ignores for good what its parent ignores, and programs in the background ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_still_runs_ends_with_the_check(tmp_path, number):
    """And SIGINT reaches a step's programs, which tests of Ctrl-C need: it is not ignored."""
    os.mkfifo(tmp_path / "up")
    body = """
    trap 'stop_steps; exit 1' INT TERM
    sleeper() { trap 'echo ended >"$logs/told"; exit 1' TERM; echo $BASHPID >"$logs/up"; while :; do sleep 1; done; }
    start a sleeper
    collect a
    """
    process = subprocess.Popen(
        script(tmp_path, body),
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_interrupts,
    )
    step = int((tmp_path / "up").read_text())
    ended = os.pidfd_open(step)
    status = pathlib.Path(f"/proc/{step}/status").read_text()
    ignored = int(re.search(r"SigIgn:\s+(\w+)", status).group(1), 16)
    assert not ignored & 1 << (signal.SIGINT - 1)
    process.send_signal(number)
    process.communicate(timeout=LIMIT_S)
    assert process.returncode == 1
    assert select.select([ended], [], [], LIMIT_S)[0], "the step is still there"
    os.close(ended)
