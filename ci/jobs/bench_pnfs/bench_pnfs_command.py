"""The command line: measures the rows in network namespaces, writes the page and its plots."""

import dataclasses
import functools
import json
import os
import sys
import time

from ci.jobs import PROJECT
from ci.jobs.bench_nfs.bench_nfs_command import RESULTS, Run, machine, write_figures, write_page
from ci.jobs.bench_nfs.bench_servers import processors
from ci.jobs.bench_nfs.figures import cells_of, json_of
from ci.jobs.bench_nfs.namespaces import output_inside
from ci.jobs.bench_nfs.rows_command import measure_rows, parse_rows, rows_parser, run_rows
from ci.jobs.bench_nfs.two_runs import compare, load
from ci.jobs.bench_pnfs.pnfs_page import minutes, page, scaling
from ci.jobs.bench_pnfs.pnfs_plots import plots
from ci.jobs.bench_pnfs.pnfs_rows import FLOOR, FLOOR_AT, LIMIT_S, Rows

DESCRIPTION = """\
Measures how reading and writing of striped files grow with the number of data servers, by our client and server. Each
server has a network namespace, and in S1, S2 and S8 a link of limited rate. S3 to S6 compare RDMA with TCP without a limit. Prints
the page; results and plots go to build/bench-pnfs/. Fails below the floor of the scaling, and after more than 15 minutes.
"""
PROGRAM = "ci/bench-pnfs"
MODULE = "ci.jobs.bench_pnfs.bench_pnfs_command"
FOLDER = PROJECT / "build" / "bench-pnfs"
PAGE = "pnfs.md"
ROWS = ("S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8")
RATE_MBIT, LEAST_RATE, MOST_RATE = 100, 1, 10_000
ROW_LIMIT_S = 600
BELOW = LATE = 1


@dataclasses.dataclass
class StripedRun(Run):
    """All that the page shows."""

    rate_mbit: int = RATE_MBIT
    elapsed_s: float = 0.0  # of all rows


def inside(name, options):
    """The cells of a row, measured by a process in namespaces of its own."""
    how = (name, options.rate, options.rounds, options.seconds)
    return cells_of(json.loads(output_inside(MODULE, how, ROW_LIMIT_S)))


def measure(wanted, options):
    """A StripedRun."""
    run = StripedRun(options.rounds, options.seconds, machine(), nfs="4.1", rate_mbit=options.rate)
    began = time.monotonic()
    measure_rows(run, {name: functools.partial(inside, name, options) for name in ROWS}, wanted, {})
    run.elapsed_s = time.monotonic() - began
    return run


def write(run, folder):
    """Writes the page and its plots; the text of the page."""
    return write_page(folder, PAGE, page(run), plots(run.results))


def parse(arguments):
    parser = rows_parser(PROGRAM, DESCRIPTION, ROWS, "", rounds=5, seconds=0.4)
    parser.add_argument(
        "--rate",
        type=int,
        default=RATE_MBIT,
        metavar="MBIT",
        help=f"of the link of each data server, in Mbit/s ({RATE_MBIT})",
    )
    options = parse_rows(parser, ROWS, arguments)
    if not LEAST_RATE <= options.rate <= MOST_RATE:
        parser.error(f"--rate is {LEAST_RATE} to {MOST_RATE}")
    return options


def check_floor(run):
    """Prints a line; the exit status."""
    if "S1" not in run.results:
        return 0
    worst = min(each.median for each in scaling(run.results["S1"], FLOOR_AT).values())
    met = worst >= FLOOR
    word = "ok   " if met else "BELOW"
    print(f"{word}    reading from {FLOOR_AT} data servers: {worst:.2f} of one, floor {FLOOR}")
    return 0 if met else BELOW


def check_time(run):
    """Prints a line; the exit status."""
    in_time = run.elapsed_s <= LIMIT_S
    word = "ok   " if in_time else "LATE "
    print(f"{word}    measured in {minutes(run.elapsed_s)}, limit {minutes(LIMIT_S)}")
    return 0 if in_time else LATE


def main(arguments):
    """Returns the exit status: 0, or 2 if something did not run. It is 1 below the floor, beyond the limit of time, or if an
    earlier run says otherwise."""
    options = parse(arguments)

    def work():
        earlier = load(options.against) if options.against else None
        run = measure(options.row or ROWS, options)
        print(write(run, FOLDER), end="")
        found = write_figures(run, FOLDER, PAGE, ROWS)
        if options.keep:
            write(run, RESULTS)
        status = max(check_floor(run), check_time(run))
        return max(status, compare(earlier, load(found)) if earlier else 0)

    return run_rows(PROGRAM, work)


def _row(arguments):
    """Prints the cells of one row as JSON; the exit status."""
    name, rate, rounds, seconds = arguments
    os.sched_setaffinity(0, {processors()[0]})

    def work():
        rows = Rows(int(rate), int(rounds), float(seconds))
        print(json.dumps(json_of(rows.measured(name))))
        return 0

    return run_rows(name, work)


if __name__ == "__main__":
    sys.exit(_row(sys.argv[1:]))
