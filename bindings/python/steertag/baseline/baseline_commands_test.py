"""Baselines: each way in which a report differs from one, the commands, and what an update
keeps."""

import datetime
import json
import textwrap

import pytest
import yaml

from steertag import baseline, build_paths, cli
from steertag.baseline import baseline_commands, case_outcome
from steertag.baseline.baseline_file import ROW_KEYS
from steertag.baseline.rows_text import RowsText
from steertag.baseline.update import update
from steertag.verdict import Verdict

TARGET = "some-target"
CASE = "server.header.version-zero"
REQUIREMENT = "RFC8166-4.2.2-a"
FINDING = "RFC8166-4.5.1-b"
REASON = "the call was dropped"
TODAY = datetime.date(2026, 11, 21)


def entry(case=CASE, verdict="fail", reason=REASON, findings=(FINDING,), **changes):
    """One case as the suite writes it."""
    found = [{"id": name, "text": "what was seen"} for name in findings]
    case = {"id": case, "verdict": verdict, "reason": reason, "findings": found}
    return {**case, "requirements": [REQUIREMENT], "seconds": 0.1, "capture": None, **changes}


def row(case=CASE, verdict="fail", requirement=FINDING, reason=REASON, note="drops the call"):
    """One row as a human writes it."""
    values = (case, verdict, requirement, reason, note)
    return dict(zip(ROW_KEYS, values, strict=True))


def write_report(directory, entries, **more):
    directory.mkdir(exist_ok=True)
    report = {"steertag": "0", "target": "iwarp://host", "totals": {}, "cases": entries, **more}
    (directory / "report.json").write_text(json.dumps(report))
    return directory


def write_baseline(directory, rows, target=TARGET):
    path = directory / "baseline.yaml"
    path.write_text(yaml.safe_dump({"target": target, "date": "2025-01-01", "rows": rows}))
    return path


@pytest.fixture
def compare(tmp_path):
    def run(entries, rows, **more):
        report = baseline.load_report(write_report(tmp_path, entries, **more))
        return baseline.compare(report, baseline.load(write_baseline(tmp_path, rows), TARGET))

    return run


def kinds(result):
    return [(difference.kind, difference.case) for difference in result.differences]


def test_listed_failure_and_unlisted_pass_match(compare):
    result = compare([entry(), entry(case="server.other", verdict="pass", findings=())], [row()])
    assert result.matches()
    assert result.counts == {"pass": 1, "fail": 1}
    assert result.table().endswith("baseline: matches")


def test_the_verdicts_are_those_of_the_suite():
    assert set(baseline.VERDICTS) == {verdict.value for verdict in Verdict}
    failures = {verdict.value for verdict in Verdict if verdict.spoils_run}
    assert set(case_outcome.FAILURES) == failures


@pytest.mark.parametrize("verdict", [v for v in baseline.VERDICTS if v != baseline.PASS])
def test_every_unlisted_verdict_but_pass_is_a_difference(compare, verdict):
    kind = "new failure" if Verdict(verdict).spoils_run else "unlisted"
    assert kinds(compare([entry(verdict=verdict)], [])) == [(kind, CASE)]


@pytest.mark.parametrize("verdict", [v for v in baseline.EXCUSABLE if v != "fail"])
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


def test_a_part_of_the_suite_says_nothing_on_rows_of_other_cases(compare):
    result = compare([entry()], [row(), row(case="server.gone")], partial=True)
    assert result.matches() and result.skipped == 1
    assert "1 rows are of cases that were not selected, and not compared" in result.table()


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
    for part in ("fail", CASE, REASON, "another reason", "baseline: 1 difference (1 other reason)"):
        assert part in table


def test_case_reported_twice_is_refused(tmp_path):
    with pytest.raises(baseline.BaselineError, match="more than once"):
        baseline.load_report(write_report(tmp_path, [entry(), entry()]))


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", '{"cases": [{"id": "x"}]}', '{"cases": null}', "[" * 100_000),
        json.dumps({"cases": [], "name": 5}),
        json.dumps({"cases": [entry(case=5)]}),
        json.dumps({"cases": [entry(case="")]}),
        json.dumps({"cases": [entry(reason=None)]}),
        json.dumps({"cases": [entry(reason="\ud800")]}),
        json.dumps({"cases": [entry(findings=[None])]}),
        json.dumps({"cases": [entry(requirements=[[]])]}),
    ],
)
def test_report_that_is_not_one_is_refused(tmp_path, text):
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(
        baseline.BaselineError, match="report.json is not a report of the suite: .+"
    ):
        baseline.load_report(tmp_path)


def test_report_of_a_run_that_stopped_early_is_refused(tmp_path):
    (tmp_path / "report.json").write_text('{"cases": [], "stopped": "the target is gone"}')
    with pytest.raises(baseline.BaselineError, match="the target is gone"):
        baseline.load_report(tmp_path)


def test_unknown_verdict_is_refused(tmp_path):
    with pytest.raises(baseline.BaselineError, match="unknown verdict"):
        baseline.load_report(write_report(tmp_path, [entry(verdict="maybe")]))


def test_missing_files_are_refused(tmp_path):
    with pytest.raises(baseline.BaselineError, match="no report"):
        baseline.load_report(tmp_path)
    with pytest.raises(baseline.BaselineError, match="no baseline"):
        baseline.load(tmp_path / "baseline.yaml", TARGET)


def updated(tmp_path, text, *runs, also=False, **more):
    """The Update of a file with this text by one report of each run's entries."""
    reports = [
        baseline.load_report(write_report(tmp_path / f"report-{number}", entries, **more))
        for number, entries in enumerate(runs)
    ]
    return update(tmp_path / "baseline.yaml", text, reports, TARGET, TODAY, also=also)


def rows_of(result):
    return yaml.safe_load(result.text)["rows"]


HUMAN = """# What this server does not do.
target: some-target
date: 2025-01-01   # of the first run
rows:
# Nobody has looked at this one yet.
- case: server.a
  verdict: fail
  requirement: RFC8166-4.5.1-b
  reason: "the call was dropped"
  note: >-
    Folded by a human,
    in two lines.

# The old one.
- case: server.b
  verdict: fail
  requirement: RFC8166-4.5.1-b
  reason: the call was dropped
  note: drops the call
- case: server.c
  verdict: fail
  requirement: [RFC8166-4.2.2-a]
  reason: the call was dropped
  note: drops it too
# The end.
"""


def test_an_update_without_changes_changes_no_octet(tmp_path):
    result = updated(tmp_path, HUMAN, [entry(case=f"server.{name}") for name in "abc"])
    assert result.nothing() and result.text == HUMAN


def test_an_update_keeps_what_humans_wrote(tmp_path):
    """a stays, b passes now, c is no case any more, aa is new."""
    run = [entry(case="server.a"), entry(case="server.b", verdict="pass", reason="")]
    result = updated(tmp_path, HUMAN, [*run, entry(case="server.aa")])
    assert (result.added, result.changed, result.removed) == (
        ["server.aa"],
        [],
        ["server.b", "server.c"],
    )
    head, rest = HUMAN.split("# The old one.\n")
    head = head.replace("2025-01-01", "2026-11-21")
    new = yaml.safe_dump([row(case="server.aa", note="")], sort_keys=False)
    assert result.text == head + new + "# The end.\n"


def test_a_changed_row_keeps_its_note_and_its_comment(tmp_path):
    run = [entry(case=f"server.{name}") for name in "ac"]
    result = updated(tmp_path, HUMAN, [*run, entry(case="server.b", verdict="crash")])
    assert result.changed == ["server.b"]
    assert rows_of(result)[1] == row(case="server.b", verdict="crash")
    assert "# The old one.\n- case: server.b\n" in result.text


def test_a_part_of_the_suite_removes_no_row(tmp_path):
    assert updated(tmp_path, HUMAN, [entry(case="server.a")], partial=True).nothing()


def test_several_reports_give_or(tmp_path):
    crash = entry(verdict="crash", reason="gone")
    passes = entry(verdict="pass", reason="", findings=())
    result = updated(tmp_path, "", [passes], [crash], [entry()], [crash])
    expected = row(verdict="crash", reason="gone", note="")
    failure = {"verdict": "fail", "reason": REASON}
    assert rows_of(result) == [{**expected, "or": [failure, PASSES]}]


def test_an_outcome_joins_a_row_of_which_another_was_seen(tmp_path):
    text = write_baseline(tmp_path, [{**row(), "or": [SILENT]}]).read_text()
    passes = entry(verdict="pass", reason="", findings=())
    result = updated(tmp_path, text, [entry()], [passes])
    assert rows_of(result) == [{**row(), "or": [SILENT, PASSES]}]
    assert updated(tmp_path, result.text, [passes]).nothing(), "one of the outcomes is enough"


def test_also_adds_and_takes_nothing_away(tmp_path):
    """a is another crash, b passes, c did not run, d is new and so had to pass before."""
    crash = {"verdict": "crash", "reason": "gone"}
    run = [entry(case=f"server.{name}", **crash) for name in "ad"]
    run.append(entry(case="server.b", verdict="pass", reason="", findings=()))
    result = updated(tmp_path, HUMAN, run, also=True)
    assert (result.added, result.changed, result.removed) == (
        ["server.d"],
        ["server.a", "server.b"],
        [],
    )
    found = {each["case"]: each.get("or") for each in rows_of(result)}
    assert found == dict(
        zip(
            ("server.a", "server.b", "server.c", "server.d"),
            ([crash], [PASSES], None, [PASSES]),
            strict=True,
        )
    )
    assert updated(tmp_path, result.text, run, also=True).nothing()


def test_a_harness_error_is_excused_by_no_baseline(tmp_path):
    with pytest.raises(baseline.BaselineError, match="cannot expect harness-error"):
        updated(tmp_path, "", [entry(verdict="harness-error")])


@pytest.mark.parametrize("rows", ["rows: []\n", "rows:\n", "rows: [{case: server.z, verdict: fail, "
    "requirement: R, reason: r, note: n}]\n"])  # fmt: skip
def test_rows_may_start_in_any_layout(tmp_path, rows):
    result = updated(tmp_path, f"# Mine.\ntarget: {TARGET}\ndate: 2025-01-01\n{rows}", [entry()])
    assert result.text.startswith(f"# Mine.\ntarget: {TARGET}\ndate: 2026-11-21\nrows:\n")
    assert rows_of(result) == [row(note="")]


@pytest.mark.parametrize(
    "text, date",
    [
        (f"rows: []\ntarget: {TARGET}\ndate: 2025-01-01\n# The end.\n", "date: 2026-11-21\n"),
        (f"rows:\ndate: 2025-01-01 # old\ntarget: {TARGET}\n", "date: 2026-11-21 # old\n"),
        (f"target: {TARGET}\ndate:\nrows: []\n", "date: 2026-11-21\n"),
        (f"target: {TARGET}\nrows: []\n", "date: 2026-11-21\n"),
    ],
)
def test_the_date_is_set_wherever_it_stands(tmp_path, text, date):
    result = updated(tmp_path, text, [entry()])
    assert rows_of(result) == [row(note="")] and date in result.text
    assert yaml.safe_load(result.text)["date"] == TODAY


def test_rows_may_be_indented(tmp_path):
    head, rows = HUMAN.split("rows:\n")
    text = f"{head}rows:\n{textwrap.indent(rows, '  ')}"
    run = [entry(case="server.a"), entry(case="server.b", verdict="crash"), entry(case="server.d")]
    result = updated(tmp_path, text, run)
    assert rows_of(result) == rows_of(updated(tmp_path, HUMAN, run))
    assert "\n  # The old one.\n  - case: server.b\n" in result.text


def test_an_update_that_does_not_read_as_it_should_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(RowsText, "remove", lambda *_: None)
    with pytest.raises(baseline.BaselineError, match="nothing was written"):
        updated(tmp_path, HUMAN, [entry(case="server.a")])


@pytest.mark.parametrize(
    "text",
    [
        f"{{target: {TARGET}, rows: []}}\n",
        yaml.safe_dump({"target": TARGET, "rows": [row(case="server.a", note="&"), row()]})
        .replace("note: '&'", "note: &same drops the call")
        .replace("note: drops the call", "note: *same"),
    ],
    ids=["braces", "alias"],
)
def test_a_layout_that_cannot_be_edited_is_refused(tmp_path, text):
    baseline.baseline_file.parse("", text)
    with pytest.raises(baseline.BaselineError, match="its layout .* is not one that can be edited"):
        updated(tmp_path, text, [entry(case="server.a", verdict="pass", reason=""), entry()])


def test_new_rows_may_have_one_note(tmp_path):
    result = update(
        tmp_path / "baseline.yaml",
        HUMAN,
        [baseline.Report([baseline.Case.of(entry(case=f"server.{name}")) for name in "abcd"])],
        TARGET,
        TODAY,
        "as of the first run",
    )
    notes = [each["note"] for each in rows_of(result)]
    assert notes[1:] == ["drops the call", "drops it too", "as of the first run"]


def test_a_row_is_refused_until_its_note_is_filled_in(tmp_path):
    path = tmp_path / "baseline.yaml"
    path.write_text(updated(tmp_path, "", [entry()]).text)
    with pytest.raises(baseline.BaselineError, match=f"it is empty in {CASE}$"):
        baseline.load(path)
    path.write_text(path.read_text().replace("note: ''", "note: drops the call"))
    assert baseline.load(path, TARGET).rows[0].note == "drops the call"


def steertag(*arguments):
    return cli.main([str(each) for each in arguments])


def test_check_says_by_its_exit_status_what_it_found(tmp_path, capsys):
    report = write_report(tmp_path / "report", [entry()], name=TARGET)
    assert steertag("baseline", "check", report, write_baseline(tmp_path, [row()])) == 0
    assert capsys.readouterr().out.endswith("baseline: matches\n")
    path = write_baseline(tmp_path, [])
    assert steertag("baseline", "check", report / "report.json", path) == baseline_commands.DIFFERS
    assert "baseline: 1 difference (1 new failure)\n" in capsys.readouterr().out
    assert steertag("baseline", "check", report, tmp_path / "none.yaml") == 2
    assert "there is no baseline" in capsys.readouterr().err
    path = write_baseline(tmp_path, [], target="other-target")
    assert steertag("baseline", "check", report, path) == 2
    assert "not of some-target" in capsys.readouterr().err


def test_update_makes_a_file_and_check_agrees(tmp_path, capsys):
    path = tmp_path / "new.yaml"
    first = write_report(tmp_path / "first", [entry()], name=TARGET)
    passes = entry(verdict="pass", reason="", findings=())
    second = write_report(tmp_path / "second", [passes], name=TARGET)
    assert steertag("baseline", "update", "--from", first, second, path) == 0
    assert (
        f"1 added; each waits for a note on what the target does instead:\n  {CASE}\n"
        in capsys.readouterr().out
    )
    document = yaml.safe_load(path.read_text())
    assert document["target"] == TARGET
    assert document["date"] == datetime.date.today()
    path.write_text(path.read_text().replace("note: ''", "note: at times"))
    for report in (first, second):
        assert steertag("baseline", "check", report, path) == 0
    capsys.readouterr()
    before = path.read_text()
    assert steertag("baseline", "update", path, "--from", first, second) == 0
    assert capsys.readouterr().out == f"{path}: nothing to change\n"
    assert path.read_text() == before


def test_a_target_without_faults_has_a_baseline_without_rows(tmp_path, capsys):
    passes = entry(verdict="pass", reason="", findings=())
    report, path = write_report(tmp_path / "report", [passes]), tmp_path / "new.yaml"
    assert steertag("baseline", "update", "--from", report, path) == 0
    assert capsys.readouterr().out == f"{path}: a new baseline of the target new\n"
    assert steertag("baseline", "check", report, path) == 0


def test_an_update_with_a_note_is_a_baseline_at_once(tmp_path, capsys):
    report, path = write_report(tmp_path / "report", [entry()], name=TARGET), tmp_path / "new.yaml"
    assert steertag("baseline", "update", "--note", "drops it", "--from", report, path) == 0
    assert f"1 added:\n  {CASE}\n" in capsys.readouterr().out
    assert steertag("baseline", "check", report, path) == 0


def test_update_writes_nothing_when_it_cannot_do_all(tmp_path, capsys):
    path = write_baseline(tmp_path, [row()])
    before = path.read_text()
    good = write_report(tmp_path / "good", [])
    for bad in (
        write_report(tmp_path / "stopped", [], stopped="gone"),
        write_report(tmp_path / "error", [entry(verdict="harness-error")]),
        tmp_path / "none",
    ):
        assert steertag("baseline", "update", "--from", good, bad, path) == 2
        assert capsys.readouterr().err.startswith("steertag: ")
    other = write_report(tmp_path / "other", [], name="other-target")
    assert steertag("baseline", "update", "--from", other, path) == 2
    named = ["--target", "third-target"]
    assert steertag("baseline", "update", *named, "--from", other, path) == 2
    assert "several targets: other-target, third-target" in capsys.readouterr().err
    (tmp_path / "folder").mkdir()
    for bad in (tmp_path / "folder", tmp_path / "no" / "such.yaml"):
        assert steertag("baseline", "update", "--from", good, bad) == 2
        err = capsys.readouterr().err
        assert err.startswith("steertag: ") and f"{bad}" in err and err.count("\n") == 1
    assert path.read_text() == before
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == [path.name]


def test_the_baselines_of_the_lab_survive_an_update_octet_by_octet(tmp_path):
    folder = build_paths.checkout() / "fixtures" / "baselines"
    for path in sorted(folder.glob("*.yaml")):
        expected = baseline.load(path, path.stem)
        cases = [baseline.Case(row.case, row.outcomes[0], row.requirement) for row in expected.rows]
        others = range(expected.cases - len(cases))
        passed = baseline.Outcome("pass", "")
        cases += [baseline.Case(f"passed.{number}", passed, ()) for number in others]
        report = baseline.Report(cases)
        assert baseline.compare(report, expected).matches(), path
        result = update(path, path.read_text(), [report], path.stem, TODAY)
        assert result.nothing() and result.text == path.read_text(), path


def test_a_shipped_baseline_is_taken_by_its_name(tmp_path, capsys):
    report = write_report(tmp_path, [], name="steertag-server")
    assert steertag("baseline", "check", report, "steertag-server") == baseline_commands.DIFFERS
    assert "stale row" in capsys.readouterr().out
