"""The gate: the report of a target's last run, and its baseline, as the package steertag reads them."""

from __future__ import annotations

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


def expected(target: Target) -> baseline.Baseline:
    """The target's baseline; LabFailure if it cannot be used."""
    try:
        return baseline.load(target.baseline, target.name)
    except baseline.BaselineError as error:
        raise LabFailure(str(error)) from None


def compare(target: Target, rows: baseline.Baseline) -> baseline.Comparison:
    """The last run's report beside the baseline; LabFailure if it is not one of the whole suite."""
    return baseline.compare(_report(target), rows)


def skeleton(target: Target) -> str:
    """The target's baseline, brought up to date by the last run's report."""
    try:
        path = target.baseline
        text = baseline.read(path) if path.exists() else ""
        today = datetime.date.today()
        return updating.update(path, text, [_report(target)], target.name, today).text
    except baseline.BaselineError as error:
        raise LabFailure(str(error)) from None


def _report(target: Target) -> baseline.Report:
    try:
        report = baseline.load_report(target.report)
    except baseline.BaselineError as error:
        raise LabFailure(str(error)) from None
    if report.partial:
        raise LabFailure(f"{target.report} is of a part of the suite")
    return report
