"""The matrix as text: the targets with numbers, then a line for each row and its notes."""

import textwrap

from ..baseline import PASS
from ..files.escape import printable
from .clause import sentence
from .table import CASE, REQUIREMENT

WIDTH = 100
NOT_RUN = "-"
VARIES = "~"


def lines(targets, rows, by, notes=True):
    """All lines. `notes`: with what the targets do instead, below each row."""
    yield from head(targets)
    cells = [[cell_text(cell, by) for cell in row.cells] for row in rows]
    widths = [max((len(row[i]) for row in cells), default=0) for i in range(len(targets))]
    widths = [max(width, len(f"[{number}]")) for number, width in enumerate(widths, 1)]
    first = max([len(printable(row.key)) for row in rows] + [len(by)])
    yield ""
    yield _line(by, [f"[{number}]" for number in range(1, len(targets) + 1)], first, widths)
    for row, texts in zip(rows, cells, strict=True):
        yield _line(printable(row.key), texts, first, widths)
        if notes:
            yield from _notes(row, by)
    if any(VARIES in text for row in cells for text in row):
        yield f"{VARIES} depends on timing: a case has several outcomes"
    if any(text == NOT_RUN for row in cells for text in row):
        yield f"{NOT_RUN} no case was run, or all of them broke another requirement"


def head(targets):
    """The targets with their numbers, versions and counts."""
    for number, target in enumerate(targets, 1):
        yield f"[{number}] {printable(target.name)}"
        if target.about():
            yield f"    {printable(target.about())}"
        counts = ", ".join(f"{count} {verdict}" for verdict, count in target.counts().items())
        if counts:
            yield f"    {counts}"


def cell_text(cell, by):
    """ "2 crash, 5 fail", or the verdicts of one case. Passes are named if there is nothing else.
    VARIES marks an outcome that depends on timing."""
    if cell is None:
        return NOT_RUN
    if by == CASE:
        return " or ".join(dict.fromkeys(result.words() for result in cell.results.values()))
    counts = {verdict: count for verdict, count in cell.counts().items() if verdict != PASS}
    text = ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or PASS
    return f"{text} {VARIES}" if cell.varies else text


def _line(key, texts, first, widths):
    columns = [f"{text:<{width}}" for text, width in zip(texts, widths, strict=True)]
    return "  ".join([f"{key:<{first}}", *columns]).rstrip()


def _notes(row, by):
    """The requirement's sentence, then each note with the numbers of its targets."""
    if by == REQUIREMENT and sentence(row.key):
        yield from _wrapped(sentence(row.key))
    said = {}
    for number, cell in enumerate(row.cells, 1):
        for note in cell.notes() if cell is not None else ():
            said.setdefault(note, []).append(number)
    for note, numbers in said.items():
        yield from _wrapped("".join(f"[{number}]" for number in numbers) + f" {printable(note)}")


def _wrapped(text):
    return textwrap.wrap(
        text, WIDTH, initial_indent="    ", subsequent_indent="      ", break_on_hyphens=False
    )
