"""Runs of pytest and of `steertag` from a fork server: what most tests of the harness run takes less time than its
imports."""

import os
import pathlib
import subprocess
import tempfile
import time

from _pytest.pytester import RunResult

from steertag.mutation.fork_server import NoEnd, PYTEST_OPTIONS, run_module


def completed(name, arguments, folder=None, limit_s=None, environment=os.environ):
    """`python -m name` in this folder (None: the current one), as a subprocess.CompletedProcess."""
    words = [*(PYTEST_OPTIONS if name == "pytest" else ()), *map(str, arguments)]
    with tempfile.TemporaryDirectory(prefix="steertag-run-") as place:
        output, errors = pathlib.Path(place, "output"), pathlib.Path(place, "errors")
        try:
            status = run_module(
                name,
                words,
                folder=folder,
                environment=environment,
                output=output,
                errors=errors,
                limit_s=limit_s,
            )
        except NoEnd:
            said = output.read_text(errors="replace") + errors.read_text(errors="replace")
            raise AssertionError(f"{name} has not ended within {limit_s} s: {said}") from None
        return subprocess.CompletedProcess(
            [name, *words], status, output.read_text(), errors.read_text()
        )


def pytest(folder, *arguments, limit_s):
    """The same of pytest as pytester's result: .ret, .stdout, .stderr."""
    start = time.monotonic()
    done = completed("pytest", arguments, folder, limit_s)
    lines = done.stdout.splitlines(), done.stderr.splitlines()
    return RunResult(done.returncode, *lines, time.monotonic() - start)
