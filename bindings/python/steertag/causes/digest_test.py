"""The text of a digest: the cause first, in the ledger's words, and few lines whatever went wrong."""

import json

import pytest

from steertag import cli
from steertag.causes import BadReport, RunCases, digest, load

GRANT, WRITE = "RFC8166-3.3.1-5", "RFC8166-8.1.4-2"
CLAUSES = {
    GRANT: "RFC 8166 3.3.1 (MUST NOT): A granted credit value is never zero.",
    WRITE: "RFC 8166 8.1.4: Writing more than the requester offered must not happen.",
}
# Of a digest: with the progress of 1,900 cases and the counts a run prints fewer than 200.
MOST_LINES = 130


def entry(case, requirement=GRANT, verdict="fail", **fields):
    """A case of report.json."""
    cause = {
        "kind": "rule",
        "requirement": requirement,
        "rule": "a_rule_of_ours",
        "text": "credit 0",
    }
    cause |= {"expected": "at least 1", "connection": 1, "event": 4}
    cause |= {"trace": ["  #3 client send", "> #4 server send"], "follows": []} | fields
    row = {
        "id": case,
        "verdict": verdict,
        "reason": f"{requirement}: a_rule_of_ours",
        "cause": cause,
    }
    return {
        **row,
        "requirements": [requirement],
        "capture": f"captures/{case}.pcapng",
        "replay": None,
    }


def judged(case, text, requirement=GRANT, verdict="fail"):
    fields = {"kind": "judged", "rule": "", "text": text, "expected": "", "event": None}
    return entry(case, requirement, verdict, **fields)


def lines(*entries):
    run = RunCases.of({"cases": list(entries), "clauses": CLAUSES})
    return list(digest(run, "build/report"))


def test_a_clean_run_has_none():
    assert lines({"verdict": "pass"}) == []


def test_the_first_line_has_the_counts_and_the_sentence_of_the_ledger():
    found = lines(*(entry(f"server.{number}") for number in range(1432)))
    assert found[0] == f"1 cause, 1,432 cases: the server breaks {CLAUSES[GRANT]}"
    assert not any("a_rule_of_ours" in line for line in found)
    assert found[-1] == "all cases of a cause: steertag causes build/report --cause N"
    assert len(found) < 20


def test_one_example_has_its_trace_and_the_commands():
    found = lines(entry("server.a"))
    assert found[1:-1] == [
        "  seen      credit 0",
        "  expected  at least 1",
        "  example   server.a, connection 1, event 4",
        "      #3 client send",
        "    > #4 server send",
        f"  clause    steertag explain {GRANT}",
        "  capture   build/report/captures/server.a.pcapng",
        "",
    ]


def test_of_several_causes_the_first_line_has_the_one_of_most_cases():
    found = lines(entry("server.a"), entry("server.b", WRITE), entry("server.c", WRITE))
    assert found[0] == f"2 causes, 3 cases; in 2 of them: the server breaks {CLAUSES[WRITE]}"
    assert f"2. 1 case: the server breaks {CLAUSES[GRANT]}" in found


def test_saw_violation_is_not_the_headline():
    case = judged("server.a", "expected reply, saw violation")
    assert "saw violation" not in lines(case)[0]


def test_what_follows_is_named_after_the_cause():
    found = lines(entry("server.a", follows=[WRITE]), entry("server.b", follows=[WRITE]))
    assert "  after it  RFC 8166 8.1.4 in 2 cases" in found


def test_a_crash_a_hang_and_an_error_of_the_suite_are_told_as_such():
    crash = judged("server.a", "the process ended with exit status 3", "", "crash")
    crash["cause"]["kind"] = "crash"
    own = judged("server.b", "KeyError: 'missing'", "", "harness-error")
    own["cause"]["kind"] = "harness"
    hang = judged("server.c", "after the case it does not answer", "", "hang")
    text = "\n".join(lines(crash, own, hang))
    assert "the server crashed: the process ended with exit status 3" in text
    assert "an error of the suite, not of the server: KeyError: 'missing'" in text
    assert "hang: after the case it does not answer" in text


def test_a_refused_preparation_is_no_error_of_the_suite():
    refused = judged(
        "server.a", "preparing the case: MKDIR gave nfs:NFS3ERR_ROFS", "", "harness-error"
    )
    refused["cause"]["kind"] = "harness"
    first, *_ = lines(refused)
    assert (
        "can the suite write to the export? preparing the case: MKDIR gave nfs:NFS3ERR_ROFS"
        in first
    )
    assert "error of the suite" not in first


def test_a_client_is_called_a_client():
    assert "the client breaks RFC 8166" in lines(entry("client.a"))[0]


def test_warnings_are_apart_from_failures():
    found = lines(entry("server.a"), judged("server.b", "saw 1", WRITE, "warn"))
    assert found[0].startswith("1 cause, 1 case: ")
    assert f"1 warning, 1 case: the server breaks {CLAUSES[WRITE]}" in found


def several(count):
    return [judged(f"server.{n}", f"not true: {chr(97 + n % 26) * (n + 1)}") for n in range(count)]


def test_each_of_several_causes_has_its_trace():
    assert sum(line == "    > #4 server send" for line in lines(*several(8))) == 8


def test_many_causes_stay_few_lines_and_the_rest_is_counted():
    found = lines(*several(200))
    assert len(found) < MOST_LINES
    named = sum(line.startswith("  example ") for line in found)
    assert found[-1].startswith(
        f"{200 - named} more causes, and all cases of a cause: steertag causes "
    )


def test_no_text_of_the_target_reaches_the_terminal_as_it_is():
    found = lines(judged("server.a", "\x1b[2Jname", ""), entry("server.b", trace=["\x07"]))
    assert not any(set("\x1b\x07\n") & set(line) for line in found)


def test_a_report_without_causes_is_folded_by_its_reasons():
    row = entry("server.a")
    del row["cause"]
    assert lines(row)[0] == f"1 cause, 1 case: the server breaks {CLAUSES[GRANT]}"


@pytest.fixture
def report(tmp_path):
    cases = [entry("server.a"), entry("server.b", WRITE), entry("server.c", WRITE)]
    (tmp_path / "report.json").write_text(json.dumps({"cases": cases, "clauses": CLAUSES}))
    return tmp_path


def test_the_command_shows_the_digest_and_the_cases_of_a_cause(report, capsys):
    assert cli.main(["causes", str(report)]) == 0
    assert capsys.readouterr().out.startswith("2 causes, 3 cases; in 2 of them: ")
    assert cli.main(["causes", str(report / "report.json"), "--cause", "1"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == f"cause 1, 2 cases: the server breaks {CLAUSES[WRITE]}"
    assert [line.split()[1] for line in shown[-2:]] == ["server.b:", "server.c:"]


def test_the_command_gives_ids_for_scripts(report, capsys):
    assert cli.main(["causes", str(report), "--cause", "1", "--ids"]) == 0
    assert capsys.readouterr().out.split() == ["server.b", "server.c"]


@pytest.mark.parametrize("number", ["0", "3", "-1"])
def test_a_cause_that_is_not_there_is_named(report, capsys, number):
    assert cli.main(["causes", str(report), f"--cause={number}"]) == 2
    assert capsys.readouterr().err == f"steertag: --cause {number}: the report has 2 causes\n"


@pytest.mark.parametrize(
    "content",
    ["", "[]", '{"cases": [{"verdict": "fail"}]}', '{"cases": null}', '{"cases": [1]}'],
)
def test_what_is_no_report_is_refused(tmp_path, content):
    (tmp_path / "report.json").write_text(content)
    with pytest.raises(BadReport, match="is not a report of the suite: "):
        load(tmp_path)


@pytest.mark.parametrize(
    "change", [{"kind": "odd"}, {"event": "4"}, {"trace": [1]}, {"text": None}, {"rule": []}]
)
def test_a_damaged_cause_is_refused(tmp_path, change):
    cases = [entry("server.a", **change)]
    (tmp_path / "report.json").write_text(json.dumps({"cases": cases}))
    with pytest.raises(BadReport):
        load(tmp_path)
