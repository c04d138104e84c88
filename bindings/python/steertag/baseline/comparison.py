"""The comparison of a report with a baseline, case by case."""

import collections
import dataclasses

from .case_outcome import FAILURES, PASS, VERDICTS
from .folded_difference import fold_differences

NO_CASES = "no cases"
NEW_FAILURE = "new failure"  # no row, and a verdict that fails a run
UNLISTED = "unlisted"  # no row, and another verdict than pass
OTHER_VERDICT = "other verdict"
OTHER_REASON = "other reason"
OTHER_REQUIREMENT = "other requirement"
STALE = "stale row"  # the case passes, or no longer exists
NOT_RUN = "no case of the run has this id"
# Folded differences that the end of a run shows.
MOST_SHOWN = 12
# In the order in which they are shown.
KINDS = (
    NO_CASES,
    NEW_FAILURE,
    OTHER_VERDICT,
    OTHER_REASON,
    OTHER_REQUIREMENT,
    UNLISTED,
    STALE,
)


@dataclasses.dataclass(frozen=True)
class Difference:
    """One mismatch between report and baseline. `cause` is the key of the case's cause, or None."""

    kind: str
    case: str
    expected: str
    seen: str
    cause: tuple | None = None


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The outcome of a comparison; `skipped` counts rows whose cases were not selected. `clauses`:
    {requirement id: sentence} of the report. `kernel` is that of the report; `other_kernel` is a sentence if
    the rows are of another one, which is no difference."""

    counts: dict
    differences: list
    skipped: int = 0
    clauses: dict = dataclasses.field(default_factory=dict)
    kernel: str = ""
    other_kernel: str = ""

    def matches(self):
        return not self.differences

    def table(self):
        """Verdict counts, then each difference, then one line with the outcome."""
        width = max(map(len, VERDICTS))
        lines = [f"{verdict:<{width}}  {count:>5}" for verdict, count in self.counts.items()]
        return "\n".join([*lines, *self.lines()])

    def lines(self):
        """The differences by cause, then one line with the outcome."""
        yield from self._folded(None)

    def digest(self):
        """The same, with the most frequent differences only."""
        yield from self._folded(MOST_SHOWN)

    def _folded(self, most):
        width = max(map(len, KINDS))
        folded = fold_differences(self.differences)
        for one in folded[:most]:
            yield ""
            yield from one.lines(width, self.clauses)
        yield ""
        if most is not None and len(folded) > most:
            yield f"... and {len(folded) - most} more, which `steertag baseline check` shows"
        if self.skipped:
            yield f"{self.skipped} rows are of cases that were not selected, and not compared"
        if self.other_kernel:
            yield self.other_kernel
        yield f"baseline: {self.summary()}"

    def summary(self):
        """ "matches", or the number of differences of each kind."""
        if self.matches():
            return "matches"
        tally = collections.Counter(one.kind for one in self.differences)
        kinds = ", ".join(f"{tally[kind]} {kind}" for kind in KINDS if tally[kind])
        count = len(self.differences)
        return f"{count} difference{'s' * (count > 1)} ({kinds})"


def compare(report, baseline):
    """Every case must pass or be listed exactly, and every row must be needed. A partial report
    does not count against rows without a case."""
    tally = collections.Counter(case.outcome.verdict for case in report.cases)
    counts = {verdict: tally[verdict] for verdict in VERDICTS if tally[verdict]}
    differences = []
    if not report.cases:
        differences.append(Difference(NO_CASES, "-", "at least one case", "an empty report"))
    listed = baseline.by_case()
    for case in report.cases:
        differences += differences_of(case, listed.pop(case.id, None))
    if not report.partial:
        differences += [Difference(STALE, row.case, str(row), NOT_RUN) for row in listed.values()]
    differences.sort(key=lambda one: (KINDS.index(one.kind), one.case))
    return Comparison(
        *(counts, differences, len(listed) if report.partial else 0, report.clauses),
        kernel=report.kernel,
        other_kernel=_other_kernel(report.kernel, baseline.kernel),
    )


def _other_kernel(kernel, of_rows):
    """A sentence if both kernels are known and differ, else nothing."""
    if not (kernel and of_rows) or kernel == of_rows:
        return ""
    return f"the run is of kernel {kernel}, the rows are of kernel {of_rows}: verdicts may differ"


def differences_of(case, row):
    """The differences of one case from its row, which may be None."""
    seen = case.outcome
    if row is None:
        if seen.verdict == PASS:
            return []
        kind = NEW_FAILURE if seen.verdict in FAILURES else UNLISTED
        return [Difference(kind, case.id, PASS, str(seen), case.cause)]
    if seen not in row.outcomes:
        kind = _kind(seen, row.outcomes)
        return [Difference(kind, case.id, str(row), str(seen), case.cause)]
    unknown = [name for name in row.requirement if name not in case.requirements]
    if unknown and seen == row.outcomes[0]:
        names = ", ".join(case.requirements)
        return [Difference(OTHER_REQUIREMENT, case.id, ", ".join(row.requirement), names)]
    return []


def _kind(seen, expected):
    """How an unexpected outcome differs from the expected ones."""
    if seen.verdict == PASS:
        return STALE
    known = any(seen.verdict == outcome.verdict for outcome in expected)
    return OTHER_REASON if known else OTHER_VERDICT
