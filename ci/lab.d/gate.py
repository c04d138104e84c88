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
# Optional: further outcomes, each as exact as the row's own, of a case in which the target's reaction
# depends on the moment; the note says on what.
OR_KEY = "or"
OUTCOME_KEYS = ("verdict", "reason")
MAX_CASES = 100_000  # a report beyond this is not ours


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A verdict with its reason, which is empty for a pass."""

    verdict: str
    reason: str

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason}" if self.reason else self.verdict


@dataclasses.dataclass(frozen=True)
class Case:
    """What the report says of one case; `requirements` holds those of the case and its findings."""

    id: str
    outcome: Outcome
    requirements: tuple[str, ...]
    findings: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Row:
    """What is expected of one case that does not (always) pass, and what the target does instead.
    Of `outcomes`, the first has the row's requirements."""

    case: str
    outcomes: tuple[Outcome, ...]
    requirement: tuple[str, ...]
    note: str

    def __str__(self) -> str:
        return " or ".join(map(str, self.outcomes))


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
    tally = collections.Counter(case.outcome.verdict for case in cases)
    counts = {verdict: tally[verdict] for verdict in VERDICTS if tally[verdict]}
    differences = []
    if not cases:
        differences.append(Difference("no cases", "-", "at least one case", "an empty report"))
    listed = {row.case: row for row in rows}
    for case in cases:
        differences += _compare_case(case, listed.pop(case.id, None))
    differences += [
        Difference("stale row", row.case, str(row), "the case is not in the run")
        for row in listed.values()
    ]
    return Result(counts, differences)


def _compare_case(case: Case, row: Row | None) -> list[Difference]:
    if row is None:
        if case.outcome.verdict == PASS:
            return []
        return [Difference("unlisted", case.id, PASS, str(case.outcome))]
    if case.outcome not in row.outcomes:
        kind = _difference(case.outcome, row.outcomes)
        return [Difference(kind, case.id, str(row), str(case.outcome))]
    unknown = [name for name in row.requirement if name not in case.requirements]
    if unknown and case.outcome == row.outcomes[0]:
        seen = ", ".join(case.requirements)
        return [Difference("other requirement", case.id, ", ".join(row.requirement), seen)]
    return []


def _difference(seen: Outcome, expected: tuple[Outcome, ...]) -> str:
    """How an outcome that is none of the expected ones differs from them."""
    if seen.verdict == PASS:
        return "stale row"
    known = any(seen.verdict == outcome.verdict for outcome in expected)
    return "other reason" if known else "other verdict"


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
    return Case(entry["id"], _outcome(entry), requirements, findings)


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
    if not isinstance(entry, dict) or set(entry) - {OR_KEY} != set(ROW_KEYS):
        raise LabFailure(f"{path}: a row has exactly the keys {', '.join(ROW_KEYS)}; got {entry}")
    case, requirement = entry["case"], entry["requirement"]
    if not entry["reason"] or not entry["note"] or not requirement:
        raise LabFailure(f"{path}: {case}: requirement, reason and note must not be empty")
    others = entry.get(OR_KEY, [])
    if not isinstance(others, list) or not all(map(_is_outcome, others)):
        raise LabFailure(f"{path}: {case}: `{OR_KEY}` lists outcomes, each a verdict and a reason")
    outcomes = tuple(_outcome(each) for each in (entry, *others))
    for index, outcome in enumerate(outcomes):
        if outcome.verdict not in EXCUSABLE and (index == 0 or outcome != Outcome(PASS, "")):
            raise LabFailure(f"{path}: {case}: a baseline cannot expect {outcome}")
    names = (requirement,) if isinstance(requirement, str) else tuple(requirement)
    return Row(case, outcomes, names, entry["note"])


def _is_outcome(entry: object) -> bool:
    return isinstance(entry, dict) and set(entry) == set(OUTCOME_KEYS)


def _outcome(entry: dict) -> Outcome:
    return Outcome(entry["verdict"], entry["reason"] or "")


def _refuse_duplicates(path: pathlib.Path, ids: list[str]) -> None:
    twice = sorted(name for name, count in collections.Counter(ids).items() if count > 1)
    if twice:
        raise LabFailure(f"{path} names more than once: {', '.join(twice)}")


def skeleton(cases: list[Case], path: pathlib.Path, target: str) -> str:
    """A baseline that would match these cases; notes, and rows that hold several outcomes of which
    one was seen, are kept from the present baseline."""
    present = _present(path)
    rows = []
    for case in sorted(cases, key=lambda case: case.id):
        kept = present.get(case.id, {})
        outcomes = [_outcome(entry) for entry in (kept, *kept[OR_KEY])] if OR_KEY in kept else []
        if case.outcome in outcomes:
            rows.append(kept)
        elif case.outcome.verdict != PASS:
            blamed = list(case.findings or case.requirements)
            requirement = blamed[0] if len(blamed) == 1 else blamed
            note = kept.get("note") or ""
            values = (case.id, case.outcome.verdict, requirement, case.outcome.reason, note)
            rows.append(dict(zip(ROW_KEYS, values, strict=True)))
    head = {"target": target, "date": datetime.date.today(), "rows": rows}
    return f"# Expected outcomes other than pass of the target {target}.\n" + yaml.safe_dump(
        head, sort_keys=False, allow_unicode=True, width=100
    )


def _present(path: pathlib.Path) -> dict[str, dict]:
    """Rows by case; a file that `gate` would refuse, such as an unedited skeleton, will do."""
    if not path.exists():
        return {}
    try:
        return {row["case"]: row for row in yaml.safe_load(path.read_text())["rows"] or []}
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise LabFailure(f"{path} is not a baseline: {error!r}")
