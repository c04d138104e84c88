"""What counts as worse, better, changed, new and gone."""

import pytest

from steertag.baseline import Outcome
from steertag.matrix.difference import compare, kind_of
from steertag.matrix.load_target import of_baseline, of_report
from steertag.matrix.target import ORDER, Result
from steertag.testing.run_files import entry, row, write_baseline, write_report


def result(*verdicts, reason="why"):
    return Result(tuple(Outcome(word, "" if word == "pass" else reason) for word in verdicts))


@pytest.mark.parametrize("better, worse", list(zip(ORDER, ORDER[1:])))
def test_verdicts_have_an_order(better, worse):
    assert kind_of(result(better), result(worse)) == "worse"
    assert kind_of(result(worse), result(better)) == "better"
    assert kind_of(result(better), result(better)) is None


@pytest.mark.parametrize(
    "before, after, kind",
    [
        ("pass", "not-testable", "worse"),
        ("fail", "not-testable", "changed"),
        ("not-testable", "unsupported", "changed"),
        ("unsupported", "pass", "better"),
        ("not-testable", "warn", "worse"),
    ],
)
def test_what_is_not_tested_is_no_success(before, after, kind):
    assert kind_of(result(before), result(after)) == kind


def test_another_reason_is_a_change():
    assert kind_of(result("fail"), result("fail", reason="another")) == "changed"


def test_any_of_several_outcomes_will_do():
    assert kind_of(result("fail", "pass"), result("pass")) is None
    assert kind_of(result("pass"), result("fail", "pass")) is None
    assert kind_of(result("fail", "pass"), result("crash")) == "worse"


def kinds(found):
    return {change.case: change.kind for change in found.changes}


def test_cases_are_new_and_gone_between_reports(tmp_path):
    before = of_report(write_report(tmp_path / "a.json", [entry("server.a"), entry("server.b")]))
    after = of_report(write_report(tmp_path / "b.json", [entry("server.b"), entry("server.c")]))
    found = compare(before, after)
    assert kinds(found) == {"server.a": "gone", "server.c": "new"}
    assert (found.same, found.skipped) == (1, 0)


def test_a_part_of_the_suite_lacks_nothing(tmp_path):
    whole = of_report(write_report(tmp_path / "a.json", [entry("server.a"), entry("server.b")]))
    path = write_report(tmp_path / "b.json", [entry("server.b", "fail", "x")], partial=True)
    found = compare(whole, of_report(path))
    assert kinds(found) == {"server.b": "worse"} and found.skipped == 1


def test_a_case_without_a_row_passes(tmp_path):
    one = of_baseline(write_baseline(tmp_path / "a.yaml", [row("server.a"), row("server.b")]))
    other = of_baseline(write_baseline(tmp_path / "b.yaml", [row("server.b"), row("server.c")]))
    assert kinds(compare(one, other)) == {"server.a": "better", "server.c": "worse"}
    report = of_report(write_report(tmp_path / "a.json", [entry("server.c"), entry("server.d")]))
    assert kinds(compare(other, report)) == {"server.c": "better", "server.b": "gone"}
