"""Gates of several targets at a time: each in a process of its own, whose output is shown at its end."""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import pathlib
import sys
from collections.abc import Callable, Iterable

from lab import host
from lab.failure import LabFailure
from lab.gates import gate_table
from lab.target import Target

Gate = Callable[[Target], list[gate_table.Row]]

LOG = "gate.log"  # in the target's directory
# After SIGTERM a gate powers its machines off; they are killed if they do not heed.
STOP_LIMIT_S = 60

_FORK = multiprocessing.get_context("fork")


class Job:
    """One target's gate under way."""

    def __init__(self, target: Target, gate: Gate) -> None:
        self.target = target
        self._log = target.directory / LOG
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self.rows, end = _FORK.Pipe(duplex=False)
        self._process = _FORK.Process(target=_work, args=(target, gate, self._log, end))
        self._process.start()
        end.close()
        host.say(f"gating {target.name}; it writes {self._log}")

    def finish(self) -> list[gate_table.Row]:
        """Shows what it wrote; its rows, or one that says how it ended without any."""
        try:
            rows = self.rows.recv()
        except EOFError:
            rows = []
        self._process.join(STOP_LIMIT_S)
        host.say(f"{self.target.name}:")
        print(self._log.read_text(errors="replace"), end="", flush=True)
        return rows or [_error(self.target, f"its gate ended with {self._process.exitcode}")]

    def stop(self) -> None:
        self._process.terminate()
        self._process.join(STOP_LIMIT_S)
        self._process.kill()


def run(targets: Iterable[Target], gate: Gate, most: int) -> list[gate_table.Row]:
    """The rows of all targets in their order, `most` of them being gated at a time. One that fails
    does not stop the others."""
    waiting, running, done = list(targets), [], {}
    order = [target.name for target in waiting]
    try:
        while waiting or running:
            while waiting and len(running) < most:
                running.append(Job(waiting.pop(0), gate))
            # Ends because every wait inside of a gate has a limit.
            ready = multiprocessing.connection.wait([job.rows for job in running])
            for job in [job for job in running if job.rows in ready]:
                running.remove(job)
                done[job.target.name] = job.finish()
    finally:
        for job in running:
            job.stop()
    return [row for name in order for row in done[name]]


def guarded(target: Target, gate: Gate) -> list[gate_table.Row]:
    """The rows of one target; a failure of the lab is one row."""
    try:
        return gate(target)
    except LabFailure as failure:
        host.say(f"error: {failure}")
        return [_error(target, str(failure).splitlines()[0])]


def _error(target: Target, why: str) -> gate_table.Row:
    return gate_table.Row(target.name, "-", {}, f"error: {why}")


def _work(
    target: Target, gate: Gate, log: pathlib.Path, rows: multiprocessing.connection.Connection
) -> None:
    """The life of a job's process."""
    with open(log, "w") as output:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            os.dup2(output.fileno(), stream.fileno())
    with contextlib.closing(rows):
        rows.send(guarded(target, gate))
