"""Tests of the gate: every way in which a report can disagree with a baseline is a difference."""

import json
import pathlib
import sys

import pytest
import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import gate  # noqa: E402
from failure import LabFailure  # noqa: E402

TARGET = "some-target"
CASE = "server.header.version-zero"
REQUIREMENT = "RFC8166-4.2.2-a"
FINDING = "RFC8166-4.5.1-b"
REASON = "the call was dropped"


def entry(case=CASE, verdict="fail", reason=REASON, findings=(FINDING,), **changes):
    """One case as the suite writes it."""
    found = [{"id": name, "text": "what was seen"} for name in findings]
    case = {"id": case, "verdict": verdict, "reason": reason, "findings": found}
    return {**case, "requirements": [REQUIREMENT], "seconds": 0.1, "capture": None, **changes}


def row(case=CASE, verdict="fail", requirement=FINDING, reason=REASON, note="drops the call"):
    """One row as a human writes it."""
    values = (case, verdict, requirement, reason, note)
    return dict(zip(gate.ROW_KEYS, values, strict=True))


def write_report(directory, entries):
    report = {"steertag": "0", "target": "iwarp://host", "totals": {}, "cases": entries}
    (directory / "report.json").write_text(json.dumps(report))
    return directory


def write_baseline(directory, rows, target=TARGET):
    path = directory / "baseline.yaml"
    path.write_text(yaml.safe_dump({"target": target, "date": "2025-01-01", "rows": rows}))
    return path


@pytest.fixture
def compare(tmp_path):
    def run(entries, rows):
        cases = gate.load_report(write_report(tmp_path, entries))
        return gate.compare(cases, gate.load_baseline(write_baseline(tmp_path, rows), TARGET))

    return run


def kinds(result):
    return [(difference.kind, difference.case) for difference in result.differences]


def test_listed_failure_and_unlisted_pass_match(compare):
    result = compare([entry(), entry(case="server.other", verdict="pass", findings=())], [row()])
    assert result.matches()
    assert result.counts == {"pass": 1, "fail": 1}
    assert result.table().endswith("gate: matches")


@pytest.mark.parametrize("verdict", [v for v in gate.VERDICTS if v != gate.PASS])
def test_every_unlisted_verdict_but_pass_is_a_difference(compare, verdict):
    assert kinds(compare([entry(verdict=verdict)], [])) == [("unlisted", CASE)]


@pytest.mark.parametrize("verdict", [v for v in gate.EXCUSABLE if v != "fail"])
def test_other_verdict_is_a_difference(compare, verdict):
    assert kinds(compare([entry(verdict=verdict)], [row()])) == [("other verdict", CASE)]


def test_other_reason_is_a_difference(compare):
    assert kinds(compare([entry(reason="another reason")], [row()])) == [("other reason", CASE)]


def test_requirement_that_the_case_does_not_name_is_a_difference(compare):
    result = compare([entry()], [row(requirement=[FINDING, "RFC8166-9.9-z"])])
    assert kinds(result) == [("other requirement", CASE)]


def test_requirement_of_the_case_itself_will_do(compare):
    assert compare([entry(findings=())], [row(requirement=REQUIREMENT)]).matches()


def test_row_of_a_passing_case_is_stale(compare):
    assert kinds(compare([entry(verdict="pass")], [row()])) == [("stale row", CASE)]


def test_row_of_a_case_that_did_not_run_is_stale(compare):
    result = compare([entry()], [row(), row(case="server.gone")])
    assert kinds(result) == [("stale row", "server.gone")]


PASSES = {"verdict": "pass", "reason": ""}
SILENT = {"verdict": "latitude", "reason": "silence"}


@pytest.mark.parametrize(
    "seen", [entry(), entry(verdict="pass", reason=""), entry(verdict="latitude", reason="silence")]
)
def test_each_listed_outcome_of_an_unsteady_case_matches(compare, seen):
    assert compare([seen], [{**row(), "or": [PASSES, SILENT]}]).matches()


@pytest.mark.parametrize(
    "seen, kind",
    [
        (entry(verdict="pass", reason=""), "stale row"),
        (entry(verdict="crash"), "other verdict"),
        (entry(verdict="latitude", reason="noise"), "other reason"),
    ],
)
def test_outcome_that_an_unsteady_case_does_not_list_is_a_difference(compare, seen, kind):
    assert kinds(compare([seen], [{**row(), "or": [SILENT]}])) == [(kind, CASE)]


def test_no_cases_is_a_difference_even_without_rows(compare):
    assert kinds(compare([], [])) == [("no cases", "-")]


def test_table_shows_counts_and_both_sides(compare):
    table = compare([entry(reason="another reason")], [row()]).table()
    for part in ("fail", CASE, REASON, "another reason", "gate: 1 difference"):
        assert part in table


@pytest.mark.parametrize(
    "bad",
    [
        row(verdict="pass"),
        row(verdict="harness-error"),
        row(note=""),
        row(reason=""),
        row(requirement=[]),
        {**row(), "owner": "nobody"},
        {**row(), "or": "pass"},
        {**row(), "or": ["pass"]},
        {**row(), "or": [{"verdict": "pass"}]},
        {**row(), "or": [{"verdict": "pass", "reason": "for a reason"}]},
        {**row(), "or": [{"verdict": "harness-error", "reason": REASON}]},
        {"case": CASE},
        "a string",
    ],
)
def test_row_that_is_not_well_formed_is_refused(tmp_path, bad):
    with pytest.raises(LabFailure):
        gate.load_baseline(write_baseline(tmp_path, [bad]), TARGET)


def test_baseline_of_another_target_is_refused(tmp_path):
    with pytest.raises(LabFailure, match="not of some-target"):
        gate.load_baseline(write_baseline(tmp_path, [], target="other-target"), TARGET)


def test_case_listed_twice_is_refused(tmp_path):
    with pytest.raises(LabFailure, match="more than once"):
        gate.load_baseline(write_baseline(tmp_path, [row(), row()]), TARGET)


def test_case_reported_twice_is_refused(tmp_path):
    with pytest.raises(LabFailure, match="more than once"):
        gate.load_report(write_report(tmp_path, [entry(), entry()]))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cases": [{"id": "x"}]}', '{"cases": null}'])
def test_report_that_is_not_one_is_refused(tmp_path, text):
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(LabFailure):
        gate.load_report(tmp_path)


def test_report_of_a_run_that_stopped_early_is_refused(tmp_path):
    (tmp_path / "report.json").write_text('{"cases": [], "stopped": "the target is gone"}')
    with pytest.raises(LabFailure, match="the target is gone"):
        gate.load_report(tmp_path)


def test_unknown_verdict_is_refused(tmp_path):
    with pytest.raises(LabFailure, match="unknown verdict"):
        gate.load_report(write_report(tmp_path, [entry(verdict="maybe")]))


def test_missing_files_are_refused(tmp_path):
    with pytest.raises(LabFailure, match="no report"):
        gate.load_report(tmp_path)
    with pytest.raises(LabFailure, match="no baseline"):
        gate.load_baseline(tmp_path / "baseline.yaml", TARGET)


def test_skeleton_keeps_notes_and_matches_once_its_notes_are_filled(tmp_path):
    entries = [entry(), entry(case="server.new"), entry(case="server.fine", verdict="pass")]
    cases = gate.load_report(write_report(tmp_path, entries))
    path = write_baseline(tmp_path, [row(), row(case="server.gone")])
    path.write_text(gate.skeleton(cases, path, TARGET))
    rows = yaml.safe_load(path.read_text())["rows"]
    assert [(row["case"], row["note"]) for row in rows] == [
        (CASE, "drops the call"),
        ("server.new", ""),
    ]
    with pytest.raises(LabFailure, match="must not be empty"):
        gate.load_baseline(path, TARGET)
    write_baseline(tmp_path, [{**row, "note": row["note"] or "also drops it"} for row in rows])
    assert gate.compare(cases, gate.load_baseline(path, TARGET)).matches()


def test_skeleton_without_a_baseline_has_empty_notes(tmp_path):
    cases = gate.load_report(write_report(tmp_path, [entry()]))
    text = gate.skeleton(cases, tmp_path / "none.yaml", TARGET)
    assert yaml.safe_load(text)["rows"] == [row(note="")]


def test_skeleton_keeps_a_row_of_which_one_outcome_was_seen(tmp_path):
    unsteady = {**row(), "or": [PASSES]}
    path = write_baseline(tmp_path, [unsteady])
    cases = gate.load_report(write_report(tmp_path, [entry(verdict="pass", reason="")]))
    assert yaml.safe_load(gate.skeleton(cases, path, TARGET))["rows"] == [unsteady]
