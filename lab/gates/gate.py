"""The gate: the report of a target's last run, and its baseline, as the package steertag reads them."""

from __future__ import annotations

import dataclasses
import datetime
import pathlib
import shutil
import sys
from collections.abc import Callable, Iterable
from typing import Protocol

from lab import host
from lab.failure import LabFailure
from lab.gates.gate_table import PASSED, Row
from lab.target import PROJECT

# Part of this checkout, and of use without a built engine.
sys.path.insert(0, str(PROJECT / "bindings" / "python"))

from steertag import baseline  # noqa: E402
from steertag.baseline import update as updating  # noqa: E402

# pytest's exit codes after which every selected case has run: all passed, or some failed.
COMPLETE_RUN = (0, 1)
# How the outcome begins of a case that the target did not survive.
STOPPED = ("crash", "hang")
# Cases that are run once more at most: where more differ it is no matter of luck.
MOST_DOUBTED = 20


FIRST_REPORT = "first-report"  # in the subject's directory: of a run whose differences were doubted

# Runs the suite with these arguments; pytest's exit code.
Run = Callable[[list[str]], int]


class Subject(Protocol):
    """What a report and a baseline are of: a target, or a client with one version of NFS."""

    name: str
    directory: pathlib.Path
    baseline: pathlib.Path
    report: pathlib.Path


def row(name: str, version: str, subject: Subject, run: Run) -> Row:
    """The row of one suite in the table: runs it, and once more what differs."""
    rows = expected(subject)
    run_suite(subject, run)
    first = result = compare(subject, rows)
    if cases := doubted(first):
        result = run_again(subject, run, rows, first, cases)
    if first.other_kernel:
        host.say(f"warning: {subject.name}: {first.other_kernel}")
    unseen = tuple(one.case for one in first.differences if one not in result.differences)
    outcome = PASSED if result.matches() else result.summary()
    return Row(
        *(name, version, result.counts, outcome, unseen),
        kernel=first.kernel,
        other_kernel=first.other_kernel,
    )


def run_suite(subject: Subject, run: Run, cases: Iterable[str] = ()) -> None:
    """Runs the suite, or these cases; LabFailure if it was not to the end."""
    # With the baseline the run shows what differs from it and no more; of the report it is judged.
    status = run(["--baseline", str(subject.baseline), *(f"--case={case}" for case in cases)])
    if status not in COMPLETE_RUN:
        raise LabFailure(f"pytest ended with code {status}: the run is not complete")


def run_again(
    subject: Subject,
    run: Run,
    rows: baseline.Baseline,
    first: baseline.Comparison,
    cases: list[str],
) -> baseline.Comparison:
    """Has fresh machines confirm what differs: races inside a kernel, and memory that it has spoilt
    itself, change verdicts that no row can foresee. What was not seen again is reported, and does not count;
    a crash or a hang does, however rare."""
    kept = subject.directory / FIRST_REPORT
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(subject.report, kept)
    host.say(f"{len(cases)} cases differ and are run again; the report of all is in {kept}")
    run_suite(subject, run, cases)
    result = confirm(subject, rows, first)
    for one in first.differences:
        if one not in result.differences:
            host.say(f"not seen again: {one.case}: expected {one.expected}; seen {one.seen}")
    return result


def expected(subject: Subject) -> baseline.Baseline:
    """The target's baseline; LabFailure if it cannot be used."""
    try:
        return baseline.load(subject.baseline, subject.name)
    except baseline.BaselineError as error:
        raise LabFailure(str(error)) from None


def compare(subject: Subject, rows: baseline.Baseline) -> baseline.Comparison:
    """The last run's report beside the baseline; LabFailure if it is not one of the whole suite."""
    return baseline.compare(_report(subject), rows)


def doubted(result: baseline.Comparison) -> list[str]:
    """The cases that a second run has to confirm: those that have run, none if they are too many. A row
    whose case is gone needs no machine to be stale."""
    ran = [one.case for one in result.differences if one.kind != baseline.NO_CASES]
    gone = {one.case for one in result.differences if one.seen == baseline.NOT_RUN}
    cases = [case for case in dict.fromkeys(ran) if case not in gone]
    return cases if len(cases) <= MOST_DOUBTED else []


def confirm(
    subject: Subject, rows: baseline.Baseline, first: baseline.Comparison
) -> baseline.Comparison:
    """The first Comparison without the differences that the last run, of the doubted cases alone, has
    not seen again. What it has not run stays, and what has stopped the target."""
    report = _report(subject, whole=False)
    ran = {case.id for case in report.cases}
    again = {one.case for one in baseline.compare(report, rows).differences}
    kept = [
        one
        for one in first.differences
        if one.case in again or one.case not in ran or one.seen.startswith(STOPPED)
    ]
    return dataclasses.replace(first, differences=kept)


def skeleton(subject: Subject) -> str:
    """The target's baseline, brought up to date by the last run's report."""
    try:
        path = subject.baseline
        text = baseline.read(path) if path.exists() else ""
        today = datetime.date.today()
        return updating.update(path, text, [_report(subject)], subject.name, today).text
    except baseline.BaselineError as error:
        raise LabFailure(str(error)) from None


def _report(subject: Subject, whole: bool = True) -> baseline.Report:
    try:
        report = baseline.load_report(subject.report)
    except baseline.BaselineError as error:
        raise LabFailure(str(error)) from None
    if whole and report.partial:
        raise LabFailure(f"{subject.report} is of a part of the suite")
    return report
