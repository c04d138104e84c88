"""A target as a column: what a report or a baseline says of each case."""

import dataclasses
import functools
import re

from ..baseline import PASS, VERDICTS, Outcome

# A requirement's id, wherever it stands in a reason.
REQUIREMENT = re.compile(r"\b(?:[A-Z]+\d*-[\w.]+-\d+|ODAFS-\d+)\b")
# From good to bad; the verdicts of cases that say nothing of the target are no part of it.
ORDER = (PASS, "latitude", "warn", "fail", "hang", "crash", "harness-error")
UNTESTED = ("not-testable", "unsupported")
# From what is to be seen first to what needs no look.
WORST_FIRST = (*reversed(ORDER[2:]), *UNTESTED, "latitude", PASS)
assert set(WORST_FIRST) == set(VERDICTS)


@dataclasses.dataclass(frozen=True)
class Result:
    """What a target does in a case. `outcomes` holds the expected one first; a baseline may have
    more. `claims` are the requirements of the case, as far as they are known, and `broken` those
    that the outcome is about. `note` is what the target does instead, in words."""

    outcomes: tuple
    claims: tuple = ()
    broken: tuple = ()
    note: str = ""

    @property
    def verdict(self):
        return self.outcomes[0].verdict

    @property
    def varies(self):
        """Whether the case has more than one outcome."""
        return len(self.outcomes) > 1

    def words(self):
        """The verdicts, as in "fail or pass"."""
        return " or ".join(dict.fromkeys(outcome.verdict for outcome in self.outcomes))


PASSES = Result((Outcome(PASS, ""),))


@dataclasses.dataclass(frozen=True)
class Target:
    """One column. `results` is {case: Result}. `lists_all`: a case without a result was not run;
    otherwise it passes. `cases` is the number of cases of the run, or 0. `software` and `steertag`
    are versions, `date` that of a baseline; each may be empty."""

    name: str
    results: dict
    lists_all: bool = True
    cases: int = 0
    software: str = ""
    steertag: str = ""
    date: str = ""
    partial: bool = False

    @functools.cached_property
    def sides(self):
        """The sides that its cases test: "server", "client" or both."""
        return frozenset(side_of(case) for case in self.results)

    def result(self, case):
        """The Result of a case, or None if it was not run."""
        found = self.results.get(case)
        if found is None and not self.lists_all and side_of(case) in self.sides:
            return PASSES
        return found

    def counts(self):
        """{verdict: number of cases}, worst first. Passes are counted if their number is known."""
        counts = dict.fromkeys(WORST_FIRST, 0)
        for result in self.results.values():
            counts[result.verdict] += 1
        if not self.lists_all:
            counts[PASS] = max(0, self.cases - len(self.results))
        return {verdict: count for verdict, count in counts.items() if count}

    def about(self):
        """What is known of the run, in one line."""
        known = [self.software, self.steertag and f"Steertag {self.steertag}", self.date]
        known += [f"{self.cases} cases"] if self.cases else []
        return "; ".join([part for part in known if part] + ["a part of them"] * self.partial)


def side_of(case):
    """The side that a case tests: the first word of its id."""
    return case.partition(".")[0]


def broken(outcome, otherwise):
    """The ids that the reason of an outcome names, or `otherwise` if it names none."""
    return tuple(dict.fromkeys(REQUIREMENT.findall(outcome.reason))) or tuple(otherwise)
