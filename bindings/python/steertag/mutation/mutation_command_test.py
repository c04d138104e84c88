"""`steertag mutation` as a command: choice of deviations, output, files and exit status."""

import json

import pytest

from steertag import cli, suites_place
from steertag.mutation import claims, scorer
from steertag.mutation.deviating_peer import CannotScore

RULE = "RFC8166-4.2.1-1"
WRONG = "RFC8166-4.3.1-1"
CASES = f"""
import pytest
from steertag.suite import case

@case("server.it.works.{{name}}", ["{RULE}"])
@pytest.mark.parametrize("name", ["a", "b"])
def test_it(bench, name):
    bench.connect()
"""


@pytest.fixture
def program(tmp_path):
    """A program that lists two deviations; one breaks two requirements."""
    rows = [
        {"name": "d", "requirement": RULE, "also": ["RFC8166-4.2.2-1"]},
        {"name": "e", "requirement": RULE, "also": []},
    ]
    path = tmp_path / "program"
    path.write_text(f"#!/bin/sh\necho '{json.dumps(rows)}'\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def suite(tmp_path):
    folder = tmp_path / "cases"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(
        "[tool.pytest.ini_options]\naddopts = '-p steertag.suite.plugin'\n"
    )
    (folder / "test_it.py").write_text(CASES)
    return folder


def steertag(*arguments):
    return cli.main(["mutation", *map(str, arguments)])


def test_claims_are_collected_without_a_run(suite):
    found = claims.from_suite(suite)
    nodes = [f"{suite}/test_it.py::test_it[{name}]" for name in "ab"]
    assert found.nodes == {RULE: nodes}
    assert found.cases == {"server.it.works.a": nodes[0], "server.it.works.b": nodes[1]}
    (suite / "test_it.py").write_text("import nothing_of_this_name\n")
    with pytest.raises(CannotScore, match="cannot be collected"):
        claims.from_suite(suite)


@pytest.mark.parametrize("word, status", [("caught", 0), ("missed", 1)])
def test_the_status_says_whether_each_was_caught(
    tmp_path, monkeypatch, capsys, program, suite, word, status
):
    def score(self, deviation):
        assert self._claims == claims.from_suite(suite).nodes
        return scorer.Outcome(deviation, word, "server.it.works.a")

    monkeypatch.setattr(scorer.Scorer, "score", score)
    table = tmp_path / "table.json"
    written = ("--program", program, "--suite", suite, "--json", table)
    assert steertag(*written, "--junit", tmp_path / "table.xml", "d") == status
    assert f"mutation score: {1 - status} of 1 deviations" in capsys.readouterr().out
    assert [row["outcome"] for row in json.loads(table.read_text())] == [word, word]
    assert (tmp_path / "table.xml").is_file()


@pytest.mark.parametrize("shown, status", [(RULE, 0), ("RFC8166-4.2.2-1", 0), (WRONG, 1)])
def test_the_status_says_whether_one_is_blamed_wrongly(
    monkeypatch, capsys, program, suite, shown, status
):
    def score(self, deviation):
        return scorer.Outcome(deviation, "caught", "server.it.works.a", shown=shown)

    monkeypatch.setattr(scorer.Scorer, "score", score)
    assert steertag("--program", program, "--suite", suite, "--blame", "d") == status
    out = capsys.readouterr().out
    sentence = f"wrong blame: d, which breaks {RULE}: server.it.works.a shows {WRONG} first"
    assert (sentence in out) == bool(status)
    assert ("first shown" in out) == (shown != RULE)


def test_all_runs_are_over_the_provider_that_was_named(monkeypatch, capsys, program, suite):
    def score(self, deviation):
        assert self._provider == "roce"
        return scorer.Outcome(deviation, "caught", "server.it.works.a")

    monkeypatch.setattr(scorer.Scorer, "score", score)
    assert steertag("--program", program, "--suite", suite, "--provider", "roce") == 0
    assert "mutation score over roce: 2 of 2 deviations" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["x"], "the server has no deviation x"),
        (["--program", "no/program"], "does not run"),
        (["--conforming", "none.xml", "d"], "none.xml is no JUnit file of the suite"),
    ],
)
def test_what_cannot_be_done_ends_with_one_sentence(capsys, program, suite, arguments, sentence):
    assert steertag("--program", program, "--suite", suite, *arguments) == 2
    assert sentence in capsys.readouterr().err


def test_without_suites_the_cases_have_to_be_named(capsys, monkeypatch, tmp_path, program):
    monkeypatch.setattr(suites_place, "root", lambda: tmp_path)
    assert steertag("--program", program) == 2
    assert "name their folder with --suite" in capsys.readouterr().err
