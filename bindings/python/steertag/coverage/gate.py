"""What fails a build: an open row in scope, and a stale reason or exemption."""

from .. import requirements as ledger
from .matrix import OPEN


def in_scope(requirement, strict):
    """Whether a row must be settled: MUST and MUST NOT of some documents, or with `strict` every
    row."""
    required = requirement.document in ledger.REQUIRED_DOCUMENTS
    return strict or (required and ledger.mandatory(requirement))


def open_rows(matrix, strict=False, each_role=False):
    """The open rows in scope; with `each_role` also those that are open for one of two sides."""
    return [
        row
        for row in matrix.rows
        if in_scope(row.requirement, strict)
        and (row.open or (each_role and OPEN in row.states.values()))
    ]


def problems(matrix, strict=False, each_role=False):
    """One sentence for each thing that fails a build."""
    for row in open_rows(matrix, strict, each_role):
        entry = row.requirement
        yield f"{entry.id} ({ledger.level(entry)}, {entry.role}): {_missing(row)}"
    for row in matrix.rows:
        for case in row.contradicted()[:1]:
            kind = row.requirement.exemption.kind
            yield f"{row.requirement.id} is exempt as {kind}, but {case.id} is a case of it"


def unbroken(matrix):
    """[(row, side)]: rows with cases for a side that no deviation of this side breaks. Permissions
    are left out: a peer need not use them."""
    return [
        (row, side)
        for row in matrix.rows
        for side in row.states
        if not ledger.permission(row.requirement)
        and row.cases_of(side)
        and not row.deviations_of(side)
    ]


def unbroken_problems(matrix):
    """One sentence for each unbroken row without a reason, and for each stale reason."""
    for row, side in unbroken(matrix):
        entry = row.requirement
        if side not in entry.unbroken:
            yield f"{entry.id} ({ledger.level(entry)}, {entry.role}): no deviation of the {side} breaks it"
    for row in matrix.rows:
        for side in row.requirement.unbroken:
            why = _why_stale(row, side)
            if why:
                yield f"{row.requirement.id} gives a reason why no deviation of the {side} breaks it, and {why}"


def _why_stale(row, side):
    """Why the reason of a row for a side is wrong, or None."""
    if ledger.permission(row.requirement):
        return "permits only: strike the reason"
    if not row.cases_of(side):
        return f"has no case for {side}s: strike the reason"
    broken = row.deviations_of(side)
    return f"{broken[0].name} does: strike the reason" if broken else None


def _missing(row):
    """Why a row is open."""
    exemption = row.requirement.exemption
    if exemption is None:
        return "no case and no exemption"
    if any(ledger.exempt(row.requirement, side) for side in row.states if row.states[side] == OPEN):
        return f"restated by {', '.join(exemption.by)}, and not each of them has a case"
    return f"no case, and an exemption of the {exemption.role} only"
