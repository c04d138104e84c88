"""Row C5: the same READs over two networks, whose packets have 9000 or 1500 octets at most.

A network is a veth pair from the client's network namespace to the server's.
"""

import contextlib
import json
import os
import sys

from ci.jobs.bench_nfs import nfs_rows
from ci.jobs.bench_nfs.bench_clients import TCP, WAYS, connect, data_cell, new_file
from ci.jobs.bench_nfs.bench_servers import processors, server
from ci.jobs.bench_nfs.figures import cells_of, json_of
from ci.jobs.bench_nfs.namespaces import join, namespace, output_inside
from ci.jobs.bench_nfs.rounds import measure
from ci.jobs.bench_nfs.rows_command import run_rows

MTUS = (9000, 1500)
SIZES = (4096, 32768, 262144)
IN_FLIGHT = 5
MODULE = "ci.jobs.bench_nfs.networks"
# What the row may take: this for its start, and so many times as long as its cells should.
START_LIMIT_S, PATIENCE = 60, 10


def measured(rounds, seconds):
    """C5, by a process in namespaces of its own. Raises CannotMeasure, also where these are refused."""
    cells = len(MTUS) * len(WAYS) * len(SIZES)
    limit_s = START_LIMIT_S + PATIENCE * cells * (rounds + 1) * seconds
    return cells_of(json.loads(output_inside(MODULE, (rounds, seconds), limit_s)))


def _inside(rounds, seconds):
    """The cells of `measured`, in the namespaces that it has made."""
    with contextlib.ExitStack() as stack:
        pid = stack.enter_context(namespace())
        os.sched_setaffinity(0, {processors()[0]})
        cells = []
        for number, mtu in enumerate(MTUS):
            # TCP hands over one packet at a time. Otherwise 64 KiB would pass in one piece, whatever the MTU.
            place = join(pid, f"mtu{mtu}", number, ("mtu", mtu), up=("gso_max_segs", 1))
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


def main(arguments):
    """Prints the row as JSON; the exit status."""
    rounds, seconds = int(arguments[0]), float(arguments[1])

    def work():
        print(json.dumps(json_of(_inside(rounds, seconds))))
        return 0

    return run_rows("C5", work)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
