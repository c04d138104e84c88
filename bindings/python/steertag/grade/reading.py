"""Reads a file through the engine, with a progress bar on standard error if that is a terminal."""

from .. import progress
from .engine import CaptureError, FileGrade, Profile
from .graded import Graded

# Octets between two updates of the progress bar, and two checks for Ctrl-C: some milliseconds.
STEP_BYTES = 4 << 20


def grade_file(path, ports, profile="rfc8166"):
    """The Graded of a file; `path` may be "-", `profile` is one of arguments.PROFILES."""
    try:
        grade = FileGrade(path, ports=ports, profile=getattr(Profile, profile))
    except CaptureError as error:
        return Graded(path, error)
    progress.run(
        lambda: grade.step(STEP_BYTES), lambda: grade.offset, grade.size, path, leave=False
    )
    return Graded(
        path,
        grade.error,
        grade.report,
        grade.packets,
        grade.other_packets,
        grade.cut_packets,
        grade.first_cut,
        grade.forgotten,
    )
