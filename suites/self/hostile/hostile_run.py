#!/usr/bin/env python3
"""Runs of a suite against a hostile peer, with a limit on its memory: what is wrong with the suite itself.

`hostile_run.py FOLDER` makes the long runs of ci/nightly, and prints a line for each."""

import dataclasses
import json
import os
import pathlib
import resource
import subprocess
import sys
import threading

from extremes import CREDIT_WORD, EXTREMES
from steertag import build_paths
from steertag.suite.cases.case_end import PREPARING
from steertag.suite.run.case_time import AFTER_CASE_S, CASE_S

HERE = pathlib.Path(__file__).parent
# Of the process of the suite and all that it starts, each; its address space ends what the figure would miss.
MOST_MEMORY_MIB = 500
MOST_ADDRESSES_MIB = 4096
# A run of some cases, and one of the whole suite in which each case waits for answers.
SHORT_S, LONG_S = 300, 4 * 3600
# Long runs of ci/nightly: turns of each kind of message, in steps that leave none out.
LONG_TURNS = range(0, 1200, 300)
CLIENT_RUNS = 4
# The longest client that still may finish.
CLIENT_TIMEOUT_S = 10


@dataclasses.dataclass(frozen=True)
class Run:
    """A run that has ended."""

    rows: list  # of report.json
    output: str
    status: int
    memory_mib: int
    stopped: str

    def problems(self):
        """[sentence] on what the suite did wrong, whatever its peer has done."""
        if self.status not in (0, 1):
            yield f"it ended with {self.status}: {self.output[-2000:]}"
        if self.memory_mib > MOST_MEMORY_MIB:
            yield f"it used {self.memory_mib} MiB, and {MOST_MEMORY_MIB} are allowed"
        if "Traceback" in self.output:
            yield f"a traceback: {self.output[self.output.index('Traceback'):][:2000]}"
        if self.stopped:
            yield f"it stopped early: {self.stopped}"
        for row in self.rows:
            if row["verdict"] == "harness-error" and not row["reason"].startswith(PREPARING):
                yield f"{row['id']}: harness-error: {row['reason']}"
            if row["seconds"] > CASE_S + 2 * AFTER_CASE_S:
                yield f"{row['id']} took {row['seconds']:.0f} s"

    def line(self):
        """The run in one line."""
        verdicts = [row["verdict"] for row in self.rows]
        counts = ", ".join(f"{verdicts.count(each)} {each}" for each in sorted(set(verdicts)))
        return f"{len(self.rows)} cases, {self.memory_mib} MiB: {counts}"


def against_server(folder, extremes, *arguments, limit_s=SHORT_S):
    """A Run of the server suite. `extremes` are arguments of hostile_server.py."""
    program = folder / "hostile-server"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HERE}/hostile_server.py" "$@"\n')
    program.chmod(0o755)
    server = [f"--server-arg={each}" for each in extremes]
    words = "suites/server", *server, *arguments
    return _run(folder, limit_s, *words, STEERTAG_SERVE=str(program))


def against_client(folder, *arguments, limit_s=SHORT_S):
    """A Run of the client suite."""
    command = f"{sys.executable} {HERE / 'hostile_client.py'} {folder / 'runs'} {{url}}"
    client = ["--client-command", command, "--client-timeout", str(CLIENT_TIMEOUT_S)]
    return _run(folder, limit_s, "suites/client", *client, *arguments)


def _limit_memory():
    octets = MOST_ADDRESSES_MIB << 20
    resource.setrlimit(resource.RLIMIT_AS, (octets, octets))


def _run(folder, limit_s, *arguments, **environment):
    report = folder / "report"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    with open(folder / "output", "w+", encoding="utf-8", errors="replace") as output:
        process = subprocess.Popen(
            [*command, "--report", str(report), *arguments],
            cwd=build_paths.checkout(),
            env={**os.environ, **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=_limit_memory,
        )
        end = threading.Timer(limit_s, process.kill)
        end.start()
        _, status, usage = os.wait4(process.pid, 0)
        end.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    path = report / "report.json"
    document = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"cases": []}
    memory_mib = usage.ru_maxrss >> 10
    stopped = document.get("stopped", "")
    return Run(document["cases"], text, process.returncode, memory_mib, stopped)


def long_runs(folder):
    """(name, Run) of each long run."""

    def server(name, extremes, *arguments):
        return name, against_server(_new(folder, name), extremes, *arguments, limit_s=LONG_S)

    for start in LONG_TURNS:
        for over in ("rdma", "tcp"):
            yield server(f"{over}-{start}", ("--turns", str(start), "2"), "--over", over)
    yield server("helper", ("--turns", "0", "5", "--helper-too"))
    for number, value in enumerate(EXTREMES):
        yield server(f"credit-{value:#x}", ("--steady", str(CREDIT_WORD), str(number)))
    client = _new(folder, "client")
    for number in range(CLIENT_RUNS):
        yield f"client-{number}", against_client(client, limit_s=LONG_S)


def _new(folder, name):
    (folder / name).mkdir(parents=True)
    return folder / name


def main(folder):
    wrong = 0
    for name, run in long_runs(pathlib.Path(folder).resolve()):
        print(f"{name:<20} {run.line()}", flush=True)
        for problem in run.problems():
            print(f"  {problem}", flush=True)
            wrong += 1
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
