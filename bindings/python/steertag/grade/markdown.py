"""The findings as Markdown that also reads as plain text: for a mailing list or a bug tracker."""

import re
import textwrap

from .. import __version__
from .counting import counted
from .file_lines import files
from .folded import folded
from .grade_text import MOST_LISTED, ascii_of, connections, error, file_name, totals, unjudged
from .graded import Status

WIDTH = 72  # columns, as mailing lists quote them
_SPECIAL = re.compile(r"([\\`*_<>\[\]#|])")
_RFC = "https://www.rfc-editor.org/rfc/{}#section-{}"


def text(graded, rows, decoded=None):
    """The lines on one file. `rows` are the findings shown, `decoded` the FindingLines of the file."""
    yield f"## {_code(file_name(graded))}"
    yield ""
    problem = error(graded)
    if problem is not None:
        yield from _paragraph(f"Not read to its end: {escaped(problem)}.")
    for sentence in (*totals(graded), *unjudged(graded)):
        yield from _paragraph(escaped(sentence.strip()))
    folds = folded(rows)
    for number, fold in enumerate(folds[:MOST_LISTED], start=1):
        yield from _fold(number, fold, decoded)
    if len(folds) > MOST_LISTED:
        yield from _paragraph(f"... and {len(folds) - MOST_LISTED} more.")
    if graded.status is not Status.UNREADABLE and graded.connections:
        yield from ("```", *connections(graded), *files(graded), "```", "")
    yield from _paragraph(f"Judged by `steertag grade` {__version__}.")


def _fold(number, fold, decoded):
    row = fold.first
    entry = row.requirement
    yield f"### {number}. {entry.id} ({row.level}), by the {row.culprit}"
    yield ""
    yield from _paragraph(escaped(row.sentence), "> ")
    place = f"{row.place}: <{_RFC.format(entry.document.lower(), entry.section)}>"
    yield f"- {place if entry.document.startswith('RFC') else row.place}"
    yield from _item(f"expected: {escaped(row.expected)}")
    yield from _item(f"observed: {escaped(row.observed)}")
    yield from _item(_frames(fold, decoded))
    for line in () if decoded is None else decoded.text(row):
        yield from ("", f"    {ascii_of(line)}")
    yield ""


def _frames(fold, decoded):
    if fold.repeated:
        return fold.frames(None if decoded is None else decoded.operation_of)
    return f"frame {fold.first.frame} of connection {fold.first.connection}"


def escaped(words):
    """Words that Markdown shows as they are."""
    return _SPECIAL.sub(r"\\\1", ascii_of(words))


def _code(words):
    """A code span. Backquotes would end it."""
    return f"`{words.replace('`', '?')}`"


def _paragraph(words, mark=""):
    yield from textwrap.wrap(words, WIDTH, initial_indent=mark, subsequent_indent=mark)
    yield ""


def _item(words):
    return textwrap.wrap(words, WIDTH, initial_indent="- ", subsequent_indent="  ")


def summary(captures):
    """The heading over several files: "# 3 captures: 4 violations, 1 warning"."""
    violations = sum(each.violations for each in captures)
    warnings = sum(each.warnings for each in captures)
    return (
        f"# {counted(len(captures), 'capture', 'captures')}: "
        f"{counted(violations, 'violation', 'violations')}, {counted(warnings, 'warning', 'warnings')}"
    )
