"""Cases that no deviation of ours can make fail: nothing has shown yet that they bite."""

import dataclasses

from .. import requirements as ledger
from .matrix import side_of


@dataclasses.dataclass(frozen=True)
class UnbrokenCases:
    """Of one side: ids of cases, how many cases there are, and whether each deviation was tried on each
    case. Where none was, a case is listed if no deviation breaks a requirement that it names."""

    side: str
    cases: tuple
    of: int
    tried: bool


def unbroken_cases(matrix):
    """[UnbrokenCases] of both sides, as the results of the deviations say, or else the ledger."""
    return [_of_side(matrix, side) for side in ledger.SIDES]


def _of_side(matrix, side):
    deviations = [
        (each, row.requirement.id)
        for row in matrix.rows
        for each in row.deviations
        if each.side == side
    ]
    cases = {case.id: case for case in matrix.cases if side_of(case) == side}
    catches = [matrix.catches.get((each.name, row_id)) for each, row_id in deviations]
    tried = bool(catches) and all(catch is not None and catch.whole for catch in catches)
    if tried:
        broken = {name for catch in catches for name in catch.failed}
    else:
        rows = {row_id for _, row_id in deviations}
        broken = {case.id for case in cases.values() if not rows.isdisjoint(case.requirements)}
    return UnbrokenCases(side, tuple(sorted(set(cases) - broken)), len(cases), tried)
