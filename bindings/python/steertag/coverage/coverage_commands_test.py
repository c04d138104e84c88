"""The matrix of requirements: settled rows, failures of a build, and the three forms of output."""

import html.parser
import json
import os
import subprocess
import sys

import pytest

from steertag import cli, ledger, peer, requirements, suites_place
from steertag.coverage import coverage_commands, coverage_page, coverage_text, gate, matrix
from steertag.coverage.coverage_document import document, url
from steertag.coverage.deviation_results import BadResults, Catch, read
from steertag.testing.coverage_rows import (
    build,
    case,
    CLIENT_CASE,
    deviation,
    entry,
    Exemption,
    SERVER_CASE,
)


@pytest.mark.parametrize(
    "role, subject, expected",
    [
        ("both", "header", ("server", "client")),
        ("sender", "header", ("server", "client")),
        ("receiver", "header", ("server", "client")),
        ("server", "header", ("server",)),
        ("client", "header", ("client",)),
        ("responder", "header", ("server",)),
        ("requester", "header", ("client",)),
        ("responder", "iwarp", ("server", "client")),
        ("requester", "iwarp", ("server", "client")),
        ("server", "iwarp", ("server",)),
    ],
)
def test_a_role_binds_sides(role, subject, expected):
    assert requirements.sides(entry(role=role, subject=subject)) == expected


@pytest.mark.parametrize(
    "role, exemption, cases, states, state",
    [
        ("server", None, [], {"server": "open"}, "open"),
        ("server", None, [SERVER_CASE], {"server": "case"}, "case"),
        ("requester", None, [SERVER_CASE], {"client": "open"}, "open"),
        ("requester", None, [CLIENT_CASE], {"client": "case"}, "case"),
        ("both", None, [SERVER_CASE], {"server": "case", "client": "open"}, "case"),
        ("both", Exemption("unseen"), [], {"server": "exempt", "client": "exempt"}, "exempt"),
        (
            "both",
            Exemption("unseen", role="server"),
            [],
            {"server": "exempt", "client": "open"},
            "open",
        ),
        (
            "both",
            Exemption("unseen", role="server"),
            [CLIENT_CASE],
            {"server": "exempt", "client": "case"},
            "case",
        ),
    ],
)
def test_a_row_is_settled_by_a_case_or_an_exemption(role, exemption, cases, states, state):
    (row,) = build([entry(role=role, exemption=exemption)], cases).rows
    assert (row.states, row.state) == (states, state)


def test_a_case_of_the_other_side_is_none_of_the_row():
    (row,) = build([entry(role="requester")], [SERVER_CASE, CLIENT_CASE]).rows
    assert row.cases == (CLIENT_CASE,)


@pytest.mark.parametrize(
    "role, named, state",
    [
        ("", [], "open"),
        ("", ["RFC8166-1-2"], "open"),
        ("", ["RFC8166-1-2", "RFC8166-1-3"], "restated"),
        ("server", ["RFC8166-1-2", "RFC8166-1-3"], "open"),
    ],
)
def test_a_restated_row_is_as_open_as_what_stands_for_it(role, named, state):
    by = ("RFC8166-1-2", "RFC8166-1-3")
    rows = [entry(exemption=Exemption("restated", role=role, by=by)), *map(entry, by)]
    found = build(rows, [case("server.a.b", *named)])
    assert found.rows[0].state == state
    server = "restated" if len(named) == 2 else "open"
    assert found.rows[0].states == {"server": server, "client": "open"}


def test_what_has_to_be_settled_are_the_musts_of_some_documents():
    rows = [
        entry(f"{document}-1-{number}", level=level)
        for document in ("RFC8166", "RFC8881", "RFC5040", "RFC5531")
        for number, level in enumerate(("MUST", "MUST NOT", "REQUIRED", "SHOULD", "DEF"), 1)
    ]
    found = build(rows)
    ids = [row.requirement.id for row in gate.open_rows(found)]
    required = ("RFC8166", "RFC5040", "RFC8881")  # in reading order
    assert ids == [f"{name}-1-{number}" for name in required for number in (1, 2, 3)]
    assert len(gate.open_rows(found, strict=True)) == len(rows)


def test_each_role_can_be_asked_for():
    found = build([entry()], [SERVER_CASE])
    assert gate.open_rows(found) == []
    assert gate.open_rows(found, each_role=True) == found.rows


def test_every_problem_is_one_sentence():
    rows = [
        entry("RFC8166-1-1"),
        entry("RFC8166-1-2"),
        entry("RFC8166-1-3", exemption=Exemption("unseen")),
        entry("RFC8166-1-4", exemption=Exemption("unseen", role="client")),
        entry("RFC8166-1-5", exemption=Exemption("permission")),
        entry("RFC8166-1-6", exemption=Exemption("restated", by=("RFC8166-1-1", "RFC8166-1-2"))),
        entry("RFC8166-1-7", level="MUST_NOT", exemption=Exemption("unseen", role="client")),
        entry("RFC8166-1-8", exemption=Exemption("restated", role="server", by=("RFC8166-1-4",))),
    ]
    named = [row.id for row in rows[1:5]]
    found = build(rows, [case("server.a.b", *named), case("server.a.c", *named)])
    assert list(gate.problems(found)) == [
        "RFC8166-1-1 (MUST, both): no case and no exemption",
        "RFC8166-1-6 (MUST, both): restated by RFC8166-1-1, RFC8166-1-2, and not each of them has "
        "a case",
        "RFC8166-1-7 (MUST NOT, both): no case, and an exemption of the client only",
        "RFC8166-1-8 (MUST, both): no case, and an exemption of the server only",
        "RFC8166-1-3 is exempt as unseen, but server.a.b is a case of it",
    ]
    assert list(gate.problems(build(rows[4:5]))) == []


def test_a_deviation_breaks_further_rows_too():
    rows = [entry(), entry("RFC8166-1-2"), entry("RFC8166-1-3")]
    found = build(rows, [], [deviation("d", also=("RFC8166-1-3",))])
    assert [len(row.deviations) for row in found.rows] == [1, 0, 1]
    assert (
        list(coverage_text.summary(found))[-1].split()[-1] == "1"
    ), "one deviation, whatever it breaks"


def sample():
    """Two rows that use every field."""
    does_not = deviation("does-not", "It <does> not.")
    exemption = Exemption("restated", by=("RFC8166-1-1",), role="client")
    rows = [entry(), entry("RFC8166-A.2-1", level="DEF", exemption=exemption, note="Well.")]
    cases = [SERVER_CASE, case("server.c.d", "RFC8166-1-1"), case("client.c.d", "RFC8166-1-1")]
    verdicts = {"server.a.b": "pass", "server.c.d": "fail"}
    catches = {("does-not", "RFC8166-1-1"): Catch("caught", "server.c.d")}
    catches["another", "RFC8166-1-1"] = Catch("missed", "")
    return build(rows, cases, [does_not], verdicts=verdicts, catches=catches)


def test_the_table_has_counts_of_cases_and_results():
    lines = list(coverage_text.table(sample()))
    assert lines[2].split() == (
        "RFC8166-1-1 MUST both case 2 1 1 of 1 caught 1 fail, 1 pass".split()
    ), "id, level, role, state, cases of the server's side, of the client's, deviations, results"
    assert lines[3].split()[3:] == ["open", "open", "restated"]
    assert list(coverage_text.summary(sample()))[-1].split() == [
        "all",
        "2",
        "1",
        "0",
        "0",
        "1",
        "0",
        "1",
    ]


def test_the_document_holds_everything():
    content = json.loads(json.dumps(document(sample())))
    assert content["documents"][0]["totals"] == {
        **{"rows": 2, "case": 1, "restated": 0, "exempt": 0, "open": 1}
    }
    first, second = content["requirements"]
    assert first["cases"][0] == {"id": "server.a.b", "side": "server", "verdict": "pass"}
    assert first["cases"][2]["verdict"] is None
    assert first["results"] == {"fail": 1, "pass": 1}
    (tried,) = first["deviations"]
    assert (tried["name"], tried["sentence"]) == ("does-not", "It <does> not.")
    assert (tried["outcome"], tried["caught"]) == ("caught", True)
    assert tried["by"] == "server.c.d"
    assert first["exemption"] is None and first["mandatory"]
    assert second["exemption"] == {
        **{"kind": "restated", "role": "client", "by": ["RFC8166-1-1"], "why": "for a reason"}
    }
    assert second["url"].endswith("/rfc8166#appendix-A.2")
    assert url(entry("CALLAGHAN2003-4-1")) == ""


class Page(html.parser.HTMLParser):
    """Checks that elements are closed in order, and collects ids, links and texts."""

    VOID = {"meta", "input", "br", "link"}

    def __init__(self, content):
        super().__init__()
        self.open, self.ids, self.links, self.text = [], [], [], ""
        self.feed(content)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if "href" in found else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, self.getpos()

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text += data


def test_the_page_is_well_formed_and_escapes_what_it_shows():
    shown = Page(coverage_page.page(document(sample()), "a <server>"))
    assert shown.ids == ["RFC8166-1-1", "RFC8166-A.2-1"]
    assert "It <does> not.\ncaught server.c.d" in shown.text
    for part in ("A <peer> does & does.", "results of a <server>", "It <does> not.", "server.c.d"):
        assert part in shown.text
    links = [link for link in shown.links if link.startswith("#")]
    assert set(link.removeprefix("#") for link in links) <= set(shown.ids)


def test_what_was_not_tried_has_no_outcome():
    first, other = deviation("d", "No."), deviation("e", "Nor this.")
    found = build([entry()], [], [first])
    assert list(coverage_text.table(found))[2].split()[4:] == ["open", "open", "1"]
    assert document(found)["requirements"][0]["deviations"] == [
        {"name": "d", "sentence": "No.", "outcome": None, "caught": None, "by": None}
    ]
    row = "RFC8166-1-1"
    missed = build([entry()], [], [first], catches={("d", row): Catch("misjudged", "")})
    assert list(coverage_text.table(missed))[2].endswith("  0 of 1 caught")
    catches = {("e", row): Catch("caught", "server.a.b"), ("e", "RFC8166-1-2"): Catch("missed", "")}
    partly = build([entry()], [], [first, other], catches=catches)
    assert list(coverage_text.table(partly))[2].endswith("  1 of 1 caught, 1 not tried")


def test_results_of_deviations_are_read(tmp_path):
    path = tmp_path / "deviations.json"
    row = {"name": "d", "requirement": "RFC8166-1-1", "outcome": "caught", "by": "server.a.b"}
    row |= {"failed": ["server.a.b", "server.c.d"], "whole": True}
    path.write_text(json.dumps([row]))
    catch = Catch("caught", "server.a.b", ("server.a.b", "server.c.d"), True)
    assert read(path) == [(("d", "RFC8166-1-1"), catch)] and catch.caught
    for content in ("", "5", "[5]", "[{}]", json.dumps([row | {"by": None}]), "[" * 100_000):
        path.write_text(content)
        with pytest.raises(BadResults, match=f"^{path} was not written by steertag mutation: ."):
            read(path)


def test_the_page_of_the_real_ledger_has_every_row_once():
    entries = ledger.requirements()
    content = document(build(entries, deviations=peer.deviations()))
    shown = Page(coverage_page.page(content, ""))
    assert sorted(shown.ids) == [row.id for row in entries]
    for link in shown.links:
        assert link.removeprefix("#") in shown.ids or link.startswith("https://www.rfc-editor.org/")


CASE = """
@case({id!r}, requirements={rows})
def test_{side}(bench):
    bench.connect()
"""


@pytest.fixture
def suite(tmp_path):
    """A folder with one case for each side. It covers the rows in scope without an exemption."""
    (tmp_path / "pyproject.toml").write_text(
        "[tool.pytest.ini_options]\naddopts = '-p steertag.suite.plugin'\n"
    )
    has_to = gate.open_rows(build(ledger.requirements()), each_role=True)
    content = "from steertag.suite import case\n"
    for side in requirements.SIDES:
        rows = [row.requirement.id for row in has_to if row.states.get(side) == matrix.OPEN]
        content += CASE.format(id=f"{side}.it.works", rows=rows, side=side)
    (tmp_path / "test_it.py").write_text(content)
    return tmp_path


def steertag(*arguments):
    return cli.main([str(each) for each in arguments])


def test_the_command_prints_writes_and_tells_by_its_status(suite, capsys):
    written = ["--json", suite / "it.json", "--html", suite / "it.html"]
    assert steertag("coverage", suite, *written) == 0
    printed = capsys.readouterr().out
    assert "RFC8797-4.1-3" in printed and "no case" not in printed
    assert "\n0 rows that have to be settled are open\n" in printed
    rows = json.loads((suite / "it.json").read_text())["requirements"]
    row = next(row for row in rows if row["id"] == "RFC8797-4.1-3")
    assert [case["id"] for case in row["cases"]] == ["server.it.works"]
    assert "server.it.works" in (suite / "it.html").read_text()

    assert rows and json.loads((suite / "it.json").read_text())["unbroken_cases"] == {
        "server": [],
        "client": [],
    }

    assert steertag("coverage", suite, "--summary", "--unbroken-cases") == 0
    printed = capsys.readouterr().out
    for side in requirements.SIDES:
        assert f"0 of 1 cases for {side}s claim no row that a deviation breaks" in printed

    assert steertag("coverage", suite, "--summary", "--strict") == coverage_commands.UNSETTLED
    assert "RFC5531-10-1 (MUST, both): no case" in capsys.readouterr().out


def test_an_open_row_fails_the_command(suite, capsys):
    cases = (suite / "test_it.py").read_text()
    (suite / "test_it.py").write_text(cases.replace("'RFC8797-4.1-3'", "'RFC8797-4-10'"))
    assert steertag("coverage", suite, "--summary") == coverage_commands.UNSETTLED
    printed = capsys.readouterr().out
    assert "\n1 rows that have to be settled are open\n" in printed
    assert "RFC8797-4.1-3 (MUST, responder): no case and no exemption" in printed
    assert coverage_commands.HOW_TO_SETTLE in printed


def test_missing_pairs_fail_the_command(suite, capsys):
    assert steertag("coverage", suite, "--pairs") == coverage_commands.UNSETTLED
    assert "missing: there is no case named ROLE.combination" in capsys.readouterr().out


def test_the_command_shows_results_of_runs(suite, capsys):
    """The worst of several verdicts, and which case caught which deviation."""
    row = {"id": "server.it.works", "reason": "x", "findings": []}
    reports = []
    for verdict in ("warn", "fail", "pass"):
        content = row | {"verdict": verdict, "requirements": ["RFC8797-4.1-3"]}
        path = suite / f"{verdict}.json"
        path.write_text(json.dumps({"target": "iwarp://host", "cases": [content]}))
        reports += ["--report", path]
    broken = next(each for each in peer.deviations() if each.requirement == "RFC8797-4.1-3")
    caught = {"name": broken.name, "requirement": broken.requirement, "outcome": "caught"}
    caught["by"] = "server.it.works"
    caught |= {"failed": ["server.it.works"], "whole": False}
    (suite / "deviations.json").write_text(json.dumps([caught]))
    reports += ["--deviations", suite / "deviations.json"]
    steertag("coverage", suite, *reports, "--html", suite / "it.html")
    line = next(
        line for line in capsys.readouterr().out.splitlines() if line.startswith("RFC8797-4.1-3")
    )
    assert "1 of " in line and line.endswith("1 fail")
    shown = Page((suite / "it.html").read_text()).text
    assert "results of iwarp://host" in shown
    assert f"{broken.name}: {broken.sentence}\ncaught server.it.works" in shown


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--report", "none.json"], "there is no report none.json"),
        (["--deviations", "none.json"], "none.json cannot be read: No such file"),
        (["--json", "no/folder/it.json"], "no/folder/it.json: No such file"),
        (["--json", ""], ".: Is a directory"),
    ],
)
def test_what_cannot_be_done_ends_with_one_sentence(suite, capsys, arguments, sentence):
    assert steertag("coverage", suite, *arguments) == 2
    assert sentence in capsys.readouterr().err


def test_explain_prints_all_of_a_requirement(capsys):
    assert steertag("explain", "RFC8166-4.6.1-2", "RFC8166-4.6-1") == 0
    printed = capsys.readouterr().out
    for line in (
        "RFC8166-4.6.1-2  SHOULD, responder, legacy",
        "  clause: https://www.rfc-editor.org/rfc/rfc8166#section-4.6.1",
        "  case: server.legacy.msgp-write",
        "  deviation: msgp-discarded: RDMA_MSGP is discarded.",
        "  exemption: restated: The two messages have a row each.",
        "  instead: RFC8166-4.6.1-1, RFC8166-4.6.2-1",
    ):
        assert line in printed.splitlines()
    assert steertag("explain", "RFC8166-4.6.1-3") == 0  # a row of clients
    assert "  deviation: msgp-taken: RDMA_MSGP is taken for a reply." in capsys.readouterr().out
    assert steertag("explain", "RFC8166-0-0") == 2
    assert "'RFC8166-0-0' is not in the ledger" in capsys.readouterr().err


@pytest.mark.parametrize(
    "word, lines",
    [
        ("rfc8166-4.6.1-2", ["RFC8166-4.6.1-2  SHOULD, responder, legacy"]),
        ("Server.Legacy.msgp-write", ["server.legacy.msgp-write  case for a server, safe"]),
        (
            "server.legacy.msgp-write",
            [
                "  run: steertag test URL --case server.legacy.msgp-write",
                "  deviation: msgp-discarded",
            ],
        ),
        ("RFC8166-4.6.1", ["  RFC8166-4.6.1-2  SHOULD, responder, "]),
        ("rfc 8166 section 4.6", ["  RFC8166-4.6.1-2  SHOULD, responder, "]),
        ("rfc8166", ["  RFC8166-4.6.1-2  SHOULD, responder, "]),
        (
            "Legacy",
            ["legacy  topic of ", "  server.legacy.msgp-write", "  client.legacy."],
        ),
        ("server.legacy", ["server.legacy  topic of ", "  server.legacy.msgp-write"]),
        (
            "MSGP-discarded",
            [
                "msgp-discarded  deviation of our own server",
                "  RDMA_MSGP is discarded.",
                "  case: server.legacy.msgp-write",
                "  run: steertag test bundled --deviate msgp-discarded",
            ],
        ),
    ],
)
def test_explain_takes_whatever_has_a_name(capsys, word, lines):
    assert steertag("explain", word) == 0
    printed = capsys.readouterr().out.splitlines()
    for line in lines:
        assert any(each.startswith(line) for each in printed), line


@pytest.mark.parametrize(
    "word, near",
    [
        ("server.legacy.msgp-writ", "server.legacy.msgp-write"),
        ("msgp-discard", "msgp-discarded"),
        ("RFC8166-4.6.1-22", "RFC8166-4.6.1-2"),
    ],
)
def test_explain_suggests_the_nearest(capsys, word, near):
    assert steertag("explain", "RFC8166-4.6.1-2", word) == 2
    told = capsys.readouterr()
    assert told.out == "", "nothing is printed before all words are known"
    assert f"did you mean {near}" in told.err


def test_explain_needs_no_suites(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(suites_place, "root", lambda: tmp_path)
    assert steertag("explain", "RFC8166-4.6.1-2") == 0
    assert f"  cases: not known, there are no suites in {tmp_path}" in capsys.readouterr().out
    assert steertag("coverage") == 2


def test_without_an_engine_the_command_says_so(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from steertag.cli import main; sys.exit(main())"]
        + ["coverage"],
        env={**os.environ, "STEERTAG_BUILD": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("steertag: Steertag's engine is not built")
    assert done.stderr.count("\n") == 1


def test_rows_are_in_reading_order():
    ids = [
        *("RFC8166-3.3.1-9", "RFC8166-3.3.1-10", "RFC8166-3.3.3-1", "RFC8166-4-2", "RFC8166-4.1-1"),
        *("RFC8166-4.10-1", "RFC8166-A.2-1", "RFC8797-1-1", "CALLAGHAN2003-4-1", "RFC5666-3.3-1"),
    ]
    assert [row.requirement.id for row in build(map(entry, sorted(ids))).rows] == ids
