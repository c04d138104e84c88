"""The matrix as plain data, for `--json` and for the page."""

from .. import __version__, ledger as engine_ledger
from .. import requirements as ledger
from .matrix import STATES, side_of
from .unbroken_cases import unbroken_cases

RFC_EDITOR = "https://www.rfc-editor.org/rfc"


def document(matrix):
    """The matrix in JSON types. Every requirement has all keys; `exemption` may be null. A case
    without a report has the verdict null, and an untried deviation the outcome null."""
    titles = {row.name: row.title for row in engine_ledger.documents()}
    names = list(dict.fromkeys(row.requirement.document for row in matrix.rows))
    return {
        "steertag": __version__,
        "documents": [
            {"name": name, "title": titles[name], "totals": _totals(matrix, name)} for name in names
        ],
        "requirements": [_requirement(matrix, row) for row in matrix.rows],
        "unbroken_cases": {one.side: list(one.cases) for one in unbroken_cases(matrix)},
    }


def _totals(matrix, name):
    states = [row.state for row in matrix.rows if row.requirement.document == name]
    return {"rows": len(states)} | {state: states.count(state) for state in STATES}


def _requirement(matrix, row):
    entry = row.requirement
    return {
        "id": entry.id,
        "document": entry.document,
        "section": entry.section,
        "url": url(entry),
        "level": ledger.level(entry),
        "mandatory": ledger.mandatory(entry),
        "role": entry.role,
        "subject": entry.subject,
        "statement": entry.statement,
        "observable": entry.observable,
        "test": entry.test,
        "note": entry.note,
        "state": row.state,
        "sides": row.states,
        "exemption": _exemption(entry.exemption),
        "unbroken": dict(entry.unbroken),
        "cases": [
            {"id": case.id, "side": side_of(case), "verdict": matrix.verdicts.get(case.id)}
            for case in row.cases
        ],
        "results": dict(sorted(matrix.results(row).items())),
        "deviations": [_deviation(each, matrix.catch(row, each)) for each in row.deviations],
    }


def _deviation(deviation, catch):
    return {
        "name": deviation.name,
        "sentence": deviation.sentence,
        "outcome": catch.outcome if catch else None,
        "caught": catch.caught if catch else None,
        "by": catch.case if catch else None,
    }


def _exemption(exemption):
    if exemption is None:
        return None
    return {
        "kind": exemption.kind,
        "role": exemption.role,
        "by": list(exemption.by),
        "why": exemption.why,
    }


def url(entry):
    """The URL of the clause; empty for a document that is no RFC."""
    if not entry.document.startswith("RFC"):
        return ""
    part = "appendix" if entry.section[0].isalpha() else "section"
    return f"{RFC_EDITOR}/{entry.document.lower()}#{part}-{entry.section}"
