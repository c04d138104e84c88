"""Cases that no deviation of ours can make fail: nothing has shown yet that they bite. Those that claim no
row which a deviation breaks are in a list, with the reason; so is, once each deviation was tried on all
cases, what none made fail although it claims such a row."""

import dataclasses
import fnmatch

from .. import requirements as ledger
from . import reasons
from .matrix import side_of

MEASURED = "measured"


@dataclasses.dataclass(frozen=True)
class UnbrokenCases:
    """Of one side, ids of cases: `claimless`, those that claim no row which a deviation breaks, and
    `unfailed`, those that none made fail, or None where not each deviation was tried on all cases. `every` is
    all cases."""

    side: str
    every: tuple
    claimless: tuple
    unfailed: tuple | None

    @property
    def tried(self):
        return self.unfailed is not None

    @property
    def cases(self):
        """What is known best."""
        return self.unfailed if self.tried else self.claimless

    @property
    def unexpected(self):
        """What should fail by its claims and did not; empty if nobody has tried."""
        return sorted(set(self.unfailed or ()) - set(self.claimless))


@dataclasses.dataclass(frozen=True)
class Listed:
    """A line of the list: a pattern of ids. `measured`: these cases claim what deviations break, and no run
    made them fail."""

    pattern: str
    measured: bool
    reason: str

    def matches(self, cases):
        return fnmatch.filter(cases, self.pattern)


def read(path):
    """[Listed] of a file; raises reasons.BadReasons."""
    return [
        Listed(pattern, mark == MEASURED, reason)
        for pattern, mark, reason in reasons.read(path, (MEASURED,))
    ]


def unbroken_cases(matrix):
    """[UnbrokenCases] of both sides."""
    return [_of_side(matrix, side) for side in ledger.SIDES]


def case_problems(found, listed):
    """One sentence for each case that should be listed and is not, and for each line that is stale; of what
    unbroken_cases gives and [Listed]."""
    named = {each: set() for each in (False, True)}
    for line in listed:
        named[line.measured].update(*(line.matches(one.every) for one in found))
    for one in found:
        for case in one.claimless:
            if case not in named[False]:
                yield f"{case} claims no row that a deviation of the {one.side} breaks"
        for case in one.unexpected:
            if case not in named[True]:
                yield f"{case}: no deviation of the {one.side} made it fail"
    for line in listed:
        yield from _stale(found, line)


def _stale(found, line):
    matched = {case: one for one in found for case in line.matches(one.every)}
    if not matched:
        yield f"{line.pattern} is listed as unbroken, and is the id of no case: strike it"
    for case, one in matched.items():
        if not line.measured and case not in one.claimless:
            why = f"{case} claims a row that a deviation of the {one.side} breaks"
        elif line.measured and one.tried and case not in one.unexpected:
            why = f"a deviation of the {one.side} makes {case} fail, or it is listed by its claims"
        else:
            continue
        yield f"{line.pattern} is listed as unbroken, and {why}: strike it"
        return


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
