"""Row C5: the same READs over two networks, whose packets have 9000 or 1500 octets at most.

A network is a veth pair from the client's network namespace to the server's. Both are in a user namespace of this
process, which needs no right over the machine. All end with their processes.
"""

import contextlib
import json
import os
import subprocess
import sys

from ci.jobs import PROJECT
from ci.jobs.bench_nfs import nfs_rows
from ci.jobs.bench_nfs.bench_clients import TCP, WAYS, connect, data_cell, new_file
from ci.jobs.bench_nfs.bench_servers import (
    END_LIMIT_S,
    CannotMeasure,
    Place,
    processors,
    server,
)
from ci.jobs.bench_nfs.figures import cells_of, json_of
from ci.jobs.bench_nfs.rounds import measure
from ci.jobs.bench_nfs.rows_command import run_rows

MTUS = (9000, 1500)
SIZES = (4096, 32768, 262144)
IN_FLIGHT = 5
MODULE = "ci.jobs.bench_nfs.networks"
COMMAND_LIMIT_S = 10
# What the row may take: this for its start, and so many times as long as its cells should.
START_LIMIT_S, PATIENCE = 60, 10


def measured(rounds, seconds):
    """C5, by a process in namespaces of its own. Raises CannotMeasure, also where these are refused."""
    command = ["unshare", "--user", "--map-root-user", "--net"]
    command += [sys.executable, "-B", "-m", MODULE, str(rounds), str(seconds)]
    cells = len(MTUS) * len(WAYS) * len(SIZES)
    limit_s = START_LIMIT_S + PATIENCE * cells * (rounds + 1) * seconds
    both = set(processors())  # this process is bound to the first
    try:
        process = subprocess.Popen(
            command,
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, both),
        )
    except FileNotFoundError:
        raise CannotMeasure("there is no unshare") from None
    try:
        text, errors = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        raise CannotMeasure(f"it took longer than {limit_s:.0f} s") from None
    finally:
        process.terminate()
        process.wait(END_LIMIT_S)
    if process.returncode != 0:
        why = errors.strip().rpartition("\n")[2]
        raise CannotMeasure(f"no two network namespaces ({why or process.returncode})")
    return cells_of(json.loads(text))


def _inside(rounds, seconds):
    """The cells of `measured`, in the namespaces that it has made."""
    with contextlib.ExitStack() as stack:
        namespace = stack.enter_context(_namespace())
        os.sched_setaffinity(0, {processors()[0]})
        cells = []
        for number, mtu in enumerate(MTUS):
            place = _joined(namespace, number, mtu)
            main = stack.enter_context(server(place=place))
            path = stack.enter_context(new_file(main, TCP, nfs_rows.WRITTEN_BYTES))
            for way in WAYS:
                files = connect(main, way)
                stack.callback(files.end)
                bench = files.bench(files.find(path))
                stack.callback(bench.close)
                cells += [
                    data_cell(main, mtu, bench, "read", size, IN_FLIGHT, (way, size))
                    for size in SIZES
                ]
        return measure(cells, rounds, seconds)


@contextlib.contextmanager
def _namespace():
    """The id of a process in a network namespace, which lasts as long as the context."""
    process = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", "echo made; exec cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        if not process.stdout.readline():
            raise CannotMeasure("unshare --net failed")
        yield process.pid
    finally:
        process.stdin.close()
        process.wait(END_LIMIT_S)
        process.stdout.close()


def _joined(pid, number, mtu):
    """Joins this namespace and that of a process by a veth pair; the Place at its other end."""
    name = f"mtu{mtu}"
    enter = ("nsenter", f"--target={pid}", "--net")
    pair = ["ip", "link", "add", name, "mtu", mtu, "type", "veth", "peer", name]
    _run(*pair, "mtu", mtu, "netns", pid)
    addresses = [f"10.0.{number}.{end}" for end in (1, 2)]
    for address, prefix in zip(addresses, ((), enter)):
        _run(*prefix, "ip", "address", "add", f"{address}/24", "dev", name)
        # TCP hands over one packet at a time. Otherwise 64 KiB would pass in one piece, whatever the MTU.
        _run(*prefix, "ip", "link", "set", name, "gso_max_segs", 1, "up")
    return Place(addresses[1], enter)


def _run(*command):
    words = list(map(str, command))
    done = subprocess.run(words, capture_output=True, text=True, timeout=COMMAND_LIMIT_S)
    if done.returncode != 0:
        raise CannotMeasure(f"{' '.join(words)}: {done.stderr.strip()}")


def main(arguments):
    """Prints the row as JSON; the exit status."""
    rounds, seconds = int(arguments[0]), float(arguments[1])

    def work():
        print(json.dumps(json_of(_inside(rounds, seconds))))
        return 0

    return run_rows("C5", work)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
