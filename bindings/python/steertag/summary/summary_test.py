"""The summary in each format: what it says, how long it gets, and that no word of a target becomes markup."""

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
import yaml

from steertag import cli
from steertag.summary import run_summary, summary_page, workflow_commands
from steertag.testing.github_runner import obeyed

GRANT, WRITE = "RFC8166-3.3.1-5", "RFC8166-8.1.4-2"
CLAUSES = {
    GRANT: "RFC 8166 3.3.1 (MUST NOT): A granted credit value is never zero.",
    WRITE: "RFC 8166 8.1.4: Writing more than the requester offered must not happen.",
}
LIMIT_S = 60


def entry(case, requirement=GRANT, verdict="fail", **fields):
    """A case of report.json that went wrong."""
    cause = {"kind": "rule", "requirement": requirement, "rule": "a_rule", "text": "credit 0"}
    cause |= {"expected": "at least 1", "connection": 1, "event": 4, "follows": []}
    cause |= {"trace": ["  #3 client send", "> #4 server send"]} | fields
    row = {"id": case, "verdict": verdict, "reason": f"{requirement}: a_rule", "cause": cause}
    row |= {"capture": None, "replay": None, "findings": []}
    return row | {"requirements": [requirement] if requirement else []}


def crash(case, text):
    return entry(case, "", "crash", kind="crash", rule="", text=text)


def quiet(case, verdict="pass", reason=""):
    """A case that did not go wrong."""
    row = {"id": case, "verdict": verdict, "reason": reason, "cause": None, "requirements": []}
    return row | {"capture": None, "replay": None, "findings": []}


@pytest.fixture
def report(tmp_path):
    def write(*entries, **head):
        document = {"target": "iwarp://host/export", "steertag": "0.1.0", "clauses": CLAUSES}
        (tmp_path / "report.json").write_text(json.dumps(document | head | {"cases": entries}))
        return tmp_path

    return write


@pytest.fixture
def baseline(tmp_path):
    def write(*cases, reason=f"{GRANT}: a_rule"):
        keys = ("case", "verdict", "requirement", "reason", "note")
        rows = [dict(zip(keys, (case, "fail", GRANT, reason, "grants none"))) for case in cases]
        path = tmp_path / "known.yaml"
        path.write_text(yaml.safe_dump({"target": "t", "rows": rows}, sort_keys=False))
        return path

    return write


def load(*arguments, **how):
    return run_summary.load(*arguments, **how)


def printed(capsys, *arguments):
    status = cli.main(["summary", *map(str, arguments)])
    shown = capsys.readouterr()
    assert (status, shown.err) == (0, "")
    return shown.out


# -- what the run was ------------------------------------------------------------------------------


def test_a_clean_run_has_counts_and_no_annotation(report, capsys):
    path = report(quiet("server.a"), quiet("server.b", "latitude", "closes"))
    page = printed(capsys, path)
    assert page.startswith("## Steertag: 2 pass\n")
    assert "    target    iwarp://host/export\n" in page and "### " not in page
    assert printed(capsys, path, "--format", "github") == ""
    assert json.loads(printed(capsys, path, "--format", "gitlab")) == []


def test_the_page_has_the_cause_of_most_cases_first(report, capsys):
    page = printed(
        capsys, report(entry("server.a"), entry("server.b", WRITE), entry("server.c", WRITE))
    )
    titles = re.findall("^### (.*)$", page, re.MULTILINE)
    assert titles == [
        f"1. 2 cases: the server breaks {CLAUSES[WRITE]}",
        f"2. 1 case: the server breaks {CLAUSES[GRANT]}",
    ]
    assert "\n          #3 client send\n        > #4 server send\n" in page
    assert "\n`server.b`, `server.c`\n" in page


def test_many_failures_of_one_cause_are_one_item(report, capsys):
    path = report(*(entry(f"server.{n}") for n in range(1432)))
    page = printed(capsys, path)
    assert page.startswith("## Steertag: 1 cause, 1,432 cases\n")
    assert page.count("### ") == 1 and "and 1,422 more" in page
    assert len(obeyed(printed(capsys, path, "--format", "github"))) == 1


def test_warnings_are_no_errors(report, capsys):
    path = report(entry("server.a", verdict="warn"), quiet("server.b"))
    (command,) = obeyed(printed(capsys, path, "--format", "github"))
    assert command.name == "warning"
    assert printed(capsys, path).startswith("## Steertag: 1 pass, 1 warning\n")
    (found,) = json.loads(printed(capsys, path, "--format", "gitlab"))
    assert found["severity"] == "minor"


def test_what_was_not_tested_is_counted_by_reason(report, capsys):
    cases = [quiet(f"server.{n}", "not-testable", "needs tcp") for n in range(3)]
    page = printed(capsys, report(quiet("server.a"), *cases))
    assert page.startswith("## Steertag: 1 pass, 3 not tested\n")
    assert page.endswith("### Not tested\n\n    3 cases: needs tcp\n")


# -- a run without a report, or with a fault of its own ------------------------------------------


@pytest.mark.parametrize("status", [3, 4, 5, 137])
def test_a_run_without_a_report_says_why_whatever_lies_there(report, capsys, status):
    path = report(quiet("server.of-an-older-run"))
    shown = {
        name: printed(capsys, path, "--format", name, "--status", status)
        for name in ("markdown", "github", "badge")
    }
    assert "no result" in shown["markdown"] and f"exit status {status}: " in shown["markdown"]
    assert "older-run" not in shown["markdown"]
    (command,) = obeyed(shown["github"])
    assert command.name == "error" and f"exit status {status}: " in command.words
    assert json.loads(shown["badge"])["color"] == "lightgrey"


@pytest.mark.parametrize(
    "status, words",
    [
        (1, "exit status 1 and no failed case"),
        (2, "exit status 2: the run ended early"),
        (6, "exit status 6: nothing failed, but --require-complete"),
    ],
)
def test_a_run_that_fails_by_no_case_is_failed(report, status, words):
    found = load(report(quiet("server.a"), quiet("server.b", "not-testable", "x")), status=status)
    assert found.is_failed and found.items[0].sentence.startswith(words)


def test_a_stopped_run_shows_its_causes_and_says_nothing_on_rows(report, baseline):
    path = report(entry("server.a"), stopped="the server is gone")
    first, second = load(path, baseline("server.z")).items
    assert first.sentence == "the run stopped before its end: the server is gone"
    assert second.cases == ("server.a",)


def test_an_empty_report_is_a_failure(report):
    assert load(report()).is_failed


@pytest.mark.parametrize("content", ["", "[]", '{"cases": [1]}', '{"cases": [{"verdict": 1}]}'])
def test_what_is_no_report_is_refused(tmp_path, capsys, content):
    (tmp_path / "report.json").write_text(content)
    assert cli.main(["summary", str(tmp_path)]) == 2
    assert "is not a report of the suite: " in capsys.readouterr().err


def test_a_missing_report_is_named(tmp_path, capsys):
    assert cli.main(["summary", str(tmp_path / "none")]) == 2
    assert "none: No such file" in capsys.readouterr().err


# -- with a baseline ------------------------------------------------------------------------------


def test_known_failures_are_no_items(report, baseline, capsys):
    path, known = report(entry("server.a"), quiet("server.b")), baseline("server.a")
    assert printed(capsys, path, "--baseline", known).startswith("## Steertag: 1 pass, 1 known\n")
    assert printed(capsys, path, "--baseline", known, "--format", "github") == ""
    badge = json.loads(printed(capsys, path, "--baseline", known, "--format", "badge"))
    assert badge == {
        "schemaVersion": 1,
        "label": "NFS/RDMA",
        "message": "1 pass, 1 known",
        "color": "brightgreen",
    }


def test_a_stale_row_is_an_annotation_of_its_line(report, baseline, capsys):
    path, known = report(entry("server.a"), quiet("server.b")), baseline("server.a", "server.b")
    (command,) = obeyed(printed(capsys, path, "--baseline", known, "--format", "github"))
    line = known.read_text().splitlines()[int(command.properties["line"]) - 1]
    assert line == "- case: server.b" and command.properties["file"] == str(known)
    assert command.words.startswith(f"stale row: expected fail: {GRANT}: a_rule, seen pass\n")
    (found,) = json.loads(printed(capsys, path, "--baseline", known, "--format", "gitlab"))
    assert found["location"] == {
        "path": str(known),
        "lines": {"begin": int(command.properties["line"])},
    }


def test_a_name_of_the_baseline_cannot_add_a_property(report, baseline, tmp_path, capsys):
    odd = baseline("server.b").rename(tmp_path / "a,title=b::c%0A.yaml")
    path = report(quiet("server.b"))
    (command,) = obeyed(printed(capsys, path, "--baseline", odd, "--format", "github"))
    assert command.properties["file"] == str(odd)
    assert command.properties["title"] == "Steertag: 1 case"


def test_new_failures_of_one_cause_are_one_item_with_its_trace(report, baseline):
    path = report(entry("server.a"), entry("server.b"), entry("server.c"))
    found = load(path, baseline("server.a"))
    (item,) = found.items
    assert item.cases == ("server.b", "server.c")
    assert item.sentence == f"new failure: {CLAUSES[GRANT]}"
    assert "    > #4 server send" in item.details
    assert found.result == "2 cases not as the baseline says"


def test_a_baseline_that_cannot_be_used_is_refused(report, tmp_path, capsys):
    (tmp_path / "bad.yaml").write_text("rows: 1\n")
    path = report(quiet("server.a"))
    assert cli.main(["summary", str(path), "--baseline", str(tmp_path / "bad.yaml")]) == 2
    assert "bad.yaml is not a baseline" in capsys.readouterr().err


# -- limits -----------------------------------------------------------------------------------------


def test_github_gets_no_more_annotations_than_it_shows(report, capsys):
    cases = [crash(f"server.{n}", f"ended {chr(97 + n) * 3}") for n in range(15)]
    found = obeyed(printed(capsys, report(*cases), "--format", "github"))
    assert len(found) == workflow_commands.MOST_OF_LEVEL
    assert found[-1].words == "6 more: the summary of the job has them"


def test_a_long_annotation_is_cut(report, capsys):
    path = report(entry("server.a", trace=["> " + "x" * 50000]))
    found = obeyed(printed(capsys, path, "--format", "github"))
    assert [len(command.words) for command in found] == [workflow_commands.MOST_CHARACTERS + 4]


def test_the_page_stays_below_its_limit(report, capsys):
    trace = ["> " + "ä" * 60000]
    cases = [crash(f"server.{n}", f"ended {chr(97 + n) * 3}") for n in range(20)]
    for case in cases:
        case["cause"]["trace"] = trace
    page = printed(capsys, report(*cases)).encode()
    assert summary_page.MOST_OCTETS // 2 < len(page) <= summary_page.MOST_OCTETS
    assert page.endswith(b"*The rest is left out: the page is at its limit.*\n")


def test_many_causes_are_counted_in_the_end(report, capsys):
    cases = [
        crash(f"server.{n}", f"ended {chr(97 + n // 26)}{chr(97 + n % 26)}") for n in range(130)
    ]
    page = printed(capsys, report(*cases))
    assert page.count("### ") == summary_page.MOST_IN_FULL
    listed = re.findall("^[0-9]+[.] 1 case: ", page, re.MULTILINE)
    assert len(listed) == summary_page.MOST_IN_A_LINE
    assert "\n10 more, which `steertag causes` shows\n" in page


def test_fingerprints_are_those_of_causes(report, capsys):
    def fingerprints(*entries):
        path = report(*entries)
        found = json.loads(printed(capsys, path, "--format", "gitlab"))
        return [each["fingerprint"] for each in found]

    first = fingerprints(entry("server.a", text="credit 0 in 0x1"), entry("server.b", WRITE))
    again = fingerprints(entry("server.b", WRITE), entry("server.a", text="credit 0 in 0x2"))
    assert len(set(first)) == 2 and set(first) == set(again)


# -- words of a hostile target --------------------------------------------------------------------

HOSTILE = [
    "::error::x",
    "a\n::set-output name=status::0",
    "a\r::add-mask::e",
    "##[add-mask]e",
    "%0A::add-path::/tmp",
    "<script>alert(1)</script>",
    "<!-- ",
    "&lt;b&gt;",
    "[x](https://evil.example)",
    "![x](https://evil.example/x.png)",
    "https://evil.example",
    "www.evil.example",
    "someone@evil.example",
    "`",
    "``` x",
    "a `` b ` c",
    "~~x~~ **x** _x_",
    "a\n\n# x",
    "| a | b |",
    "- [ ] x",
    "\\",
    "\u202e x",
]
HARMLESS = "words"


def everywhere(words):
    """A report with the words in every place where a target may have its own."""
    cases = [
        crash("server.a", words),
        entry("server.b", text=words, expected=words, trace=[words, f"> {words}"]),
        entry("server.c", "", "fail", kind="judged", rule="", text=words),
        entry("server.d", "", "fail", kind="refused", rule="", text=words),
        entry("server.e", "", "harness-error", kind="harness", rule="", text=words),
        quiet("server.f", "not-testable", words),
    ]
    head = {"target": words, "software": words, "name": words, "stopped": words}
    return {"cases": cases, **head}


def write_everywhere(report, words):
    content = everywhere(words)
    return report(*content.pop("cases"), **content)


@pytest.mark.parametrize("words", HOSTILE)
def test_github_obeys_our_annotations_only(report, capsys, words):
    output = printed(capsys, write_everywhere(report, words), "--format", "github")
    found = obeyed(output)
    assert len(found) == len(output.splitlines()) == 6
    assert {command.name for command in found} == {"error"}
    assert {frozenset(command.properties) for command in found} == {frozenset(["title"])}


def structure(page):
    """The elements of a page as GitHub's own parser sees them, without their texts."""
    command = ["cmark-gfm", "--to", "xml", "--unsafe"]
    for name in ("autolink", "table", "strikethrough", "tasklist"):
        command += ["--extension", name]
    done = subprocess.run(
        command, input=page, capture_output=True, text=True, timeout=LIMIT_S, check=True
    )
    return [element.tag for element in ElementTree.fromstring(done.stdout).iter()]


@pytest.mark.skipif(shutil.which("cmark-gfm") is None, reason="cmark-gfm is not installed")
@pytest.mark.parametrize("words", HOSTILE)
def test_no_word_of_the_target_is_markup(report, capsys, words):
    plain = structure(printed(capsys, write_everywhere(report, HARMLESS)))
    assert any(tag.endswith("code") for tag in plain) and len(plain) > 20
    assert structure(printed(capsys, write_everywhere(report, words))) == plain


@pytest.mark.parametrize("words", HOSTILE)
def test_no_line_end_of_the_target_reaches_a_page(report, capsys, words):
    path = write_everywhere(report, words)
    plain = printed(capsys, path)
    lines = len(printed(capsys, write_everywhere(report, HARMLESS)).splitlines())
    assert len(plain.splitlines()) == lines
    assert not any(character in plain for character in "\r\x1b\u202e")


def test_the_runner_of_these_tests_obeys_both_syntaxes():
    """Else the tests above would show nothing."""
    found = obeyed(
        "x ##[add-mask]a\n  ::error file=a%2Cb,line=1::c%0Ad\n::stop-commands::t\n::error::e\n::t::\n"
    )
    assert [(command.name, command.words) for command in found] == [
        ("add-mask", "a"),
        ("error", "c\nd"),
    ]
    assert found[1].properties == {"file": "a,b", "line": "1"}
