"""Cells of transfers without RPC: bench/raw.cpp between two processes."""

import contextlib
import os
import subprocess

from ci.jobs import PROJECT
from ci.jobs.bench_nfs.bench_servers import END_LIMIT_S, CannotMeasure, cpu_s, processors
from ci.jobs.bench_nfs.figures import Figures
from ci.jobs.bench_nfs.rounds import Cell

PROGRAM = PROJECT / "build" / "release" / "bench" / "steertag_raw"
MIB = 1024**2
ROUND_TRIP, BANDWIDTH = ("one octet and back",), ("1 MiB at a time",)
SEND_POLL, SEND_BLOCK = "Send, polling", "Send, blocking"
WRITE, READ, TCP = "RDMA Write", "RDMA Read", "TCP"
# (way, kind, provider, test, octets, wait)
_CELLS = (
    (SEND_POLL, ROUND_TRIP, "iwarp", "echo", 1, "poll"),
    (SEND_BLOCK, ROUND_TRIP, "iwarp", "echo", 1, "block"),
    (TCP, ROUND_TRIP, "tcp", "echo", 1, "block"),
    (WRITE, BANDWIDTH, "iwarp", "write", MIB, "block"),
    (READ, BANDWIDTH, "iwarp", "read", MIB, "block"),
    (TCP, BANDWIDTH, "tcp", "echo", MIB, "block"),
)
RUN_LIMIT_S = 60


def cells():
    """One Cell for each kind of transfer."""
    return [Cell(way, kind, _run(*how)) for way, kind, *how in _CELLS]


def _run(provider, test, octets, wait):
    def run(seconds):
        with _server(provider, wait) as (pid, url):
            before = cpu_s(pid)
            command = [PROGRAM, "measure", url, test, octets, seconds, wait]
            done = subprocess.run(
                list(map(str, command)), capture_output=True, text=True, timeout=RUN_LIMIT_S
            )
            if done.returncode != 0:
                raise CannotMeasure(done.stderr.strip() or f"{PROGRAM.name} did not run")
            size, calls, elapsed, user, system = done.stdout.split()
            return Figures(
                int(size),
                int(calls),
                float(elapsed),
                float(user),
                float(system),
                cpu_s(pid) - before,
            )

    return run


@contextlib.contextmanager
def _server(provider, wait):
    """(process id, URL) of a server for one client."""
    if not PROGRAM.exists():
        raise CannotMeasure(f"{PROGRAM.relative_to(PROJECT)} is not built")
    process = subprocess.Popen(
        [str(PROGRAM), "serve", provider, wait],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {processors()[1]}),
    )
    try:
        url = process.stdout.readline().strip()
        if not url:
            raise CannotMeasure(f"{PROGRAM.name} does not serve {provider}")
        yield process.pid, url
    finally:
        process.terminate()
        process.wait(END_LIMIT_S)
        process.stdout.close()
