"""The gate: compares a report with the baseline of a known target, case by case."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import json
import pathlib

import yaml

from failure import LabFailure

PASS = "pass"
# Verdicts that a baseline can excuse. A harness-error is a defect of ours, so never excused.
EXCUSABLE = ("fail", "warn", "latitude", "unsupported", "not-testable", "crash", "hang")
VERDICTS = (PASS, *EXCUSABLE, "harness-error")

# pytest's exit codes after which every selected case has run: all passed, or some failed.
COMPLETE_RUN = (0, 1)

ROW_KEYS = ("case", "verdict", "requirement", "reason", "note")
MAX_CASES = 100_000  # a report beyond this is not ours


@dataclasses.dataclass(frozen=True)
class Case:
    """What the report says of one case; `requirements` holds those of the case and its findings."""

    id: str
    verdict: str
    reason: str
    requirements: tuple[str, ...]
    findings: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Row:
    """One expected outcome other than pass, with the reason and what the target does instead."""

    case: str
    verdict: str
    requirement: tuple[str, ...]
    reason: str
    note: str


@dataclasses.dataclass(frozen=True)
class Difference:
    """One mismatch between report and baseline."""

    kind: str
    case: str
    expected: str
    seen: str


@dataclasses.dataclass(frozen=True)
class Result:
    """The outcome of a comparison."""

    counts: dict[str, int]
    differences: list[Difference]

    def matches(self) -> bool:
        return not self.differences

    def table(self) -> str:
        """Verdict counts, then each difference, then one line with the outcome."""
        width = max(len(verdict) for verdict in VERDICTS)
        lines = [f"{verdict:<{width}}  {count:>5}" for verdict, count in self.counts.items()]
        for difference in self.differences:
            lines += [
                "",
                f"{difference.kind}: {difference.case}",
                f"    expected  {difference.expected}",
                f"    seen      {difference.seen}",
            ]
        count = len(self.differences)
        outcome = f"{count} difference{'s' * (count > 1)}" if count else "matches"
        return "\n".join([*lines, "", f"gate: {outcome}"])


def compare(cases: list[Case], rows: list[Row]) -> Result:
    """Every case must pass or be listed exactly, and every row must be needed."""
    tally = collections.Counter(case.verdict for case in cases)
    counts = {verdict: tally[verdict] for verdict in VERDICTS if tally[verdict]}
    differences = []
    if not cases:
        differences.append(Difference("no cases", "-", "at least one case", "an empty report"))
    listed = {row.case: row for row in rows}
    for case in cases:
        differences += _compare_case(case, listed.pop(case.id, None))
    differences += [
        Difference("stale row", row.case, _outcome(row), "the case is not in the run")
        for row in listed.values()
    ]
    return Result(counts, differences)


def _compare_case(case: Case, row: Row | None) -> list[Difference]:
    if row is None:
        if case.verdict == PASS:
            return []
        return [Difference("unlisted", case.id, PASS, _outcome(case))]
    if case.verdict == PASS:
        return [Difference("stale row", case.id, _outcome(row), PASS)]
    if case.verdict != row.verdict:
        return [Difference("other verdict", case.id, _outcome(row), _outcome(case))]
    if case.reason != row.reason:
        return [Difference("other reason", case.id, _outcome(row), _outcome(case))]
    unknown = [name for name in row.requirement if name not in case.requirements]
    if unknown:
        seen = ", ".join(case.requirements)
        return [Difference("other requirement", case.id, ", ".join(row.requirement), seen)]
    return []


def _outcome(side: Case | Row) -> str:
    return f"{side.verdict}: {side.reason}"


def load_report(directory: pathlib.Path) -> list[Case]:
    """The cases of report.json in the report directory; LabFailure if it is not a report."""
    path = directory / "report.json"
    try:
        document = json.loads(path.read_text())
        cases = [_case(entry) for entry in document["cases"]]
        stopped = document.get("stopped")
    except OSError as error:
        raise LabFailure(f"the suite left no report {path}: {error.strerror}")
    except (ValueError, KeyError, TypeError) as error:
        raise LabFailure(f"{path} is not a report of the suite: {error!r}")
    if stopped:
        raise LabFailure(f"the suite stopped before its end: {stopped}")
    if len(cases) > MAX_CASES:
        raise LabFailure(f"{path} has {len(cases)} cases, more than the limit of {MAX_CASES}")
    _refuse_duplicates(path, [case.id for case in cases])
    return cases


def _case(entry: dict) -> Case:
    if entry["verdict"] not in VERDICTS:
        raise ValueError(f"{entry['id']} has the unknown verdict {entry['verdict']}")
    findings = tuple(dict.fromkeys(finding["id"] for finding in entry["findings"]))
    requirements = tuple(dict.fromkeys((*entry["requirements"], *findings)))
    return Case(entry["id"], entry["verdict"], entry["reason"], requirements, findings)


def load_baseline(path: pathlib.Path, target: str) -> list[Row]:
    """The rows of a baseline file; LabFailure names the row that is not well formed."""
    try:
        document = yaml.safe_load(path.read_text())
        named, entries = document["target"], document["rows"]
    except OSError as error:
        raise LabFailure(f"there is no baseline {path}: {error.strerror}")
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise LabFailure(f"{path} is not a baseline: {error!r}")
    if named != target:
        raise LabFailure(f"{path} is the baseline of {named}, not of {target}")
    rows = [_row(path, entry) for entry in entries or []]
    _refuse_duplicates(path, [row.case for row in rows])
    return rows


def _row(path: pathlib.Path, entry: dict) -> Row:
    if not isinstance(entry, dict) or set(entry) != set(ROW_KEYS):
        raise LabFailure(f"{path}: a row has exactly the keys {', '.join(ROW_KEYS)}; got {entry}")
    case, requirement = entry["case"], entry["requirement"]
    if entry["verdict"] not in EXCUSABLE:
        raise LabFailure(f"{path}: {case}: a baseline cannot expect {entry['verdict']}")
    if not entry["reason"] or not entry["note"] or not requirement:
        raise LabFailure(f"{path}: {case}: requirement, reason and note must not be empty")
    names = (requirement,) if isinstance(requirement, str) else tuple(requirement)
    return Row(case, entry["verdict"], names, entry["reason"], entry["note"])


def _refuse_duplicates(path: pathlib.Path, ids: list[str]) -> None:
    twice = sorted(name for name, count in collections.Counter(ids).items() if count > 1)
    if twice:
        raise LabFailure(f"{path} names more than once: {', '.join(twice)}")


def skeleton(cases: list[Case], path: pathlib.Path, target: str) -> str:
    """A baseline that would match these cases; notes of the present baseline are kept."""
    notes = _notes(path)
    rows = []
    for case in sorted(cases, key=lambda case: case.id):
        if case.verdict == PASS:
            continue
        blamed = list(case.findings or case.requirements)
        requirement = blamed[0] if len(blamed) == 1 else blamed
        note = notes.get(case.id, "")
        values = (case.id, case.verdict, requirement, case.reason, note)
        rows.append(dict(zip(ROW_KEYS, values, strict=True)))
    head = {"target": target, "date": datetime.date.today(), "rows": rows}
    return f"# Expected outcomes other than pass of the target {target}.\n" + yaml.safe_dump(
        head, sort_keys=False, allow_unicode=True, width=100
    )


def _notes(path: pathlib.Path) -> dict[str, str]:
    """Notes by case; a file that `gate` would refuse, such as an unedited skeleton, will do."""
    if not path.exists():
        return {}
    try:
        rows = yaml.safe_load(path.read_text())["rows"] or []
        return {row["case"]: row["note"] or "" for row in rows}
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise LabFailure(f"{path} is not a baseline: {error!r}")
