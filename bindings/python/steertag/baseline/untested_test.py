"""The block of cases that no run of a target can test: read, compared, and written by an update."""

import datetime

import pytest
import yaml

from steertag import baseline
from steertag.baseline.untested import FEWEST_SHARING, KEY
from steertag.baseline.update import update
from steertag.testing.run_files import entry, write_report

TARGET = "some-target"
TODAY = datetime.date(2026, 11, 21)
LACKS, NEEDS = ("unsupported", "the target lacks it"), ("not-testable", "needs another provider")
SHARED = [f"server.shared-{number:02}" for number in range(FEWEST_SHARING)]


def report(tmp_path, outcomes):
    """A report with these {case: (verdict, reason)}."""
    cases = [
        entry(case, verdict, reason, ["RFC8166-4.5.1-1"])
        for case, (verdict, reason) in outcomes.items()
    ]
    return baseline.load_report(write_report(tmp_path / "report.json", cases))


def updated(tmp_path, outcomes, text=""):
    return update(tmp_path / "it.yaml", text, [report(tmp_path, outcomes)], TARGET, TODAY).text


@pytest.mark.parametrize("outcome", [LACKS, NEEDS])
def test_an_outcome_that_many_cases_share_goes_to_the_block(tmp_path, outcome):
    content = yaml.safe_load(updated(tmp_path, dict.fromkeys(SHARED, outcome)))
    verdict, reason = outcome
    assert content["rows"] == []
    assert content[KEY] == [{"verdict": verdict, "reason": reason, "cases": SHARED}]


def test_an_outcome_that_few_cases_share_gives_rows(tmp_path):
    content = yaml.safe_load(updated(tmp_path, dict.fromkeys(SHARED[1:], LACKS)))
    assert KEY not in content
    assert [each["case"] for each in content["rows"]] == SHARED[1:]


def test_the_same_reason_of_another_verdict_is_another_group(tmp_path):
    outcomes = dict.fromkeys(SHARED, LACKS) | {"server.other": ("not-testable", LACKS[1])}
    content = yaml.safe_load(updated(tmp_path, outcomes))
    assert [each["cases"] for each in content[KEY]] == [SHARED]
    assert [each["case"] for each in content["rows"]] == ["server.other"]


def test_a_run_as_the_block_says_matches_and_another_verdict_does_not(tmp_path):
    path = tmp_path / "it.yaml"
    path.write_text(updated(tmp_path, dict.fromkeys(SHARED, LACKS)))
    expected = baseline.load(path)
    same = report(tmp_path, dict.fromkeys(SHARED, LACKS))
    assert baseline.compare(same, expected).matches()
    other = report(tmp_path, dict.fromkeys(SHARED, LACKS) | {SHARED[0]: ("pass", "")})
    assert [each.case for each in baseline.compare(other, expected).differences] == [SHARED[0]]


@pytest.mark.parametrize(
    "group, sentence",
    [
        ({"reason": "it", "cases": ["server.a"]}, "a group has a verdict, its reason and its"),
        ({"verdict": "fail", "reason": "it", "cases": ["server.a"]}, "'verdict' is not one of"),
        ({"verdict": "unsupported", "reason": "", "cases": ["server.a"]}, "'reason' is not a"),
        ({"verdict": "unsupported", "reason": "it", "cases": []}, "'cases' is not a list of ids"),
    ],
)
def test_a_malformed_group_is_one_sentence_with_its_place(tmp_path, group, sentence):
    path = tmp_path / "it.yaml"
    path.write_text(yaml.safe_dump({"target": TARGET, "rows": [], KEY: [group]}))
    with pytest.raises(baseline.BaselineError) as error:
        baseline.load(path)
    assert f"it.yaml, {KEY}, group 1: " in str(error.value)
    assert sentence in str(error.value)
