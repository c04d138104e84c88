"""The suite's part of pytest's terminal output: letters, words, and the table of verdicts."""

import collections

from ...verdict import Verdict

# Reasons listed per verdict; the report holds all.
MOST_LISTED = 50
# With more cases of one reason, they share a line.
MOST_ALIKE = 8
_LISTED = (
    Verdict.HARNESS_ERROR,
    Verdict.CRASH,
    Verdict.HANG,
    Verdict.FAIL,
    Verdict.WARN,
    Verdict.UNSUPPORTED,
)
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


def write_summary(reporter, report, directory, comparison=None):
    """Prints the counts of every verdict, then the cases that need attention, with reasons. With a
    baseline those are the differences."""
    reporter.section("steertag")
    reporter.line(f"target {report.target}")
    totals = report.totals()
    width = max(len(word) for word in totals)
    for word, count in totals.items():
        colour = _COLOURS[Verdict(word).outcome] if count else None
        markup = {colour: True} if colour else {}
        reporter.write_line(f"  {word:<{width}} {count:>5}", **markup)
    for verdict in () if comparison else _LISTED:
        _write_list(reporter, verdict, report.sorted())
    if report.stopped:
        reporter.write_line(f"stopped: {report.stopped}", red=True)
    reporter.line(f"run seed {report.run_seed}")
    reporter.line(f"report in {directory}")
    if comparison is not None:
        for line in comparison.lines():
            reporter.write_line(line)


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
