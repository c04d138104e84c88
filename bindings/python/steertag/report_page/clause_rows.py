"""What a page says of the requirements that its cases name."""

import collections

from .. import peer, trace
from .. import requirements as ledger
from ..coverage.coverage_document import url
from ..ledger_places import place_of

_OPTIONS = {"server": "--deviate", "client": "--client-deviate"}


def clause_rows(ids):
    """{id: row} in reading order. A row has `place`, `level`, `statement`, `url` and `deviations`, the
    [name, sentence, option] of each that breaks it. A row that the ledger does not hold has only its id as
    `place`."""
    known, gone = [], []
    for name in dict.fromkeys(ids):
        try:
            known.append(ledger.find(name))
        except ledger.UnknownRequirement:
            gone.append(name)
    deviations = _deviations()
    rows = {
        entry.id: {
            "place": ledger.place(entry),
            "section": str(place_of(entry)),
            "level": ledger.level(entry),
            "statement": entry.statement,
            "url": url(entry),
            "deviations": deviations[entry.id],
        }
        for entry in sorted(known, key=ledger.reading_order)
    }
    return rows | {name: {"place": name} for name in sorted(gone)}


def _deviations():
    """{requirement: [[name, sentence, option of the suite]]}"""
    found = collections.defaultdict(list)
    for side, option in _OPTIONS.items():
        for each in peer.deviations(getattr(trace.Role, side)):
            for name in (each.requirement, *each.also):
                found[name].append([each.name, each.sentence, option])
    return found
