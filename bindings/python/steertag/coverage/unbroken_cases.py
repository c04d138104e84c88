"""Cases that no deviation of our own peers can make fail, and the reasons that they need.

A case that claims no broken row says why (`unbroken`). A case that claims one needs a reason
(`unfailed`) if each deviation was tried on all cases and none made it fail."""

import dataclasses

from .. import requirements as ledger
from .matrix import side_of


@dataclasses.dataclass(frozen=True)
class UnbrokenCases:
    """Ids of cases of one side. `claimless` claim no row that a deviation breaks. No deviation
    made `unfailed` fail; it is None unless each deviation was tried on all cases. `every` is all
    cases."""

    side: str
    every: tuple
    claimless: tuple
    unfailed: tuple | None

    @property
    def tried(self):
        return self.unfailed is not None

    @property
    def cases(self):
        """The measured cases if all were tried, else those by claim."""
        return self.unfailed if self.tried else self.claimless

    @property
    def unexpected(self):
        """Cases that claim a broken row and did not fail; empty if not tried."""
        return sorted(set(self.unfailed or ()) - set(self.claimless))


def unbroken_cases(matrix):
    """[UnbrokenCases] of both sides."""
    return [_of_side(matrix, side) for side in ledger.SIDES]


def case_problems(found, cases):
    """One sentence for each missing reason, and for each stale one. `found` is from unbroken_cases,
    `cases` are all collected cases."""
    by_id = {case.id: case for case in cases}
    for one in found:
        for case_id in one.every:
            yield from _problems_by_claim(one, by_id[case_id])
            yield from _problems_by_measure(one, by_id[case_id])
    for name in sorted({name for case in cases for name in case.unfailed}):
        if name not in by_id or name not in by_id[name].unfailed:
            yield f"{name} is in `unfailed` of a case, and is no variant of it: strike it"


def _problems_by_claim(one, case):
    claimless = case.id in one.claimless
    if claimless and not case.unbroken:
        yield f"{case.id} claims no row that a deviation of the {one.side} breaks"
    if case.unbroken and not claimless:
        yield f"{case.id} claims a row that a deviation of the {one.side} breaks: strike `unbroken`"


def _problems_by_measure(one, case):
    if not one.tried:
        return
    unexpected = case.id in one.unexpected
    if unexpected and case.id not in case.unfailed:
        yield f"{case.id}: no deviation of the {one.side} made it fail"
    if case.id in case.unfailed and not unexpected:
        why = "a deviation makes it fail, or it claims no row that one breaks"
        yield f"{case.id} is in `unfailed`, and {why}: strike it"


def _of_side(matrix, side):
    deviations = [
        (each, row.requirement.id) for row in matrix.rows for each in row.deviations_of(side)
    ]
    cases = {case.id: case for case in matrix.cases if side_of(case) == side}
    rows = {row_id for _, row_id in deviations}
    claimless = [case.id for case in cases.values() if rows.isdisjoint(case.requirements)]
    catches = [matrix.catches.get((each.name, row_id)) for each, row_id in deviations]
    unfailed = None
    if catches and all(catch is not None and catch.whole for catch in catches):
        unfailed = set(cases).difference(*(catch.failed for catch in catches))
    return UnbrokenCases(
        side,
        tuple(sorted(cases)),
        tuple(sorted(claimless)),
        None if unfailed is None else tuple(sorted(unfailed)),
    )
