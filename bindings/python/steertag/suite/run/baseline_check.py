"""The baseline's part of a run: expected outcomes pass, differences fail, and unneeded rows are
found."""

from ...baseline import Case, Report, compare, differences_of
from ..cases.case import case_of
from .terminal import DIFFERENT, EXPECTED


def apply(record, report, baseline):
    """Changes the test report of a case by the comparison of its record with the baseline."""
    differences = _differences(record, baseline)
    record.baseline = DIFFERENT if differences else EXPECTED
    if differences:
        lines = [f"{one.kind}: expected {one.expected}; seen {one.seen}" for one in differences]
        report.outcome, report.steertag_baseline = "failed", DIFFERENT
        report.longrepr = "\n".join([f"{record.id}, by the baseline", *lines, record.detail])
        report.steertag_brief = f"{record.id}, by the baseline: {'; '.join(lines)}"
    elif report.outcome == "failed":
        report.outcome, report.steertag_baseline = "skipped", EXPECTED
        report.wasxfail = f"{record.verdict}: {baseline.row(record.id).note}"


def is_different(record, baseline):
    """Whether a record differs from the baseline, which may be None."""
    return baseline is not None and bool(_differences(record, baseline))


def _differences(record, baseline):
    return differences_of(Case.of(vars(record)), baseline.row(record.id))


def compare_all(report, baseline):
    """The Comparison of all records of a run (report.Report) with the baseline."""
    cases = [Case.of(vars(record)) for record in report.sorted()]
    return compare(Report(cases, partial=report.partial, clauses=report.clauses()), baseline)


# Options of pytest that leave files out before anything is collected from them.
_LEAVING_OUT = ("lf", "ignore", "ignore_glob")


def names_a_part(config):
    """Whether the command line names files or single tests rather than folders, or leaves files out."""
    if any(config.getoption(name, None) for name in _LEAVING_OUT):
        return True
    # `pytest --help` parses options only.
    places = [str(each) for each in getattr(config, "args", ())]
    directory = config.invocation_params.dir
    return any("::" in place or (directory / place).is_file() for place in places)


def has_cases(items):
    return any(case_of(item) is not None for item in items)
