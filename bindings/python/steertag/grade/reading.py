"""Reads a file through the engine, with a progress bar on standard error if that is a terminal."""

import os

from .. import progress
from . import compressed, waiting
from .engine import CaptureError, FileGrade, Profile
from .graded import Graded

# Octets between two updates of the progress bar, and two checks for Ctrl-C: some milliseconds.
STEP_BYTES = 4 << 20


def grade_file(path, ports, profile="rfc8166"):
    """The Graded of a file, which gzip may have compressed; `path` may be "-", `profile` is one of
    arguments.PROFILES."""
    profile = getattr(Profile, profile)
    try:
        with waiting.told(path):
            is_compressed = compressed.is_compressed(os.fspath(path))
            grade = None if is_compressed else FileGrade(path, ports=ports, profile=profile)
    except CaptureError as error:
        return Graded(path, error)
    if is_compressed:
        return _grade_compressed(path, ports, profile)
    _read(path, grade, lambda: grade.offset, grade.size)
    return _graded(path, grade, grade.error)


def _grade_compressed(path, ports, profile):
    try:
        source = compressed.Decompression(path)
        with source.feeding() as pipe:
            grade = FileGrade(pipe, ports=ports, profile=profile)
    except CaptureError as error:
        return Graded(path, source.named(error))
    _read(path, grade, lambda: source.offset, source.size)
    return _graded(path, grade, source.named(grade.error))


def _read(path, grade, done_bytes, total_bytes):
    progress.run(lambda: grade.step(STEP_BYTES), done_bytes, total_bytes, path, leave=False)


def _graded(path, grade, error):
    return Graded(
        path,
        error,
        grade.report,
        grade.packets,
        grade.other_packets,
        grade.cut_packets,
        grade.first_cut,
        grade.forgotten,
    )
