"""`steertag grade` says what it waits for when a pipe has no writer."""

import os
import select
import subprocess
import sys

import pytest

from steertag.testing import grade_captures

LIMIT_S = 120


@pytest.fixture
def grade():
    """Starts `steertag grade FILE`."""
    started = []

    def start(file, **options):
        command = [sys.executable, "-m", "steertag", "grade", str(file)]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def said(process):
    """The next line on standard error."""
    ready = select.select([process.stderr], [], [], LIMIT_S)[0]
    assert ready, "nothing is on standard error: the command waits in silence"
    return process.stderr.readline().decode()


def test_a_fifo_without_a_writer_is_named(grade, tmp_path):
    capture = grade_captures.clean(tmp_path / "clean.pcapng")
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    process = grade(fifo)
    assert said(process) == f"steertag: waiting for a program that writes a capture to {fifo}\n"
    fifo.write_bytes(capture.read_bytes())
    assert process.wait(LIMIT_S) == 0, "the capture that came then was not graded"


def test_standard_input_without_octets_is_named(grade, tmp_path):
    capture = grade_captures.clean(tmp_path / "clean.pcapng")
    process = grade("-", stdin=subprocess.PIPE)
    assert said(process) == "steertag: waiting for a capture on standard input\n"
    process.communicate(capture.read_bytes(), LIMIT_S)
    assert process.returncode == 0, "the capture that came then was not graded"
