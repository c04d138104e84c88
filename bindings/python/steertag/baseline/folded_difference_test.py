"""Differences of many cases for one cause share an entry; others stay apart."""

from steertag.baseline import Case, Outcome, Report
from steertag.baseline.comparison import Comparison, Difference, MOST_SHOWN
from steertag.baseline.folded_difference import fold_differences
from steertag.causes import CaseCause

GRANT = "RFC8166-3.3.1-5"
CLAUSE = "RFC 8166 3.3.1 (MUST NOT): A granted credit value is never zero."
KEY = CaseCause("rule", GRANT, "grant_is_not_zero").key


def new(case, seen="fail: a reason", cause=KEY, kind="new failure"):
    return Difference(kind, case, "pass", seen, cause)


def test_one_cause_is_one_entry_whatever_the_reasons_are():
    differences = [new(f"server.{n}", f"fail: reason {chr(97 + n)}") for n in range(5)]
    table = Comparison({}, differences, clauses={GRANT: CLAUSE}).table()
    assert "new failure        5 cases: server.0, server.1, server.2, and 2 more" in table
    assert f"breaks    {CLAUSE}" in table
    assert table.endswith("baseline: 5 differences (5 new failure)")


def test_kinds_verdicts_and_causes_stay_apart():
    other = CaseCause("judged", GRANT, text="saw silence").key
    differences = [
        new("a"),
        new("b", kind="other verdict"),
        new("c", cause=other),
        new("d", "hang: x"),
    ]
    assert len(fold_differences(differences)) == 4


def test_without_a_cause_the_same_but_for_numbers_is_one_entry():
    stale = [
        Difference("stale row", name, f"fail: saw {n}", "pass") for n, name in enumerate("abc")
    ]
    (folded,) = fold_differences(stale)
    assert len(folded.differences) == 3


def test_most_cases_come_first_within_a_kind():
    other = CaseCause("crash", text="ended").key
    found = fold_differences([new("a"), new("b", cause=other), new("c", cause=other)])
    assert [one.differences[0].case for one in found] == ["b", "a"]


def test_the_end_of_a_run_shows_the_first_and_counts_the_rest():
    causes = [CaseCause("judged", GRANT, text="x" * n).key for n in range(1, MOST_SHOWN + 4)]
    comparison = Comparison({}, [new(f"server.{n}", cause=key) for n, key in enumerate(causes)])
    lines = list(comparison.digest())
    assert sum(line.startswith("new failure") for line in lines) == MOST_SHOWN
    assert "... and 3 more, which `steertag baseline check` shows" in lines
    assert len(lines) < 70


def test_a_report_gives_cases_their_causes():
    entry = {"id": "server.a", "verdict": "fail", "reason": "r", "findings": []}
    entry |= {"requirements": [], "cause": vars(CaseCause("rule", GRANT, "grant_is_not_zero"))}
    assert Case.of(entry) == Case("server.a", Outcome("fail", "r"), (), (), KEY)
    assert Report([]).clauses == {}


def test_no_text_of_a_report_reaches_the_terminal_as_it_is():
    table = Comparison({}, [new("server.\x1b[2J", "fail: \x9b31m\n::error::x", cause=None)]).table()
    assert "server.\\x1b[2J" in table and "\\xc2\\x9b31m\\x0a::error::x" in table
