"""The gate: the report of a target's last run, and its baseline, as the package steertag reads them."""

from __future__ import annotations

import dataclasses
import datetime
import sys

from failure import LabFailure
from target import PROJECT, Target

# Part of this checkout, and of use without a built engine.
sys.path.insert(0, str(PROJECT / "bindings" / "python"))

from steertag import baseline  # noqa: E402
from steertag.baseline import update as updating  # noqa: E402

# pytest's exit codes after which every selected case has run: all passed, or some failed.
COMPLETE_RUN = (0, 1)
# Cases that are run once more at most: where more differ it is no matter of luck.
MOST_DOUBTED = 20


def expected(target: Target) -> baseline.Baseline:
    """The target's baseline; LabFailure if it cannot be used."""
    try:
        return baseline.load(target.baseline, target.name)
    except baseline.BaselineError as error:
        raise LabFailure(str(error)) from None


def compare(target: Target, rows: baseline.Baseline) -> baseline.Comparison:
    """The last run's report beside the baseline; LabFailure if it is not one of the whole suite."""
    return baseline.compare(_report(target), rows)


def doubted(result: baseline.Comparison) -> list[str]:
    """The cases that a second run has to confirm: those that have run, none if they are too many. A row
    whose case is gone needs no machine to be stale."""
    ran = [one.case for one in result.differences if one.kind != baseline.NO_CASES]
    gone = {one.case for one in result.differences if one.seen == baseline.NOT_RUN}
    cases = [case for case in dict.fromkeys(ran) if case not in gone]
    return cases if len(cases) <= MOST_DOUBTED else []


def confirm(
    target: Target, rows: baseline.Baseline, first: baseline.Comparison
) -> baseline.Comparison:
    """The first Comparison without the differences that the last run, of the doubted cases alone, has
    not seen again. What it has not run stays."""
    report = _report(target, whole=False)
    ran = {case.id for case in report.cases}
    again = {one.case for one in baseline.compare(report, rows).differences}
    kept = [one for one in first.differences if one.case in again or one.case not in ran]
    return dataclasses.replace(first, differences=kept)


def skeleton(target: Target) -> str:
    """The target's baseline, brought up to date by the last run's report."""
    try:
        path = target.baseline
        text = baseline.read(path) if path.exists() else ""
        today = datetime.date.today()
        return updating.update(path, text, [_report(target)], target.name, today).text
    except baseline.BaselineError as error:
        raise LabFailure(str(error)) from None


def _report(target: Target, whole: bool = True) -> baseline.Report:
    try:
        report = baseline.load_report(target.report)
    except baseline.BaselineError as error:
        raise LabFailure(str(error)) from None
    if whole and report.partial:
        raise LabFailure(f"{target.report} is of a part of the suite")
    return report
