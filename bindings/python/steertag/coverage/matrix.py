"""The matrix: each requirement with its cases, deviations and results, and whether it is settled."""

import collections
import dataclasses

from .. import requirements as ledger

CASE = "case"  # has a case of its own
RESTATED = "restated"  # other rows with cases require the same
EXEMPT = "exempt"  # the ledger says why there is none
OPEN = "open"
STATES = (CASE, RESTATED, EXEMPT, OPEN)
RESTATING = "restated"  # the kind of an exemption that is settled by the rows of its `by`
# Kinds of exemptions that exclude any case. A case beside one contradicts it.
DENYING = ("unseen", "local", "no-suite", "lasting", "no-part", "provider")


@dataclasses.dataclass(frozen=True)
class Row:
    """One requirement. `cases` holds the cases for the sides that it binds. `states` says how each
    of these sides is settled."""

    requirement: object
    cases: tuple
    deviations: tuple
    states: dict  # {"server": state}
    state: str

    @property
    def open(self):
        return self.state == OPEN

    def cases_of(self, side):
        """The cases that test a side."""
        return [case for case in self.cases if side_of(case) == side]

    def deviations_of(self, side):
        """The deviations of a side that break it."""
        return [each for each in self.deviations if each.side == side]

    def contradicted(self):
        """The cases that the exemption excludes."""
        exemption = self.requirement.exemption
        if exemption is None or exemption.kind not in DENYING:
            return []
        return [case for case in self.cases if exemption.role in ("", side_of(case))]


@dataclasses.dataclass(frozen=True)
class Matrix:
    """All rows in reading order, with the results of cases and deviations."""

    rows: list
    verdicts: dict  # {case id: verdict}
    catches: dict  # {(deviation, requirement): Catch}
    cases: tuple = ()  # all that were collected

    def results(self, row):
        """{verdict: number} of the row's cases that the report has."""
        return collections.Counter(
            self.verdicts[case.id] for case in row.cases if case.id in self.verdicts
        )

    def tried(self, row):
        """The Catch of each of the row's deviations that a run has tried."""
        found = (self.catch(row, one) for one in row.deviations)
        return [catch for catch in found if catch is not None]

    def catch(self, row, deviation):
        """The Catch of a deviation under this row, or None if no run has tried it."""
        return self.catches.get((deviation.name, row.requirement.id))

    def row(self, requirement_id):
        return next(row for row in self.rows if row.requirement.id == requirement_id)


def side_of(case):
    """The side that a case tests: the first word of its id."""
    return case.id.partition(".")[0]


def build(entries, cases, deviations, verdicts=None, catches=None):
    """The Matrix of ledger rows, collected cases, deviations, {case id: verdict} and {(name of
    a deviation, requirement): Catch}."""
    named = collections.defaultdict(list)
    for case in cases:
        for requirement_id in case.requirements:
            named[requirement_id].append(case)
    broken = collections.defaultdict(list)
    for deviation in deviations:
        for requirement_id in (deviation.requirement, *deviation.also):
            broken[requirement_id].append(deviation)
    own = {
        entry.id: tuple(case for case in named[entry.id] if side_of(case) in ledger.sides(entry))
        for entry in entries
    }
    by_id = {entry.id: entry for entry in entries}
    rows = []
    for entry in sorted(entries, key=ledger.reading_order):
        states = {side: _state(entry, side, own, by_id) for side in ledger.sides(entry)}
        state = _whole(entry, states, own)
        rows.append(Row(entry, own[entry.id], tuple(broken[entry.id]), states, state))
    return Matrix(rows, verdicts or {}, catches or {}, tuple(cases))


def _state(entry, side, own, by_id):
    """How one side of a row is settled."""
    if any(side_of(case) == side for case in own[entry.id]):
        return CASE
    if not ledger.exempt(entry, side):
        return OPEN
    if entry.exemption.kind != RESTATING:
        return EXEMPT
    binding = [name for name in entry.exemption.by if side in ledger.sides(by_id[name])]
    stand = binding and all(
        any(side_of(case) == side for case in own[name])
        or (ledger.exempt(by_id[name], side) and by_id[name].exemption.kind != RESTATING)
        for name in binding
    )
    return RESTATED if stand else OPEN


def _whole(entry, states, own):
    """How a row is settled: by a case of any side, or because no side is open. A restated row needs
    a case of each row of its `by`."""
    if CASE in states.values():
        return CASE
    exemption = entry.exemption
    if exemption is not None and not exemption.role and exemption.kind == RESTATING:
        return RESTATED if all(own[name] for name in exemption.by) else OPEN
    for state in (OPEN, RESTATED):
        if state in states.values():
            return state
    return EXEMPT


def whole_matrix(cases, verdicts=None, catches=None):
    """The Matrix of the whole ledger and all deviations."""
    from .. import ledger as engine_ledger
    from .. import peer, trace

    deviations = [
        each for side in (trace.Role.server, trace.Role.client) for each in peer.deviations(side)
    ]
    return build(engine_ledger.requirements(), cases, deviations, verdicts, catches)
