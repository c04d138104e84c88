"""The report: totals, merging of workers' records, and files that appear whole or not at all."""

import json

import pytest

from steertag.suite.run.report import Record, Report, write_atomically
from steertag.verdict import Verdict, verdict_of_level


def record(id, verdict, **fields):
    defaults = {"reason": "", "findings": [], "requirements": [], "seconds": 0.12345}
    return Record(id, verdict, **{**defaults, **fields})


def test_rows_are_sorted_and_counted(tmp_path):
    report = Report()
    report.target = "iwarp://127.0.0.1/"
    for row in (
        record("b.one", "fail", reason="x"),
        record("a.two", "pass"),
        record("c.x", "pass"),
    ):
        report.add(row)
    report.write(tmp_path / "report.json")
    document = json.loads((tmp_path / "report.json").read_text())
    assert [row["id"] for row in document["cases"]] == ["a.two", "b.one", "c.x"]
    assert document["totals"] == {**{v.value: 0 for v in Verdict}, "pass": 2, "fail": 1}
    assert set(document["cases"][0]) == {
        *(
            "id",
            "verdict",
            "reason",
            "findings",
            "requirements",
            "seconds",
            "capture",
            "replay",
            "judged",
            "cause",
            "sentence",
        )
    }
    assert document["cases"][0]["seconds"] == 0.123


def test_the_worse_of_two_records_of_a_case_stays():
    report = Report()
    for verdict in ("pass", "harness-error", "fail"):
        report.add(record("a.b", verdict))
    assert report.records["a.b"].verdict == "harness-error"


def test_only_cases_that_ran_count_as_executed():
    report = Report()
    for verdict in ("unsupported", "not-testable", "harness-error"):
        report.add(record(f"a.{verdict}", verdict))
    assert report.executed() == 0
    report.add(record("a.b", "crash"))
    assert report.executed() == 1


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "report.json"
    write_atomically(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "\ud800")
    assert path.read_text() == "old"


def test_every_verdict_has_an_outcome_and_a_letter_of_its_own():
    letters = [verdict.letter for verdict in Verdict]
    assert len(set(letters)) == len(letters)
    outcomes = {verdict.value: verdict.outcome for verdict in Verdict}
    assert outcomes == {
        "pass": "passed",
        "latitude": "passed",
        "warn": "passed",
        "unsupported": "skipped",
        "not-testable": "skipped",
        "fail": "failed",
        "crash": "failed",
        "hang": "failed",
        "harness-error": "error",
    }


def test_levels_of_the_ledger_have_verdicts():
    from steertag import ledger, requirements

    for entry in ledger.requirements():
        verdict_of_level(requirements.level(entry))
