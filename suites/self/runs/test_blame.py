"""`steertag mutation` fails if a case shows another row first than the deviation breaks: here a rule's, and not the
one that the case claims."""

import json

import pytest
from steertag_command import steertag

from steertag import build_paths

# A reply that grants nothing breaks the first row. The made list says that it breaks the second.
RULE, DECLARED = "RFC8166-3.3.1-5", "RFC8166-4.2.3-1"
CASE = f"""
from steertag.suite import case, expect, kinds

@case("server.mine.grant", requirements=["{DECLARED}"])
def test_grant(bench):
    conn = bench.connect(greet=False)
    outcome = conn.exchange(conn.null_call())
    expect.at_least(outcome.header.credit, 1, "{DECLARED}", "grant"BEHIND)
"""


@pytest.fixture
def score(tmp_path):
    """Scores the deviation with the case, whose judgement of the grant has these arguments more."""
    rows = [{"name": "grants-zero", "requirement": DECLARED, "also": []}]
    program = tmp_path / "server"
    program.write_text(
        f"#!/bin/sh\nif [ \"$1\" = --list-deviations ]; then echo '{json.dumps(rows)}'\n"
        f'else exec "{build_paths.tool("steertag-serve")}" "$@"; fi\n'
    )
    program.chmod(0o755)

    def run(behind):
        (tmp_path / "test_mine.py").write_text(CASE.replace("BEHIND", behind))
        files = ["--junit", tmp_path / "out.xml", "--json", tmp_path / "out.json"]
        words = ["--program", program, "--suite", tmp_path, "--report", tmp_path / "report"]
        done = steertag("mutation", *words, *files, "--blame", "grants-zero")
        (row,) = json.loads((tmp_path / "out.json").read_text())
        return done, row, (tmp_path / "out.xml").read_text()

    return run


def test_a_rule_that_is_shown_first_is_wrong_blame(score):
    done, row, junit = score("")
    sentence = (
        f"wrong blame: grants-zero, which breaks {DECLARED}: server.mine.grant shows {RULE} first"
    )
    assert done.returncode == 1 and sentence in done.stdout
    assert (row["outcome"], row["requirement"], row["shown"], row["blame"]) == (
        *("caught", DECLARED, RULE, "wrong"),
    )
    assert junit.count("<failure") == 1 and sentence in junit
    shown = [line.split() for line in done.stdout.splitlines() if line.startswith("grants-zero")]
    assert ["grants-zero", DECLARED, RULE, "wrong", "server.mine.grant"] in shown


def test_a_case_that_names_the_message_shows_its_claim(score):
    done, row, junit = score(", outcome=outcome")
    assert done.returncode == 0, done.stdout
    assert (row["shown"], row["blame"]) == (DECLARED, "right")
    assert "<failure" not in junit
