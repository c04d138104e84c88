"""The matrix: a row for each requirement or case, with a cell for each target."""

import dataclasses

from ..baseline import PASS
from .clause import reading_order
from .target import WORST_FIRST, side_of

REQUIREMENT, CASE = "requirement", "case"
BY = (REQUIREMENT, CASE)


@dataclasses.dataclass(frozen=True)
class Cell:
    """What one target does in the cases of a row: {case: Result}, without those not run."""

    results: dict

    def counts(self):
        """{verdict: number of cases}, worst first."""
        verdicts = [result.verdict for result in self.results.values()]
        return {verdict: verdicts.count(verdict) for verdict in WORST_FIRST if verdict in verdicts}

    @property
    def worst(self):
        """The worst verdict, or an empty text if none of the cases was run."""
        return next(iter(self.counts()), "")

    @property
    def varies(self):
        """Whether an outcome depends on timing."""
        return any(result.varies for result in self.results.values())

    def notes(self):
        """{note: its cases} of the cases that do not pass. Without a note the reason stands for it."""
        found = {}
        for case, result in self.results.items():
            if result.verdict != PASS:
                found.setdefault(result.note or result.outcomes[0].reason, []).append(case)
        return found

    def essence(self):
        """What two cells must share to be the same."""
        return {
            (case, outcome.verdict)
            for case, result in self.results.items()
            for outcome in result.outcomes
            if result.verdict != PASS
        }


@dataclasses.dataclass(frozen=True)
class Row:
    """One requirement or case. A cell is None if the target has run none of its cases, or all of them
    broke another requirement."""

    key: str
    cells: tuple

    def differs(self):
        """Whether two targets that have the row differ in it."""
        known = [cell.essence() for cell in self.cells if cell is not None]
        return any(essence != known[0] for essence in known[1:])

    @property
    def worst(self):
        """The worst verdict of all cells."""
        found = {cell.worst for cell in self.cells if cell is not None}
        return next((verdict for verdict in WORST_FIRST if verdict in found), "")

    def passes(self):
        """Whether every target that has the row passes it."""
        return all(cell is None or cell.worst == PASS for cell in self.cells)


def by_side(targets):
    """[(side, its targets)]: servers and clients share no case, so they are tables of their own."""
    sides = sorted({side for target in targets for side in target.sides}, reverse=True)
    return [(side, [target for target in targets if side in target.sides]) for side in sides]


def rows(targets, by=REQUIREMENT, side=""):
    """All rows of a side, or of all: requirements in reading order, or cases sorted by their ids."""
    cases = sorted({case for target in targets for case in target.results})
    cases = [case for case in cases if side in ("", side_of(case))]
    groups = {case: [case] for case in cases} if by == CASE else _by_requirement(targets, cases)
    return [
        Row(key, tuple(_cell(target, groups[key], key, by) for target in targets))
        for key in sorted(groups, key=reading_order if by == REQUIREMENT else None)
    ]


def _by_requirement(targets, cases):
    """{requirement: its cases}: those that claim it, and those that break it on some target."""
    groups = {}
    for case in cases:
        known = [target.results[case] for target in targets if case in target.results]
        for name in sorted(
            {name for result in known for name in (*_claims(result), *result.broken)}
        ):
            groups.setdefault(name, []).append(case)
    return groups


def _claims(result):
    """What a passing case shows of its requirements. A row of a baseline may name only what broke."""
    return result.claims if result.verdict == PASS else ()


def _cell(target, cases, key, by):
    """The cell of a target, or None. A case that breaks another requirement says nothing of this."""
    if not target.sides & {side_of(case) for case in cases}:
        return None
    found = {case: target.result(case) for case in cases}
    results = {
        case: result
        for case, result in found.items()
        if result is not None and (by == CASE or result.verdict == PASS or key in result.broken)
    }
    return Cell(results) if results else None
