"""Folds cases by cause: what shows in messages first, then the most frequent, and what each may follow from."""

import collections
import dataclasses

from .case_cause import HARNESS, JUDGED, RULE


@dataclasses.dataclass
class Cause:
    """Cases with one cause.

    - `cases`: run_cases.Case, in the order of the report.
    - `example`: the case to look at: one that left files, with the earliest event.
    - `after`: {number of another cause: cases of that one in which this one was seen later}.
    - `perhaps`: the number of an earlier cause that may be the same, or None. It breaks the same requirement,
      or one that each case claims too; or it is the first, and this one kept cases from starting.
    - `follows`: [(requirement, cases)] that were broken in its cases later and lead no cause, most first.
    """

    number: int
    cases: list
    after: dict = dataclasses.field(default_factory=dict)
    perhaps: int | None = None
    follows: list = dataclasses.field(default_factory=list)

    @property
    def example(self):
        return min(self.cases, key=_as_example)

    @property
    def kind(self):
        return self.cases[0].cause.kind

    @property
    def requirement(self):
        return self.cases[0].cause.requirement

    @property
    def verdicts(self):
        """{verdict: number of cases}, most first."""
        return dict(collections.Counter(case.verdict for case in self.cases).most_common())


def fold(cases):
    """[Cause] numbered from 1. What shows in messages comes before mere ends of uses, and each with most cases first.
    What failed before a case and defects of the suite come last."""
    groups = {}
    for case in cases:
        groups.setdefault(case.cause.key, []).append(case)
    ordered = sorted(groups.values(), key=_place)
    causes = [Cause(number, group) for number, group in enumerate(ordered, start=1)]
    leading = {cause.requirement: cause for cause in reversed(causes) if cause.requirement}
    for cause in causes:
        _relate(cause, leading)
    for cause in causes:
        cause.perhaps = _perhaps(cause, causes[: cause.number - 1])
    return causes


def _place(group):
    first = group[0]
    is_last = first.cause.kind == HARNESS
    is_later = first.cause.is_of_preparation, first.cause.is_of_end
    return is_last, *is_later, -len(group), first.cause.key


def _as_example(case):
    event = case.cause.event
    return case.replay is None, case.capture is None, event is None, event or 0, case.id


def _relate(cause, leading):
    """Splits what was broken later: causes of their own in other cases, and mere consequences."""
    later = collections.Counter(each for case in cause.cases for each in case.cause.follows)
    for requirement, count in later.most_common():
        other = leading.get(requirement)
        if other is None:
            cause.follows.append((requirement, count))
        elif other is not cause:
            other.after[cause.number] = count


def _perhaps(cause, larger):
    """A case can only judge what it asks, so that one defect is seen under several requirements, or by the
    judge and by a case."""
    if cause.kind not in (RULE, JUDGED) or not cause.requirement:
        return None
    if cause.cases[0].cause.is_of_preparation and larger:
        return larger[0].number
    return next((other.number for other in larger if _may_be_the_same(cause, other)), None)


def _may_be_the_same(cause, other):
    if other.kind not in (RULE, JUDGED):
        return False
    if other.requirement == cause.requirement:
        return True
    if cause.kind != JUDGED:
        return False
    if other.kind == RULE:  # the case judged the message with which a rule finds fault
        return all(other.requirement in case.cause.follows for case in cause.cases)
    return all(other.requirement in case.requirements for case in cause.cases)
