"""Targets from reports, baseline files, and names of shipped baselines."""

import collections
import dataclasses

from ..baseline import PASS, BaselineError, load_report, shipped
from ..baseline.baseline_file import parse, read
from ..suggestions import did_you_mean
from .target import Result, Target, broken

SUFFIXES = (".yaml", ".yml")


def load_targets(arguments):
    """The Target of each argument, with names that differ. Without arguments those of all shipped
    baselines. Raises BaselineError."""
    names = arguments or sorted(shipped.baselines(), key=shipped.reading_order)
    targets = [load_target(name) for name in names]
    tally = collections.Counter(target.name for target in targets)
    return [
        dataclasses.replace(target, name=f"{target.name} ({argument})")
        if tally[target.name] > 1
        else target
        for target, argument in zip(targets, names, strict=True)
    ]


def load_target(argument):
    """The Target of a report.json, of its directory, of a baseline file, or of a shipped baseline by
    its name."""
    path = shipped.path_of(argument)
    if not path.exists():
        near = did_you_mean(str(argument), shipped.baselines())
        raise BaselineError(f"there is neither a file nor a shipped baseline {argument}{near}")
    return of_baseline(path) if path.suffix in SUFFIXES else of_report(path)


def of_baseline(path):
    """The Target of a baseline file; notes may still be empty."""
    baseline = parse(path, read(path))
    results = {
        row.case: Result(
            row.outcomes, row.requirement, broken(row.outcomes[0], row.requirement), row.note
        )
        for row in baseline.rows
    }
    head = (baseline.cases, baseline.software, baseline.steertag, baseline.date)
    return Target(baseline.target, results, False, *head)


def of_report(path):
    """The Target of a report."""
    report = load_report(path)
    results = {
        case.id: Result(
            (case.outcome,),
            case.requirements,
            ()
            if case.outcome.verdict == PASS
            else broken(case.outcome, case.findings or case.requirements),
        )
        for case in report.cases
    }
    return Target(
        report.name or report.target or str(path),
        results,
        cases=len(results),
        software=report.software,
        steertag=report.steertag,
        partial=report.partial,
    )
