"""The mutation score: the kinds of outcomes, with a stand-in for the suite's runs."""

import json
import pathlib
import stat

import pytest

from steertag.mutation import attribution, claims, deviating_peer, score_table
from steertag.mutation.claims import Rest
from steertag.mutation.deviating_peer import CannotScore, Deviation
from steertag.mutation.scorer import Outcome, Scorer

RULE = "RFC8166-4.2.1-1"
OTHER = "RFC8166-4.2.2-1"
RESTATED = "RFC8166-4.1.2-3"  # by RFC8166-4-1


def case(name, verdict="fail", *findings, reason="something else", claims=()):
    return {
        "id": name,
        "verdict": verdict,
        "findings": [{"id": each} for each in findings],
        "reason": reason,
        "requirements": list(claims),
    }


class Runs(Scorer):
    """Answers with given cases and records the requests."""

    def __init__(self, claimed, *, rest_of_suite=None, **cases):
        super().__init__("server", pathlib.Path("unused"), claimed, rest=rest_of_suite)
        self.cases = cases
        self.asked = []
        self.limits = {}

    def _run(self, deviation, tests, name, most_failures, stop):
        self.asked.append((name, tests))
        self.limits[name] = most_failures
        if isinstance(self.cases[name], Exception):
            raise self.cases[name]
        return self.cases[name]


CLAIMS = {RULE: ["suites/server/test_a.py::test_a"]}


def test_claiming_case_catches_without_the_whole_suite():
    runs = Runs(CLAIMS, claiming=[case("a", "pass"), case("b", "fail", OTHER, RULE)])
    assert runs.score(Deviation("d", RULE)) == Outcome(Deviation("d", RULE), "caught", "b")
    assert runs.asked == [("claiming", CLAIMS[RULE])]


def test_no_number_of_other_failures_hides_a_catch():
    many = [case(f"a{i}", reason=f"{OTHER}: expected a reply") for i in range(100)]
    runs = Runs(CLAIMS, claiming=[*many, case("b", "fail", RULE)])
    assert runs.score(Deviation("d", RULE)).by == "b"
    assert runs.limits == {"claiming": None}


def test_expectation_of_the_case_catches_too():
    runs = Runs(CLAIMS, claiming=[case("a", reason=f"{RULE}: expected err-vers, saw silence")])
    assert runs.score(Deviation("d", RULE)).by == "a"


def test_longer_id_is_another_requirement():
    assert attribution.attributing([case("a", reason=f"{RULE}1: expected err-vers")], RULE) is None


@pytest.mark.parametrize("verdict", ["crash", "hang"])
def test_end_of_the_server_catches_what_the_case_claims(verdict):
    row = case("a", verdict, reason="the server process ended", claims=[RULE])
    assert attribution.attributing([row], RULE) == "a"
    assert attribution.attributing([row], OTHER) is None


def test_what_was_seen_of_one_that_is_not_caught():
    whole = [case("a", "pass", claims=[RULE]), case("b", reason="odd"), case("c", "pass")]
    outcome = Runs(CLAIMS, claiming=[], whole=whole).score(Deviation("d", RULE))
    lines = ["claims it: pass a: something else", "failed: fail b: odd"]
    assert list(outcome.seen) == lines
    head, first, second = score_table.problems([outcome])
    assert head == f"\nmisjudged: d, which breaks {RULE}: b"
    assert [first.strip(), second.strip()] == lines


def test_warning_counts_for_a_should():
    runs = Runs(CLAIMS, claiming=[case("a", "warn", RULE)])
    assert runs.score(Deviation("d", RULE)).good


def test_finding_in_a_passing_case_does_not_count():
    runs = Runs(CLAIMS, claiming=[case("a", "pass", RULE)], whole=[case("a", "pass", RULE)])
    assert runs.score(Deviation("d", RULE)).word == "missed"


@pytest.mark.parametrize(
    "whole, word, by, good",
    [
        ([case("z", "fail", RULE, claims=[RULE])], "caught", "z", True),
        ([case("z", "fail", RULE)], "judged", "z", False),
        ([case("z", reason=f"{OTHER}: expected reply; {RULE}: a_rule")], "judged", "z", False),
        ([case("z", "fail", OTHER)], "misjudged", "z", False),
        ([case("z", "crash")], "misjudged", "z", False),
        ([case("z", "pass")], "missed", "", False),
    ],
)
def test_whole_suite_tells_why_the_claim_failed(whole, word, by, good):
    runs = Runs(CLAIMS, claiming=[case("a", "pass")], whole=whole)
    outcome = runs.score(Deviation("d", RULE))
    assert (outcome.word, outcome.by, outcome.good) == (word, by, good)


def test_requirement_without_a_claim_goes_to_the_whole_suite():
    runs = Runs({}, whole=[case("z", "fail", RULE)])
    assert runs.score(Deviation("d", RULE)).word == "judged"
    assert runs.asked == [("whole", ["suites/server"])]


def test_with_whole_a_deviation_is_tried_with_what_none_has_made_fail():
    rest = Rest({"b": "f::b", "c": "f::c", "e": "f::e", "g": "f::g"})
    claiming = [case("b", "fail", RULE, claims=[RULE]), case("c", "fail", OTHER, claims=[RULE])]
    others = [case("e", "hang", claims=[OTHER]), case("g", "fail", RULE, claims=[OTHER])]
    runs = Runs(CLAIMS, rest_of_suite=rest, claiming=claiming, rest=others)
    outcome = runs.score(Deviation("d", RULE))
    assert (outcome.word, outcome.by, outcome.failed) == ("caught", "b", ("b",))
    assert rest.nodes() == ["f::c", "f::e", "f::g"], "c failed under what it does not claim"
    outcome = runs.try_rest(outcome)
    assert (outcome.failed, outcome.whole) == (("b", "e"), True)
    assert runs.asked == [("claiming", CLAIMS[RULE]), ("rest", ["f::c", "f::e", "f::g"])]
    assert rest.nodes() == ["f::c", "f::g"]
    further = Outcome(Deviation("d", OTHER, True), "caught", "e")
    assert runs.try_rest(further) is further and len(runs.asked) == 2


def test_a_rest_that_cannot_be_run_was_not_tried(capsys):
    runs = Runs({}, rest_of_suite=Rest({"b": "f::b"}), rest=CannotScore("no end"))
    outcome = Outcome(Deviation("d", RULE), "caught", "b")
    assert runs.try_rest(outcome) == outcome and not outcome.whole
    assert "d: no end" in capsys.readouterr().err


def test_run_without_a_report_is_told(tmp_path):
    one = Scorer("/nonexistent", tmp_path, {RULE: ["no/such/file.py::test"]})
    stale = tmp_path / "d" / "claiming" / "report.json"
    stale.parent.mkdir(parents=True)
    stale.write_text(json.dumps({"cases": [case("a", "fail", RULE)]}))
    outcome = one.score(Deviation("d", RULE))
    assert outcome.word == "no run" and "pytest ended with" in outcome.by


def test_claims_are_read_from_junit(tmp_path):
    path = tmp_path / "junit.xml"
    path.write_text(
        '<testsuites><testsuite><testcase classname="suites.server.test_a" name="test_a[x]">'
        '<properties><property name="case" value="server.a"/>'
        f'<property name="requirement" value="{RULE}"/>'
        f'<property name="requirement" value="{RULE}"/></properties>'
        "</testcase></testsuite></testsuites>"
    )
    assert claims.from_junit(path).nodes == {RULE: ["suites/server/test_a.py::test_a[x]"]}
    assert claims.from_junit(path).cases == {"server.a": "suites/server/test_a.py::test_a[x]"}
    path.write_text("<testsuites/>")
    with pytest.raises(CannotScore, match="names no requirement"):
        claims.from_junit(path)


def test_claims_do_not_follow_the_order_in_which_cases_ended(tmp_path):
    path = tmp_path / "junit.xml"
    row = f'<properties><property name="requirement" value="{RULE}"/></properties>'
    cases = "".join(f'<testcase classname="a" name="{name}">{row}</testcase>' for name in "cab")
    path.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    assert claims.from_junit(path).nodes == {RULE: ["a.py::a", "a.py::b", "a.py::c"]}


def server_that_prints(tmp_path, text, status=0):
    path = tmp_path / "server"
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {status}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_deviations_are_listed_by_the_server(tmp_path):
    rows = [{"name": "d", "requirement": RULE, "also": [OTHER], "summary": "ignored"}]
    rows.append({"name": "e", "requirement": RULE, "also": [], "argument": "--lease=5"})
    server = server_that_prints(tmp_path, json.dumps(rows))
    own = [Deviation("d", RULE), Deviation("e", RULE, argument="--lease=5")]
    assert deviating_peer.list_deviations(server) == [*own, Deviation("d", OTHER, True)]


@pytest.mark.parametrize("text, status", [("", 0), ('[{"name": "d"}]', 0), ("[]", 1)])
def test_bad_lists_are_one_error(tmp_path, text, status):
    with pytest.raises(CannotScore, match="--list-deviations"):
        deviating_peer.list_deviations(server_that_prints(tmp_path, text, status))


def test_table_ends_with_the_score():
    rows = [Outcome(Deviation("d", RULE), "caught", "a"), Outcome(Deviation("e", RULE), "missed")]
    assert list(score_table.lines(rows))[-1].strip() == "mutation score: 1 of 2 deviations, 50 %"


def test_table_says_what_a_reader_sees_first():
    rows = [
        Outcome(Deviation("d", RULE), "caught", "a", shown=RULE),
        Outcome(Deviation("e", RULE), "caught", "b", shown=OTHER),
    ]
    first, second, right, _ = score_table.lines(rows)
    assert first.split()[3] == "first" and second.split()[3] == OTHER
    assert right.strip() == (
        "shown first under the requirement that they break: 1 of 2; under one that they do not break: 1"
    )


def test_blame_is_wrong_only_under_a_requirement_that_is_not_declared():
    declared = Deviation("e", RULE, breaks=(RULE, OTHER))
    rows = [
        Outcome(declared, "caught", "b", shown=OTHER),
        Outcome(Deviation("exits", RULE, breaks=(RULE,)), "caught", "c"),
        Outcome(
            Deviation("e", OTHER, True, breaks=(RULE, OTHER)), "caught", "b", shown="RFC8166-1-1"
        ),
        Outcome(declared, "missed", shown="RFC8166-1-1"),
        Outcome(
            Deviation("w", "RFC8166-4-1", breaks=("RFC8166-4-1",)), "caught", "d", shown=RESTATED
        ),
    ]
    assert [row.blame for row in rows] == ["declared", "end", "", "", "declared"]
    assert [row.faultless for row in rows] == [True, True, True, False, True]
    assert not list(score_table.problems(rows[:3]))
    right = next(line for line in score_table.lines(rows[:3]) if "shown first" in line)
    assert right.strip().endswith(
        "0 of 2; under another that they break too: 1; as an end or a refusal: 1"
    )


def test_wrong_blame_has_a_sentence():
    rows = [Outcome(Deviation("e", RULE, breaks=(RULE,)), "caught", "b", shown=OTHER)]
    assert rows[0].blame == "wrong" and not rows[0].faultless
    (line,) = score_table.problems(rows)
    assert line.strip() == (
        f"wrong blame: e, which breaks {RULE}: b shows {OTHER} first, which it does not declare to break"
    )


def test_the_table_of_blame_has_what_is_not_shown_under_its_own_requirement():
    rows = [
        Outcome(Deviation("right", RULE, breaks=(RULE,)), "caught", "a", shown=RULE),
        Outcome(Deviation("w", RULE, breaks=(RULE,)), "caught", "b", shown=OTHER),
        Outcome(Deviation("exits", RULE, breaks=(RULE,)), "caught", "c"),
        Outcome(Deviation("missed", RULE, breaks=(RULE,)), "missed"),
    ]
    empty, *table = score_table.blame_lines(rows)
    assert not empty and [line.split() for line in table] == [
        ["deviation", "expected", "first", "shown", "blame", "case"],
        ["w", RULE, OTHER, "wrong", "b"],
        ["exits", RULE, "-", "end", "c"],
    ]
    assert not list(score_table.blame_lines(rows[:1]))


def test_table_names_what_was_not_tried_over_a_provider():
    rows = [Outcome(Deviation("d", RULE), "caught", "a")]
    below = [Deviation("long-name", "RFC5044-8-1"), Deviation("long-name", OTHER, True)]
    _, first, second, _, apart, score = score_table.lines(rows, "roce", below)
    assert first.split() == ["long-name", "RFC5044-8-1", "not", "of", "messages"]
    assert second.split()[1] == OTHER
    assert apart == "not of messages, and not tried over roce: 1 deviations"
    assert score == "mutation score over roce: 1 of 1 deviations, 100 %"


def test_table_counts_further_requirements_apart():
    rows = [Outcome(Deviation("d", RULE), "caught", "a")]
    rows += [Outcome(Deviation("d", OTHER, True), word) for word in ("caught", "missed")]
    score, further = list(score_table.lines(rows))[-2:]
    assert score.strip() == "mutation score: 1 of 1 deviations, 100 %"
    assert further == "caught under further requirements that they break: 1 of 2"


def test_junit_has_a_failure_for_each_deviation_not_caught(tmp_path):
    path = tmp_path / "out.xml"
    rows = [Outcome(Deviation("d", RULE), "caught", "a"), Outcome(Deviation("e", RULE), "missed")]
    score_table.write_junit(path, rows, [Deviation("f", OTHER)])
    text = path.read_text()
    assert (text.count("<failure"), text.count("<skipped"), text.count("<testcase")) == (1, 1, 3)


def test_junit_has_a_failure_for_wrong_blame(tmp_path):
    path = tmp_path / "out.xml"
    wrong = Outcome(Deviation("d", RULE, breaks=(RULE,)), "caught", "a", shown=OTHER)
    score_table.write_junit(path, [wrong])
    assert path.read_text().count(f'<failure message="wrong blame: d, which breaks {RULE}: ') == 1


def test_json_names_who_caught_each_deviation(tmp_path):
    path = tmp_path / "out.json"
    rows = [
        Outcome(Deviation("d", RULE), "caught", "a", ("a", "b"), True, RULE),
        Outcome(Deviation("e", RULE), "misjudged", "b, c", ("b", "c")),
        Outcome(Deviation("f", RULE), "no run", "no end"),
        Outcome(Deviation("d", OTHER, True), "caught", "b", ("b",)),
    ]
    score_table.write_json(path, rows)
    first, second, third, fourth = json.loads(path.read_text())
    caught = {"name": "d", "requirement": RULE, "outcome": "caught", "by": "a"}
    assert first == caught | {"shown": RULE, "blame": "right", "failed": ["a", "b"], "whole": True}
    assert (second["by"], second["failed"], second["whole"]) == ("", ["b", "c"], False)
    assert (third["whole"], fourth["whole"]) == (False, True), "of a name that was tried"
