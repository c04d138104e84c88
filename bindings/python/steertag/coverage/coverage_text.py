"""The matrix as text, for a terminal or a log."""

from .. import requirements as ledger
from .matrix import CASE, EXEMPT, OPEN, RESTATED


def table(matrix):
    """A line for each requirement, by document."""
    document = None
    widths = _widths(matrix)
    for row in matrix.rows:
        if row.requirement.document != document:
            document = row.requirement.document
            yield ""
            yield _line(HEAD, widths)
        yield _line(_cells(matrix, row), widths)


HEAD = ("requirement", "level", "role", "state", "server", "client", "deviations", "result")


def _cells(matrix, row):
    entry = row.requirement
    cases = [_side(row, side) for side in ledger.SIDES]
    results = matrix.results(row)
    result = ", ".join(f"{count} {verdict}" for verdict, count in sorted(results.items()))
    deviations = _deviations(len(row.deviations), matrix.tried(row))
    return (entry.id, ledger.level(entry), entry.role, row.state, *cases, deviations, result)


def _deviations(count, tried):
    """The number of deviations; of the tried ones, how many were caught."""
    if not tried:
        return str(count or "")
    caught = f"{sum(catch.caught for catch in tried)} of {len(tried)} caught"
    return caught if len(tried) == count else f"{caught}, {count - len(tried)} not tried"


def _side(row, side):
    """The number of cases of a side, else its state, or a dash if the side is not bound."""
    if side not in row.states:
        return "-"
    count = sum(case.id.startswith(f"{side}.") for case in row.cases)
    return str(count) if count else row.states[side]


def _widths(matrix):
    cells = [HEAD, *(_cells(matrix, row) for row in matrix.rows)]
    return [max(map(len, column)) for column in zip(*cells, strict=True)]


def _line(cells, widths):
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    return "  ".join(padded).rstrip()


def summary(matrix):
    """A line for each document and one for all, and the open rows."""
    head = ("document", "rows", "case", "restated", "exempt", "open", "open MUST", "deviations")
    lines = [head]
    names = list(dict.fromkeys(row.requirement.document for row in matrix.rows))
    for name in names:
        rows = [row for row in matrix.rows if row.requirement.document == name]
        lines.append((name, *_counts(rows)))
    lines.append(("all", *_counts(matrix.rows)))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        yield "  ".join([line[0].ljust(widths[0]), *cells[1:]])


def unbroken_cases(found):
    """The number of cases of each side that no deviation makes fail, then the cases. `found` is
    from unbroken_cases.unbroken_cases."""
    for one in found:
        how = "no deviation made fail" if one.tried else "claim no row that a deviation breaks"
        yield f"{len(one.cases)} of {len(one.every)} cases for {one.side}s {how}"
        yield from (f"  {each}" for each in one.cases)


def _counts(rows):
    states = [sum(row.state == state for row in rows) for state in (CASE, RESTATED, EXEMPT, OPEN)]
    must = sum(row.open and ledger.mandatory(row.requirement) for row in rows)
    deviations = len({each.name for row in rows for each in row.deviations})
    return tuple(map(str, (len(rows), *states, must, deviations)))
