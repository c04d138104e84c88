"""What differs between two targets, or two runs of one, case by case."""

import dataclasses

from .target import ORDER, UNTESTED, side_of

WORSE, BETTER, CHANGED, NEW, GONE = "worse", "better", "changed", "new", "gone"
# In the order in which they are shown.
KINDS = (WORSE, BETTER, CHANGED, NEW, GONE)
GOOD = ("pass", "latitude")


@dataclasses.dataclass(frozen=True)
class Change:
    """One case. `before` and `after` are Results; None for a case that only the other has."""

    kind: str
    case: str
    before: object
    after: object


@dataclasses.dataclass(frozen=True)
class Comparison:
    """All changes, by kind and case; `skipped` counts cases that a partial run did not select."""

    changes: list
    same: int = 0
    skipped: int = 0


def compare(before, after):
    """The Comparison of two targets. Sides that only one of them tests are new or gone."""
    changes, same, skipped = [], 0, 0
    for case in sorted({*before.results, *after.results}):
        old, new = before.result(case), after.result(case)
        if old is None or new is None:
            lacking = before if old is None else after
            if lacking.partial and (side_of(case) in lacking.sides):
                skipped += 1
                continue
        kind = kind_of(old, new)
        if kind is None:
            same += 1
        else:
            changes.append(Change(kind, case, old, new))
    changes.sort(key=lambda change: (KINDS.index(change.kind), change.case))
    return Comparison(changes, same, skipped)


def kind_of(old, new):
    """One of KINDS, or None if the outcomes agree. Of a case with several outcomes any will do."""
    if old is None:
        return NEW
    if new is None:
        return GONE
    if set(old.outcomes) <= set(new.outcomes) or set(new.outcomes) <= set(old.outcomes):
        return None
    before, after = old.verdict, new.verdict
    if before == after:
        return CHANGED
    if after in UNTESTED:  # of a failure nothing is known now
        return WORSE if before in GOOD else CHANGED
    if before in UNTESTED:
        return BETTER if after in GOOD else WORSE
    return WORSE if ORDER.index(after) > ORDER.index(before) else BETTER
