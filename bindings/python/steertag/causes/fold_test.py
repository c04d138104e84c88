"""Folding by cause: which cases share one, in which order, and what follows from what."""

import dataclasses

from steertag.causes import Case, CaseCause, fold
from steertag.causes.case_cause import CRASH, ENDS, HARNESS, JUDGED, REFUSED, RULE
from steertag.suite.client import client_kinds

GRANT, WRITE, REDUCED, BINDING = (
    "RFC8166-3.3.1-5",
    "RFC8166-8.1.4-2",
    "RFC8166-6.1-3",
    "RFC8267-6.1-5",
)


def ruled(name, requirement=GRANT, rule="grant_is_not_zero", **fields):
    return Case(name, "fail", "a reason", CaseCause(RULE, requirement, rule, **fields))


def judged(name, requirement, text, claims=(), verdict="fail"):
    cause = CaseCause(JUDGED, requirement, text=text)
    return Case(name, verdict, f"{requirement}: {text}", cause, claims)


def shape(causes):
    return [(cause.number, [case.id for case in cause.cases]) for cause in causes]


def test_nothing_has_no_cause():
    assert fold([]) == []


def test_a_rule_folds_whatever_was_seen():
    cases = [ruled("a", text="rdma_credit 0 in 0x1"), ruled("b", text="rdma_credit 0 in 0x2")]
    assert shape(fold(cases)) == [(1, ["a", "b"])]


def test_two_rules_of_one_requirement_are_two_causes():
    assert len(fold([ruled("a"), ruled("b", rule="another")])) == 2


def test_judgements_fold_by_requirement_and_text_without_numbers():
    cases = [
        judged("a", GRANT, "grant: expected at least 1, saw 0"),
        judged("b", GRANT, "grant: expected at least 4, saw 2"),
        judged("c", WRITE, "grant: expected at least 1, saw 0"),
        judged("d", GRANT, "expected reply, saw silence"),
    ]
    assert shape(fold(cases)) == [(1, ["a", "b"]), (2, ["d"]), (3, ["c"])]


def test_a_crash_is_a_cause_of_its_own_beside_a_rule():
    crash = Case("b", "crash", "it ended", CaseCause(CRASH, text="ended with exit status 3"))
    assert shape(fold([crash, ruled("a"), ruled("c")])) == [(1, ["a", "c"]), (2, ["b"])]


def test_what_the_provider_refuses_folds_without_handles():
    cases = [
        Case(
            name, "fail", "r", CaseCause(REFUSED, text=f"FPDU 2: STag 0x{number:08x} is not valid")
        )
        for name, number in (("a", 1), ("b", 2))
    ]
    assert len(fold(cases)) == 1


def test_most_cases_first_and_the_suites_own_errors_last():
    own = [
        Case(name, "harness-error", "KeyError", CaseCause(HARNESS, text="KeyError"))
        for name in ("x", "y", "z")
    ]
    cases = [*own, ruled("a"), ruled("b", WRITE, "stays_inside"), ruled("c", WRITE, "stays_inside")]
    assert shape(fold(cases)) == [(1, ["b", "c"]), (2, ["a"]), (3, ["x", "y", "z"])]


def test_the_ends_are_words_of_the_suite_for_clients():
    kinds = client_kinds.REFUSED, client_kinds.CORRUPTED, client_kinds.HANG, client_kinds.LEFT
    assert set(ENDS) == set(kinds)


def test_what_shows_in_messages_comes_before_mere_ends():
    ends = [judged(name, BINDING, "corrupted") for name in ("a", "b")]
    assert shape(fold([*ends, judged("c", WRITE, "last write offset: 8")])) == [
        (1, ["c"]),
        (2, ["a", "b"]),
    ]


def test_what_keeps_cases_from_starting_comes_after_other_causes():
    text = "preparing the case: mounting /export gave garbage"
    prepared = [judged(name, BINDING, text) for name in ("a", "b", "c")]
    causes = fold([*prepared, ruled("d")])
    assert shape(causes) == [(1, ["d"]), (2, ["a", "b", "c"])]
    assert [cause.perhaps for cause in causes] == [None, 1]
    assert [cause.perhaps for cause in fold(prepared)] == [None]


def test_the_order_does_not_depend_on_that_of_the_cases():
    cases = [ruled("a"), ruled("b", WRITE, "stays_inside"), judged("c", REDUCED, "saw reply")]
    numbered = {cause.requirement: cause.number for cause in fold(cases)}
    assert {cause.requirement: cause.number for cause in fold(cases[::-1])} == numbered


def test_what_leads_no_case_follows():
    cases = [ruled("a", follows=(WRITE, REDUCED)), ruled("b", follows=(REDUCED,))]
    (cause,) = fold(cases)
    assert cause.follows == [(REDUCED, 2), (WRITE, 1)]


def test_what_leads_other_cases_is_a_cause_that_is_seen_later_too():
    cases = [ruled("a", follows=(WRITE,)), ruled("b"), ruled("c", WRITE, "stays_inside")]
    first, second = fold(cases)
    assert first.follows == [] and second.after == {1: 1}


def test_a_judgement_whose_cases_claim_the_larger_ones_requirement_may_be_the_same():
    cases = [judged(name, REDUCED, "saw reply", (REDUCED,)) for name in ("a", "b")]
    cases.append(judged("c", BINDING, "saw reply", (BINDING, REDUCED)))
    cases.append(judged("d", WRITE, "saw reply", (WRITE,)))
    assert {cause.cases[0].id: cause.perhaps for cause in fold(cases)} == {
        "a": None,
        "c": 1,
        "d": None,
    }


def test_another_rule_of_the_same_requirement_may_be_the_same():
    cases = [ruled("a"), ruled("b"), ruled("c", rule="another"), judged("d", GRANT, "saw 0")]
    assert [cause.perhaps for cause in fold(cases)] == [None, 1, 1]


def test_a_case_that_judged_the_message_of_a_rule_may_be_the_same():
    claim = judged("c", REDUCED, "expected 0, saw 3")
    other = judged("d", BINDING, "saw 0")
    followed = dataclasses.replace(claim.cause, follows=(GRANT,))
    cases = [ruled("a"), ruled("b"), dataclasses.replace(claim, cause=followed), other]
    assert {cause.cases[0].id: cause.perhaps for cause in fold(cases)} == {
        "a": None,
        "c": 1,
        "d": None,
    }


def test_the_example_is_the_case_with_the_earliest_event():
    cases = [ruled("a"), ruled("b", event=9), ruled("c", event=4), ruled("d", event=4)]
    (cause,) = fold(cases)
    assert cause.example.id == "c"


def test_the_example_has_files_to_look_at():
    cases = [ruled("a", event=4), dataclasses.replace(ruled("b", event=9), replay="failures/b")]
    (cause,) = fold(cases)
    assert cause.example.id == "b"
