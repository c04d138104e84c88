"""The command line: measures the rows, writes the page and its plots."""

import functools
import os

from ci.jobs import PROJECT
from ci.jobs.bench_direct import direct_rows
from ci.jobs.bench_direct.direct_clients import NotCollected
from ci.jobs.bench_direct.direct_page import page
from ci.jobs.bench_direct.direct_plots import plots
from ci.jobs.bench_nfs.bench_nfs_command import RESULTS, Run, machine, write_figures, write_page
from ci.jobs.bench_nfs.bench_servers import processors
from ci.jobs.bench_nfs.rounds import parts_of
from ci.jobs.bench_nfs.rows_command import measure_rows, parse_rows, rows_parser, run_rows
from ci.jobs.bench_nfs.two_runs import compare, load

DESCRIPTION = """\
Repeats the comparison of 2003 of the ways into a server's file cache, by our client and server over loopback: inline, direct,
pre-posted and optimistic READs. Prints the page; results and plots go to build/bench-direct/.
"""
PROGRAM = "ci/bench-direct"
FOLDER = PROJECT / "build" / "bench-direct"
PAGE = "direct-access.md"
ROWS = {
    "T2": direct_rows.primitives,
    "F3": direct_rows.streams,
    "F5": direct_rows.join,
    "T3": direct_rows.response,
    "F6": direct_rows.many_files,
    "F7": direct_rows.two_clients,
    "X1": direct_rows.stale,
    "X2": direct_rows.written,
}
# Sections that show the results of another row.
SHOWN_WITH = {"F4": "F3"}


def measure(wanted, options):
    """A Run, by parts of its rounds."""
    run = Run(options.rounds, options.seconds, machine())
    os.sched_setaffinity(0, {processors()[0]})
    for rounds in parts_of(options.rounds):
        rows = {
            name: functools.partial(measured, rounds, options.seconds)
            for name, measured in ROWS.items()
        }
        measure_rows(run, rows, wanted, SHOWN_WITH)
    return run


def write(run, folder):
    """Writes the page and its plots; the text of the page."""
    return write_page(folder, PAGE, page(run), plots(run.results))


def parse(arguments):
    parser = rows_parser(PROGRAM, DESCRIPTION, ROWS, "", rounds=15, seconds=0.15)
    return parse_rows(parser, ROWS, arguments)


def main(arguments):
    """Returns the exit status: 0, 1 if an earlier run says otherwise, or 2 if something did not run."""
    options = parse(arguments)

    def work():
        earlier = load(options.against) if options.against else None
        run = measure(options.row or ROWS, options)
        print(write(run, FOLDER), end="")
        figures = write_figures(run, FOLDER, PAGE, tuple(ROWS))
        if options.keep:
            write(run, RESULTS)
        return compare(earlier, load(figures)) if options.against else 0

    return run_rows(PROGRAM, work, NotCollected)
