"""What fails a build: a row that has to be settled and is not, and data that says otherwise than it is."""

from .. import requirements as ledger
from .matrix import OPEN


def in_scope(requirement, strict):
    """Whether a row has to be settled: every MUST and MUST NOT of the documents that require it, or every
    row."""
    required = requirement.document in ledger.REQUIRED_DOCUMENTS
    return strict or (required and ledger.mandatory(requirement))


def open_rows(matrix, strict=False, each_role=False):
    """The rows of the scope that are open; with `each_role` also those open for one of two sides."""
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
    """The rows with cases that no deviation breaks. What a peer may do it may also leave, so that
    permissions are none of these."""
    return [
        row
        for row in matrix.rows
        if row.cases and not row.deviations and not ledger.permission(row.requirement)
    ]


def unbroken_problems(matrix, reasons):
    """One sentence for each row whose cases nothing shows to bite, and for each reason that is stale."""
    found = {row.requirement.id: row for row in unbroken(matrix)}
    rows = {row.requirement.id: row for row in matrix.rows}
    for requirement_id, row in found.items():
        if requirement_id not in reasons:
            word = ledger.level(row.requirement)
            yield f"{requirement_id} ({word}, {row.requirement.role}): no deviation breaks it"
    for requirement_id in reasons:
        if requirement_id not in rows:
            yield f"{requirement_id} is listed as unbroken, and is no requirement of the ledger"
        elif requirement_id not in found:
            why = _why_not_listed(rows[requirement_id])
            yield f"{requirement_id} is listed as unbroken, and {why}: strike it from the list"


def _why_not_listed(row):
    if row.deviations:
        return f"{row.deviations[0].name} breaks it"
    return "has no case" if not row.cases else "permits only"


def _missing(row):
    """Why a row is open."""
    exemption = row.requirement.exemption
    if exemption is None:
        return "no case and no exemption"
    if any(ledger.exempt(row.requirement, side) for side in row.states if row.states[side] == OPEN):
        return f"restated by {', '.join(exemption.by)}, and not each of them has a case"
    return f"no case, and an exemption of the {exemption.role} only"
