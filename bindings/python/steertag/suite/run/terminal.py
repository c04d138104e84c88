"""The suite's part of pytest's terminal output: letters, words, the table of verdicts, and the digest."""

import collections
import contextlib

from ...causes import digest
from ...verdict import Verdict

# Reasons of unsupported cases that are listed; the report holds all.
MOST_LISTED = 20
# With more cases of one reason, they share a line.
MOST_ALIKE = 8
# The name of execution.SteertagWarning in pytest's warnings, which are text.
WARNING = "SteertagWarning: "
EXPECTED, DIFFERENT = "expected", "different"
_BESIDE_BASELINE = {EXPECTED: ("xfailed", "x"), DIFFERENT: ("failed", "F")}
_COLOURS = {"passed": "green", "skipped": "yellow", "failed": "red", "error": "red"}


def status(record, beside_baseline=""):
    """(category, letter, word) of pytest_report_teststatus. The category is pytest's own, so that
    its counts and exit code agree. `beside_baseline`: EXPECTED for a failure of the baseline,
    DIFFERENT for a difference."""
    verdict = Verdict(record.verdict)
    if beside_baseline:
        category, letter = _BESIDE_BASELINE[beside_baseline]
        return category, letter, f"{verdict.value.upper()} ({beside_baseline})"
    return verdict.outcome, verdict.letter, verdict.value.upper()


@contextlib.contextmanager
def without_cases(reporter):
    """Hides failures and warnings of cases from pytest's own lists: they are in the digest, by cause, and in
    the report directory. `-v` shows them."""
    if reporter.verbosity > 0:
        yield
        return
    kept = {key: reporter.stats.get(key) for key in ("failed", "error", "warnings")}
    for key, reports in kept.items():
        if reports is not None:
            reporter.stats[key] = [each for each in reports if not _is_of_case(each)]
    try:
        yield
    finally:
        reporter.stats.update(
            {key: reports for key, reports in kept.items() if reports is not None}
        )


def _is_of_case(report):
    return hasattr(report, "steertag_id") or WARNING in str(getattr(report, "message", ""))


def write_summary(reporter, report, directory, comparison=None):
    """Prints the counts of every verdict, and what the target does not support."""
    reporter.section("steertag")
    reporter.line(f"target {report.target}")
    totals = report.totals()
    width = max(len(word) for word in totals)
    for word, count in totals.items():
        colour = _COLOURS[Verdict(word).outcome] if count else None
        markup = {colour: True} if colour else {}
        reporter.write_line(f"  {word:<{width}} {count:>5}", **markup)
    if comparison is None:
        _write_list(reporter, Verdict.UNSUPPORTED, report.sorted())
    if report.stopped:
        reporter.write_line(f"stopped: {report.stopped}", red=True)
    reporter.line(f"run seed {report.run_seed}")
    reporter.line(f"report in {directory} (index.html for a browser)")


def write_digest(reporter, report, directory, comparison=None):
    """Prints the last lines of a run: its failures by cause. With a baseline those are the differences."""
    lines = digest(report.causes(), directory) if comparison is None else comparison.digest()
    for number, line in enumerate(lines):
        if number == 0:
            reporter.ensure_newline()
        reporter.write_line(line, bold=number == 0)


def _write_list(reporter, verdict, records):
    lines = [
        f"{verdict.value.upper()} {line}"
        for line in _lines([record for record in records if record.verdict == verdict.value])
    ]
    if not lines:
        return
    reporter.line("")
    for line in lines[:MOST_LISTED]:
        reporter.write_line(line)
    if len(lines) > MOST_LISTED:
        reporter.line(f"... and {len(lines) - MOST_LISTED} more")


def _lines(records):
    """One line for each case, or one for many cases of one reason."""
    counts = collections.Counter(record.reason for record in records)
    for record in records:
        if counts[record.reason] <= MOST_ALIKE:
            yield f"{record.id}: {record.reason}"
    for reason, count in counts.items():
        if count > MOST_ALIKE:
            yield f"{count} cases: {reason}"
