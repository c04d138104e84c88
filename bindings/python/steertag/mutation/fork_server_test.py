"""Runs from the fork server are those of a fresh `python -m`: streams, environment, folder, path, status and limit."""

import json
import os
import signal

import pytest

from steertag.mutation.fork_server import NoEnd, PYTEST_OPTIONS, run_module

LIMIT_S = 60
# Enough to be on its way, and too short for what waits for ever.
SHORT_S = 0.5
SHOW = """
import json, os, sys
here = {"argv": sys.argv[1:], "folder": os.getcwd(), "path": sys.path, "own": os.environ.get("OWN")}
print(json.dumps(here | {"lost": "LOST" in os.environ, "loaded": "steertag.suite.plugin" in sys.modules}))
print("to errors", file=sys.stderr)
sys.exit(7)
"""
WAIT = """
import os, pathlib, signal
pathlib.Path("pid").write_text(str(os.getpid()))
signal.pause()
"""


@pytest.fixture
def run(tmp_path):
    def run(text, *arguments, limit_s=LIMIT_S, **environment):
        (tmp_path / "program.py").write_text(text)
        return run_module(
            "program",
            arguments,
            folder=tmp_path,
            environment={"PATH": os.environ["PATH"], **environment},
            output=tmp_path / "output",
            errors=tmp_path / "errors",
            limit_s=limit_s,
        )

    return run


def test_a_run_has_what_it_was_given(run, tmp_path, monkeypatch):
    monkeypatch.setenv("LOST", "1")
    monkeypatch.syspath_prepend("/of/this/process")
    assert run(SHOW, "a", 1, OWN="yes") == 7
    here = json.loads((tmp_path / "output").read_text())
    assert (here["argv"], here["own"], here["lost"]) == (["a", "1"], "yes", False)
    assert here["folder"] == here["path"][0] == str(tmp_path)
    assert "/of/this/process" not in here["path"]
    assert here["loaded"], "the fork server has not imported the suite"
    assert (tmp_path / "errors").read_text() == "to errors\n"


def test_a_signal_is_the_status(run):
    killed = f"import os; os.kill(os.getpid(), {int(signal.SIGKILL)})"
    assert run(killed) == -signal.SIGKILL


def test_a_run_without_an_end_is_killed(run, tmp_path):
    with pytest.raises(NoEnd):
        run(WAIT, limit_s=SHORT_S)
    if (tmp_path / "pid").exists():
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / "pid").read_text()), 0)


def test_an_exception_is_on_the_error_stream(run, tmp_path):
    assert run("raise ValueError('told')") == 1
    assert "ValueError: told" in (tmp_path / "errors").read_text()


def test_pytest_turns_no_warning_into_an_error(tmp_path):
    (tmp_path / "test_it.py").write_text("def test_it(): assert 1 == 2\n")
    (tmp_path / "pyproject.toml").write_text(
        "[tool.pytest.ini_options]\nfilterwarnings = ['error']\naddopts = '-p steertag.suite.plugin'\n"
    )
    output = tmp_path / "output"
    words = [*PYTEST_OPTIONS, "-q", "test_it.py"]
    given = {"folder": tmp_path, "environment": os.environ, "limit_s": LIMIT_S}
    assert run_module("pytest", words, output=output, errors=output, **given) == 1
    assert "assert 1 == 2" in output.read_text() and "1 failed in" in output.read_text()
