"""The outcome of a case: its verdict and the reason for it."""

import dataclasses

PASS = "pass"
CRASH = "crash"
# Verdicts that a baseline can excuse. A harness-error is a defect of the suite: never excused.
EXCUSABLE = ("fail", "warn", "latitude", "unsupported", "not-testable", CRASH, "hang")
HARNESS_ERROR = "harness-error"
VERDICTS = (PASS, *EXCUSABLE, HARNESS_ERROR)
# Verdicts that fail a run without a baseline.
FAILURES = ("fail", CRASH, "hang", HARNESS_ERROR)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A verdict with its reason, which is empty for a pass."""

    verdict: str
    reason: str

    def __str__(self):
        return f"{self.verdict}: {self.reason}" if self.reason else self.verdict


def names_twice(ids):
    """The ids that the list holds more than once, sorted."""
    seen, twice = set(), set()
    for name in ids:
        (twice if name in seen else seen).add(name)
    return sorted(twice)
