"""A case of a user's own, outside of this tree: it needs the documented import and nothing else.

A mistake of its author is reported as one."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

import pytest
import warm_runs

PROJECT = pathlib.Path(__file__).resolve().parents[3]
DOCS = PROJECT / "docs"
PAGES = [DOCS / "guide" / "server.md", *sorted((DOCS / "contributing").glob("*case.md"))]
# An example is a block of indented lines with a case.
EXAMPLE = re.compile(r"(?:^    .*\n|^\n(?=\n?    ))+", re.MULTILINE)
RUN_LIMIT_S = 120
RULE = "RFC8166-3.3.3-1"
CASE = f"""
from steertag.suite import case, expect, kinds


@case("server.mine.null", requirements=["{RULE}"]NEEDS)
def test_null(bench):
    conn = bench.connect()
    expect(conn.exchange(conn.null_call()), RULE, EXPECTED)
"""


def run_pytest(folder, *arguments, expected="must=[kinds.REPLY]", rule=f'"{RULE}"', needs=""):
    """pytest on the case in its folder, as a user's shell starts it: no settings of this tree."""
    text = CASE.replace("EXPECTED", expected).replace("RULE", rule).replace("NEEDS", needs)
    return run_text(folder, text, *arguments)


def run_text(folder, text, *arguments):
    """pytest on the text of a case, with the bundled server or client."""
    (folder / "test_mine.py").write_text(text)
    own = ("PYTEST", "STEERTAG_NEED", "STEERTAG_SERVE", "STEERTAG_COPY")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    words = ["-q", *arguments, "test_mine.py"]
    return warm_runs.completed("pytest", words, folder, RUN_LIMIT_S, environment)


def examples():
    """{"page id": text} of the examples with a case in the pages."""
    found = {}
    for page in PAGES:
        for block in EXAMPLE.findall(page.read_text(encoding="utf-8")):
            named = re.search(r'@case\("([^"]+)"', block)
            if named:
                found[f"{page.name} {named[1]}"] = textwrap.dedent(block).strip("\n") + "\n"
    return found


EXAMPLES = examples()


def rows(folder):
    document = json.loads((folder / "build" / "report" / "report.json").read_text())
    return [(row["id"], row["verdict"], row["reason"]) for row in document["cases"]]


@pytest.mark.parametrize(
    "arguments", [(), ("-p", "steertag.suite.plugin"), ("-p", "no:cacheprovider"), ("-n", "1")]
)
def test_it_runs_against_the_bundled_server(tmp_path, arguments):
    done = run_pytest(tmp_path, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert rows(tmp_path) == [("server.mine.null", "pass", "")]


def test_the_pages_have_examples_of_both_suites():
    sides = {name.split()[1].split(".")[0] for name in EXAMPLES if "case.md" in name}
    assert sides == {"server", "client"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_passes_as_it_stands_in_the_page(tmp_path, name):
    done = run_text(tmp_path, EXAMPLES[name])
    assert done.returncode == 0, done.stdout + done.stderr
    assert rows(tmp_path) == [(name.split()[1], "pass", "")]


@pytest.mark.skipif(shutil.which("black") is None, reason="black is not installed")
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_formatted(name):
    command = ["black", "--quiet", "--line-length", "100", "-"]
    done = subprocess.run(
        command, input=EXAMPLES[name], capture_output=True, text=True, timeout=RUN_LIMIT_S
    )
    assert (done.returncode, done.stdout) == (0, EXAMPLES[name])


def test_it_can_fail(tmp_path):
    done = run_pytest(tmp_path, expected="must=[kinds.ERR_VERS]")
    assert done.returncode == 1, done.stdout + done.stderr
    (row,) = rows(tmp_path)
    assert row == ("server.mine.null", "fail", f"{RULE}: expected err-vers, saw reply")


MISTAKES = {
    "must": (
        dict(expected='must=["err-verz"]'),
        "'err-verz' is no kind of outcome; near are err-vers",
    ),
    "should": (dict(expected='should=("repli",)'), "'repli' is no kind of outcome; near are reply"),
    "latitude": (
        dict(expected='must=["reply"], latitude={"nfs:NFS3ERR_BADHANDEL": "why"}'),
        "near are nfs:NFS3ERR_BADHANDLE",
    ),
    "warn": (
        dict(expected='must=["reply"], warn={"rpc:GARBAGE": "why"}'),
        "near are rpc:GARBAGE_ARGS",
    ),
    "by place": (dict(expected='["err-verz"]'), "'err-verz' is no kind of outcome"),
    "no list": (dict(expected='must="reply"'), "expect takes a list of kinds"),
    "constant": (dict(expected="must=[kinds.REPLAY]"), "there is no kinds.REPLAY; near are REPLY"),
    "undeclared": (
        dict(rule='"RFC8166-3.3.3"'),
        f"RFC8166-3.3.3 is not declared by the case; near is {RULE}",
    ),
    "need": (dict(needs=', needs=["nfs42"]'), "unknown need 'nfs42'"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_of_the_author_is_told_at_collection(tmp_path, name):
    fields, sentence = MISTAKES[name]
    done = run_pytest(tmp_path, "--collect-only", **fields)
    assert done.returncode in (
        pytest.ExitCode.INTERRUPTED,
        pytest.ExitCode.USAGE_ERROR,
    ), done.stdout
    assert sentence in done.stdout + done.stderr


def test_a_mistake_in_a_helper_is_told_at_collection(tmp_path):
    helper = "from steertag.suite import expect\n\ndef check(outcome):\n"
    helper += f'    expect(outcome, "{RULE}", must=["replay"])\n'
    (tmp_path / "my_checks.py").write_text(helper)
    text = CASE.split("    expect")[0].replace("NEEDS", "").replace("expect, kinds", "expect")
    text += "    check(conn.exchange(conn.null_call()))\n"
    (tmp_path / "test_helped.py").write_text("from my_checks import check\n" + text)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_helped.py", "-p", "steertag.suite.plugin"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=RUN_LIMIT_S,
    )
    assert done.returncode == pytest.ExitCode.USAGE_ERROR, done.stdout + done.stderr
    assert "my_checks.py:4: must=: 'replay' is no kind of outcome; near are reply" in done.stderr


def test_a_mistake_that_only_the_run_shows_is_no_failure_of_the_server(tmp_path):
    done = run_pytest(tmp_path, expected='must=["err-" + "verz"]')
    assert done.returncode == 1, done.stdout + done.stderr
    ((_, verdict, reason),) = rows(tmp_path)
    assert verdict == "harness-error"
    assert reason.startswith(
        "case server.mine.null: 'err-verz' is no kind of outcome; near are err-vers"
    )
