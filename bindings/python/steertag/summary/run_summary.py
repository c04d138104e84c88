"""The summary of a run: its target, its counts, and an Item for each thing that is wrong."""

import collections
import dataclasses

from .. import json_file
from ..baseline import VERDICTS, BaselineError, compare, load_report
from ..baseline import load as load_baseline
from ..causes import BadReport, RunCases, fold
from ..causes.case_cause import JUDGED, RULE
from ..causes.digest import counted, details, headline, shown_path
from ..causes.run_cases import FAILURES, LARGEST_REPORT, WARN
from ..exit_statuses import STATUSES
from ..failure import Failure
from ..files.escape import printable
from .baseline_item import difference_items
from .item import ERROR, WARNING, Item

HEAD_KEYS = ("target", "name", "software", "steertag", "stopped")
# Exit statuses of `steertag test`. The report of a run with another one is missing, or an older run's.
DONE, FAILED, INTERRUPTED, INCOMPLETE = 0, 1, 2, 6
WITH_REPORT = (DONE, FAILED, INTERRUPTED, INCOMPLETE)
SIGNALS = 128  # a shell adds the signal's number
FAILED_WITHOUT_CASE = (
    "exit status 1 and no failed case: a warning under --strict-verdicts, "
    "or what the run's last lines say"
)
NOT_TESTABLE = "not-testable"


@dataclasses.dataclass(frozen=True)
class RunSummary:
    """`head`: {key of HEAD_KEYS: text}. `counts`: {verdict: number of cases}, without zeros. `items`: most
    important first. `untested`: {reason: number of cases}. `known`: cases that fail or warn as the baseline says;
    None without a baseline."""

    head: dict
    counts: dict
    items: tuple
    untested: dict = dataclasses.field(default_factory=dict)
    known: int | None = None
    is_partial: bool = False

    @property
    def is_failed(self):
        return any(item.level == ERROR for item in self.items)

    @property
    def result(self):
        """ "2 causes, 68 cases", "3 differences from the baseline" or "1,475 pass, 201 not tested"."""
        if not self.counts:
            return "no result"
        errors = [item for item in self.items if item.level == ERROR]
        causes = [item for item in errors if item.cases]
        cases = counted(sum(len(item.cases) for item in causes), "case")
        if causes and self.known is not None:
            return f"{cases} not as the baseline says"
        if causes:
            return f"{counted(len(causes), 'cause')}, {cases}"
        if errors:
            return errors[0].sentence
        words = [f"{self.counts.get('pass', 0) + self.counts.get('latitude', 0):,} pass"]
        if self.known:
            words.append(f"{self.known:,} known")
        warned = sum(len(item.cases) for item in self.items)
        if warned:
            words.append(counted(warned, "warning"))
        untested = sum(self.untested.values())
        if untested:
            words.append(f"{untested:,} not tested")
        return ", ".join(words)


def load(path, baseline=None, status=None):
    """The RunSummary of report.json, or of the report directory `path`. `baseline` is a path, `status` the exit status
    of the run. Raises Failure."""
    if status is not None and status not in WITH_REPORT:
        return RunSummary({}, {}, (_no_result(status),))
    directory, path = (path, path / "report.json") if path.is_dir() else (path.parent, path)
    try:
        document = json_file.load(path, LARGEST_REPORT)
        run = RunCases.of(document)
        head = {key: printable(json_file.text(document.get(key) or "")) for key in HEAD_KEYS}
        entries = [(json_file.text(each["verdict"]), each) for each in document["cases"]]
        untested = collections.Counter(
            printable(json_file.text(each["reason"]))
            for verdict, each in entries
            if verdict == NOT_TESTABLE
        )
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        problem = json_file.problem(error)
        raise Failure(f"{path} is not a report of the suite: {problem}") from None
    tally = collections.Counter(verdict for verdict, _ in entries)
    counts = {verdict: tally[verdict] for verdict in VERDICTS if tally[verdict]}
    # A run that stopped says nothing on the rows of a baseline.
    items, known = _items(run, shown_path(directory), path, None if head["stopped"] else baseline)
    untested = dict(untested.most_common())
    faults = _faults(head["stopped"], status, items, untested)
    if not counts:
        faults.append(Item(ERROR, "no case ran", key=("empty",)))
    partial = bool(document.get("partial"))
    return RunSummary(head, counts, (*faults, *items), untested, known, partial)


def _items(run, where, path, baseline):
    """([Item], number of known cases or None)"""
    if baseline is None:
        cases = ((ERROR, run.failed), (WARNING, run.warned))
        return [
            _of_cause(cause, level, run.clauses, where)
            for level, each in cases
            for cause in fold(each)
        ], None
    try:
        report = load_report(path)
        comparison = compare(report, load_baseline(baseline, report.name))
        items = difference_items(comparison, run, where, baseline)
    except BaselineError as error:
        raise Failure(str(error)) from None
    differing = {one.case for one in comparison.differences}
    listed = [case for case in report.cases if case.outcome.verdict in (*FAILURES, WARN)]
    return items, sum(case.id not in differing for case in listed)


def _of_cause(cause, level, clauses, where):
    return Item(
        level,
        headline(cause, clauses),
        tuple(case.id for case in cause.cases),
        tuple(details(cause, clauses, where)),
        is_ledgers=cause.kind in (RULE, JUDGED) and cause.requirement in clauses,
        key=cause.cases[0].cause.key,
    )


def _faults(stopped, status, items, untested):
    """[Item] on the run itself, at most one."""
    if stopped:
        return [Item(ERROR, f"the run stopped before its end: {stopped}", key=("stopped",))]
    key = ("status", status)
    if status == INTERRUPTED:
        return [Item(ERROR, _meaning(status), key=key)]
    if status == INCOMPLETE:
        return [Item(ERROR, _meaning(status), details=tuple(untested_lines(untested)), key=key)]
    if status == FAILED and not any(item.level == ERROR for item in items):
        return [Item(ERROR, FAILED_WITHOUT_CASE, key=key)]
    return []


def untested_lines(untested):
    """A line for each reason why cases were not tested."""
    return (f"{counted(count, 'case')}: {reason}" for reason, count in untested.items())


def _no_result(status):
    return Item(ERROR, f"no result, {_meaning(status)}", key=("status", status))


def _meaning(status):
    if status > SIGNALS:
        return f"exit status {status}: ended by signal {status - SIGNALS}"
    meaning = STATUSES["test"].get(status, "the suite could not be started")
    return f"exit status {status}: {meaning}"
