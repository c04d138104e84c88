"""The content of a run's page, and what the shipped baselines and the ledger add to it."""

import datetime
import json

import pytest

from steertag.baseline import load, shipped
from steertag.causes.cause_key import split_reason
from steertag.report_page import shipped_failures
from steertag.report_page.clause_rows import clause_rows
from steertag.report_page.page import page
from steertag.report_page.run_content import run_content
from steertag.report_page.run_metadata import run_metadata, TYPED_COMMAND
from steertag.testing import long_run

KERNEL = "client-linux-6.12-siw-v4.1"


@pytest.fixture
def content(tmp_path):
    return run_content(long_run.document(10, passing=2), tmp_path)


def test_causes_lead_with_the_most_frequent_and_name_their_cases(content):
    first, second = content["causes"]
    assert (first["count"], second["count"]) == (8, 2)
    ids = [content["cases"][place]["id"] for place in second["cases"]]
    assert ids == ["server.backchannel.fails-4", "server.backchannel.fails-9"]
    assert first["headline"] == "the server breaks RFC 8166 3.3.1 (MUST): words"


def test_facts_have_the_run_and_its_command(content):
    facts = dict(content["facts"])
    assert facts["date"] == "2026-11-25 10:20:30 UTC, 30.7 s"
    assert facts["host"] == "tester, Linux 6.1.0 x86_64"
    assert facts["seeds"] == "--seed 0 --run-seed 7"
    assert "pytest 7.2.1" in facts["versions"]
    commands = dict(content["cases"][0]["commands"])
    assert commands["alone"].startswith("pytest suites/server --target iwarp://192.0.2.1/export")
    assert commands["alone"].endswith(f" --case {content['cases'][0]['id']}")


def test_a_report_without_metadata_has_a_page(tmp_path):
    document = long_run.document(1)
    del document["run"]
    assert dict(run_content(document, tmp_path)["facts"])["versions"] == "steertag 0.1.0"


def test_a_stopped_run_says_so(tmp_path):
    document = long_run.document(1) | {"stopped": "the target died", "partial": True}
    alerts = run_content(document, tmp_path)["alerts"]
    assert alerts[0] == "The run stopped early: the target died" and len(alerts) == 2


def test_only_files_that_are_there_are_linked(content, tmp_path):
    labels = [label for label, _ in content["cases"][0]["files"]]
    assert labels == ["capture", "recording"]
    case = content["cases"][0]["id"]
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / f"{case}.txt").write_text("noted")
    again = run_content(long_run.document(10), tmp_path)["cases"][0]["files"]
    assert again[-1] == ("all that was noted", f"texts/{case}.txt")


def test_shipped_failures_are_the_rows_of_the_baseline():
    rows = [row for row in load(shipped.baselines()[KERNEL]).rows]
    wrong = {row.case: row for row in rows if row.outcomes[0].verdict in ("fail", "crash", "warn")}
    found = shipped_failures.by_case(
        {
            case: (
                outcome.verdict,
                [part[0] for part in map(split_reason, outcome.reason.split("; "))],
            )
            for case, (outcome, *_) in ((case, row.outcomes) for case, row in wrong.items())
        }
    )
    of_kernel = {
        case: (verdict, note)
        for case, others in found.items()
        for target, verdict, note in others
        if target == KERNEL
    }
    assert of_kernel == {case: (row.outcomes[0].verdict, row.note) for case, row in wrong.items()}
    assert len(of_kernel) > 20


def test_a_kernel_that_fails_the_case_for_another_reason_is_not_named():
    case, row = next(
        (row.case, row)
        for row in load(shipped.baselines()[KERNEL]).rows
        if row.outcomes[0].verdict == "fail"
    )
    requirement = split_reason(row.outcomes[0].reason)[0]
    same = shipped_failures.by_case({case: ("fail", [requirement])})
    assert KERNEL in [target for target, *_ in same[case]]
    assert shipped_failures.by_case({case: ("fail", ["RFC8166-3.3.1-5"])}) == {}


def test_shipped_failures_by_requirement_count_cases():
    found = shipped_failures.by_requirement(["RFC8166-3.3.3-7"])
    assert ["linux-6.1-siw", "18 cases"] in [each[:2] for each in found["RFC8166-3.3.3-7"]]
    assert shipped_failures.by_requirement(["RFC8166-0-0"]) == {}
    assert shipped_failures.by_case({"server.no.such": ("fail", [])}) == {}


def test_clauses_are_in_reading_order_and_know_deviations():
    rows = clause_rows(["RFC1-1-1", "RFC8881-18.33.3-3", "RFC8166-4.5.1-1", "RFC8166-3.3.1-5"])
    assert list(rows) == ["RFC8166-3.3.1-5", "RFC8166-4.5.1-1", "RFC8881-18.33.3-3", "RFC1-1-1"]
    assert rows["RFC1-1-1"] == {"place": "RFC1-1-1"}
    assert ["grants-zero", "Replies grant no credit.", "--deviate"] in rows["RFC8166-3.3.1-5"][
        "deviations"
    ]


def test_the_page_is_one_file_under_a_strict_policy(content):
    text = page(content)
    assert "default-src 'none'; style-src 'sha256-" in text and "unsafe-inline" not in text
    assert text.count("<script") == 2 and "$" not in text.partition("<style>")[0]
    assert json.dumps(content)  # JSON types only


def test_a_command_is_shown_as_it_is_typed():
    started = datetime.datetime(2026, 11, 25, 12, tzinfo=datetime.timezone.utc)
    words = ["/usr/lib/python3/dist-packages/pytest/__main__.py", "-k", "a or b"]
    metadata = run_metadata(words, started, 1.23456, {"pytest": "7"})
    assert metadata["command"] == "pytest -k 'a or b'"
    assert metadata["seconds"] == 1.235 and metadata["started"] == "2026-11-25T12:00:00+00:00"
    assert metadata["versions"]["pytest"] == "7"


def test_a_command_that_became_another_is_shown_as_it_was_typed(monkeypatch):
    monkeypatch.setenv(TYPED_COMMAND, "steertag test bundled -n 2")
    started = datetime.datetime(2026, 11, 25, 12, tzinfo=datetime.timezone.utc)
    assert run_metadata(["pytest"], started, 1)["command"] == "steertag test bundled -n 2"
