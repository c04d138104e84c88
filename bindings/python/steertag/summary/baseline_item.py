"""Differences from a baseline as items: cases that differ alike, with the place of a row in the user's file."""

from ..baseline import NO_CASES
from ..baseline.baseline_file import read
from ..baseline.folded_difference import fold_differences
from ..baseline.row_lines import row_lines
from ..causes import fold
from ..causes.digest import details, shown_path
from ..files.escape import printable
from .item import ERROR, Item


def difference_items(comparison, run, where, path):
    """[Item] of a baseline.Comparison. `run` is the causes.RunCases of the same report, which is in `where`; `path` is
    that of the baseline. Raises BaselineError."""
    wrong = {case.id: case for case in (*run.failed, *run.warned)}
    lines, file = row_lines(read(path)), shown_path(path)
    return [
        _item(folded.differences, wrong, run.clauses, where, (file, lines))
        for folded in fold_differences(comparison.differences)
    ]


def _item(differences, wrong, clauses, where, places):
    first = differences[0]
    file, lines = places
    clause = clauses.get(first.cause[1]) if first.cause else None
    values = f"expected {first.expected}, seen {first.seen}"
    rows = [f"  {'baseline':<9} {first.expected}", f"  {'this run':<9} {first.seen}"]
    causes = fold([wrong[one.case] for one in differences if one.case in wrong])
    rows += [line for cause in causes[:1] for line in details(cause, clauses, where)]
    return Item(
        ERROR,
        printable(f"{first.kind}: {clause or values}"),
        tuple(one.case for one in differences if one.kind != NO_CASES),
        tuple(map(printable, rows)),
        is_ledgers=bool(clause),
        key=("baseline", first.kind, *(first.cause or (first.case,))),
        place=(file, lines.get(first.case, 1)),
    )
