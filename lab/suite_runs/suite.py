"""The suite run against a booted machine: one pytest process with a limit on its time."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable

from lab import host
from lab.failure import LabFailure
from lab.machines import own_network
from lab.machines.session import Session
from lab.target import PROJECT

PYTEST = PROJECT / "build" / "venv" / "bin" / "pytest"
CASES = "suites/server"

# (descriptor that is readable at the end, limit in s): whether the end came in time.
Serve = Callable[[int, float], bool]

RUN_LIMIT_S = 3600
STOP_LIMIT_S = 15  # for pytest to end its case and write its report after SIGINT
KILL_LIMIT_S = 5


def run(session: Session, arguments: list[str]) -> int:
    """Runs the server suite with the extra pytest arguments; returns pytest's exit code."""
    report = session.target.report
    command = [
        *(str(PYTEST), CASES),
        *("--target", session.url()),
        *("--profile", str(session.profile.relative_to(PROJECT))),
        *("--report", str(report.relative_to(PROJECT))),
        *arguments,
    ]
    return run_pytest(own_network.inside(session.network, command), session.serve, RUN_LIMIT_S)


def run_pytest(command: list[str], serve: Serve, limit_s: float) -> int:
    """Runs a suite; `serve` does what it wants of the lab until it ends. Returns pytest's exit code."""
    host.say(" ".join(command))
    # A group of its own, so that a Ctrl-C at the terminal reaches pytest once, through _stop: a
    # second SIGINT would cut its report.
    guarded = ["setpriv", "--pdeathsig", "TERM", *command]
    process = subprocess.Popen(guarded, cwd=PROJECT, stdin=subprocess.DEVNULL, process_group=0)
    end = os.pidfd_open(process.pid)
    try:
        if not serve(end, limit_s):
            raise LabFailure(f"the suite did not end within {limit_s} s")
        return process.wait()
    finally:
        os.close(end)
        _stop(process)


def require() -> None:
    """Fails before a machine is booted in vain."""
    if not PYTEST.exists():
        raise LabFailure(f"{PYTEST.relative_to(PROJECT)} is missing; build the project first")


def _stop(process: subprocess.Popen) -> None:
    """Ends pytest if it still runs, kindly at first."""
    for number, limit_s in ((signal.SIGINT, STOP_LIMIT_S), (signal.SIGTERM, KILL_LIMIT_S)):
        if process.poll() is not None:
            return
        process.send_signal(number)
        try:
            process.wait(limit_s)
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    process.wait(KILL_LIMIT_S)
