"""Comments in a copy of a capture, on the packets of findings."""

import os

from .. import __version__
from ..failure import Failure
from .compressed import as_plain_file
from .engine import annotate as copy
from .engine import CaptureError


def annotate(graded, target, shown):
    """Copies the file of `graded` with a comment for each finding that is `shown`. The copy of a
    damaged file ends at the damage; grading has reported it already."""
    comments = {}
    for row in graded.rows:
        if shown(row):
            comments.setdefault(row.frame, []).append(comment(row))
    try:
        with as_plain_file(graded.path, target) as source:
            copy(source, os.fspath(target), comments, f"steertag {__version__}")
    except CaptureError as error:
        raise Failure(str(error)) from None


def comment(row):
    """The text that Wireshark shows on the packet."""
    return (
        f"steertag: {row.requirement.id} ({row.level}, {row.place}) by the {row.culprit}: "
        f"{row.sentence} Expected {row.expected}; observed {row.observed}"
    )
