"""The suite's part of pytest's terminal output: letters, words, and the table of verdicts."""

from .verdict import Verdict

# Reasons listed per verdict; the report holds all.
MOST_LISTED = 50
_LISTED = (
    Verdict.HARNESS_ERROR,
    Verdict.CRASH,
    Verdict.HANG,
    Verdict.FAIL,
    Verdict.WARN,
    Verdict.UNSUPPORTED,
)
_COLOURS = {"passed": "green", "skipped": "yellow", "failed": "red", "error": "red"}


def status(record):
    """(category, letter, word) as pytest_report_teststatus returns it. The category stays pytest's
    own, so that its counts and exit code tell the same."""
    verdict = Verdict(record.verdict)
    return verdict.outcome, verdict.letter, verdict.value.upper()


def write_summary(reporter, report, directory):
    """Counts of every verdict, then the cases that need attention, with their reasons."""
    reporter.section("steertag")
    reporter.line(f"target {report.target}")
    totals = report.totals()
    width = max(len(word) for word in totals)
    for word, count in totals.items():
        colour = _COLOURS[Verdict(word).outcome] if count else None
        markup = {colour: True} if colour else {}
        reporter.write_line(f"  {word:<{width}} {count:>5}", **markup)
    for verdict in _LISTED:
        _write_list(reporter, verdict, report.sorted())
    if report.stopped:
        reporter.write_line(f"stopped: {report.stopped}", red=True)
    reporter.line(f"report in {directory}")


def _write_list(reporter, verdict, records):
    chosen = [record for record in records if record.verdict == verdict.value]
    if not chosen:
        return
    reporter.line("")
    for record in chosen[:MOST_LISTED]:
        reporter.write_line(f"{verdict.value.upper()} {record.id}: {record.reason}")
    if len(chosen) > MOST_LISTED:
        reporter.line(f"... and {len(chosen) - MOST_LISTED} more")
