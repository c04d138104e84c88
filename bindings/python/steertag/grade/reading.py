"""Reads a file through the engine, with a progress bar on standard error if that is a terminal."""

import sys

from ..files.escape import printable
from .engine import CaptureError, FileGrade
from .graded import Graded

# What is read before the bar is drawn again and a pressed Ctrl-C is noticed: some milliseconds' worth.
STEP_BYTES = 4 << 20
# What is over before needs no bar.
QUIET_S = 0.5


def grade_file(path, ports):
    """The Graded of a file; `path` may be "-"."""
    try:
        grade = FileGrade(path, ports=ports)
    except CaptureError as error:
        return Graded(path, error)
    _run(grade, path)
    return Graded(
        path,
        grade.error,
        grade.report,
        grade.packets,
        grade.other_packets,
        grade.cut_packets,
        grade.forgotten,
    )


def _run(grade, path):
    if not sys.stderr.isatty():
        while not grade.step(STEP_BYTES):
            pass
        return
    from tqdm import tqdm  # most runs draw no bar

    bar = tqdm(
        total=grade.size,
        desc=printable(path),
        unit="B",
        unit_scale=True,
        unit_divisor=1024,
        delay=QUIET_S,
        leave=False,
    )
    with bar:
        over = False
        while not over:
            over = grade.step(STEP_BYTES)
            bar.update(grade.offset - bar.n)
