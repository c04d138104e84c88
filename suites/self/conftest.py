"""Tests of the harness itself: what they share."""

import json
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
# Of a run that hangs. The longest takes ten seconds, and a minute on a machine that has much else to do.
RUN_LIMIT_S = 300
# Modules here and beside the tests, in whatever way pytest imports these.
sys.path[:0] = map(str, (HERE, *sorted(HERE.glob("[a-z]*/"))))

import warm_runs  # noqa: E402


@pytest.fixture
def suite(pytester, monkeypatch):
    """Runs pytest on case files written by the test, against suites/self/scripted_server.py as the
    bundled server: `suite.run(*arguments)` in a process of its own."""
    program = pytester.path / "scripted-server"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HERE}/scripted_server.py" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("STEERTAG_SERVE", str(program))
    return Suite(pytester, program)


class Suite:
    """A run of the plugin in a folder of its own."""

    def __init__(self, pytester, program):
        self.pytester = pytester
        self.program = program
        self.report = pytester.path / "build" / "report"

    def cases(self, **files):
        """Writes case files; names without their ending."""
        self.pytester.makepyfile(**files)

    def run(self, *arguments):
        """pytest's result: .ret, .stdout, .stderr."""
        return warm_runs.pytest(
            self.pytester.path, "-p", "steertag.suite.plugin", *arguments, limit_s=RUN_LIMIT_S
        )

    def document(self):
        """The run's report.json."""
        return json.loads((self.report / "report.json").read_text())

    def verdicts(self):
        """{case id: verdict}"""
        return {row["id"]: row["verdict"] for row in self.document()["cases"]}
