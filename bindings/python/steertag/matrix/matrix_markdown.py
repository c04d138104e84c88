"""The matrix as a page in Markdown: a summary for a merge request, and the pages of docs/results/."""

from ..files.escape import printable
from .clause import link
from .matrix_text import NOT_RUN, VARIES, cell_text
from .table import REQUIREMENT, by_side, rows
from .target import WORST_FIRST

# Rows about verdicts that a target's author has to look at.
FOUND = ("crash", "hang", "harness-error", "fail", "warn")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "\\|", "[": "\\[", "]": "\\]"}


def lines(targets, by=REQUIREMENT, differences=False, pages=None):
    """A section for servers and one for clients: the targets, then each row with a finding. `pages`:
    {name of a target: its page}."""
    for side, columns in by_side(targets):
        yield from ("", f"## {side.capitalize()}s", "")
        yield from target_table(columns, pages or {})
        found = [row for row in rows(columns, by, side) if row.worst in FOUND]
        found = [row for row in found if row.differs() or not differences]
        yield ""
        if not found:
            yield "No case is a finding."
            continue
        yield from table(
            [by, *(escaped(target.name) for target in columns)],
            [[_key(row, by), *(cell_text(cell, by) for cell in row.cells)] for row in found],
        )
        yield ""
        yield f"`{VARIES}` depends on timing. `{NOT_RUN}`: no case was run, or all of them broke another requirement."


def target_table(targets, pages):
    """The targets with their versions and counts."""
    verdicts = [
        verdict
        for verdict in reversed(WORST_FIRST)
        if any(verdict in target.counts() for target in targets)
    ]
    yield from table(
        ["target", "version", "Steertag", "date", "cases", *verdicts],
        [
            [
                _linked(target.name, pages),
                escaped(target.software),
                escaped(target.steertag),
                escaped(target.date),
                str(target.cases or ""),
                *(str(target.counts().get(verdict, 0)) for verdict in verdicts),
            ]
            for target in targets
        ],
    )


def table(head, body):
    """A table of cells that are Markdown already."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for cells in body:
        yield f"| {' | '.join(cells)} |"


def escaped(text):
    """A text of a target as Markdown within a cell of a table. Code in backticks stays."""
    return "".join(_ENTITIES.get(character, character) for character in printable(text))


def _key(row, by):
    url = link(row.key) if by == REQUIREMENT else ""
    return f"[{row.key}]({url})" if url else escaped(row.key)


def _linked(name, pages):
    return f"[{escaped(name)}]({pages[name]})" if name in pages else escaped(name)
