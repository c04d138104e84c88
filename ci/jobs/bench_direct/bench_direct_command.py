"""The command line: measures the rows, writes the page and its plots."""

import argparse
import dataclasses
import os
import subprocess
import sys
import time

from ci.jobs import PROJECT
from ci.jobs.bench_direct import direct_rows
from ci.jobs.bench_direct.direct_clients import NotCollected
from ci.jobs.bench_direct.direct_page import page
from ci.jobs.bench_direct.direct_plots import plots
from ci.jobs.bench_nfs.bench_nfs_command import CANNOT_RUN, RESULTS, Run, machine, write_figures
from ci.jobs.bench_nfs.bench_servers import CannotMeasure, processors
from steertag import fabric, peer, stopping

DESCRIPTION = """\
Repeats the comparison of 2003 of the ways into a server's file cache, by our client and server over loopback: inline, direct,
pre-posted and optimistic READs. Prints the page; results and plots go to build/bench-direct/.
"""
FOLDER = PROJECT / "build" / "bench-direct"
PAGE = "direct-access.md"
ROWS = {
    "T2": direct_rows.primitives,
    "F3": direct_rows.streams,
    "F5": direct_rows.join,
    "T3": direct_rows.response,
    "F7": direct_rows.two_clients,
    "X1": direct_rows.stale,
}
# Sections that show the results of another row.
SHOWN_WITH = {"F4": "F3"}
MISSING = {
    "F6": "the client of files keeps no data, so that there is no hit ratio to vary",
}


@dataclasses.dataclass
class DirectRun(Run):
    """All that the page shows."""

    missing: dict = dataclasses.field(default_factory=lambda: dict(MISSING))


def measure(wanted, options):
    """A DirectRun."""
    run = DirectRun(options.rounds, options.seconds, machine())
    os.sched_setaffinity(0, {processors()[0]})
    for name, measured in ROWS.items():
        if name not in wanted:
            run.missing[name] = "it was not asked for"
            continue
        began = time.monotonic()
        run.results[name] = measured(options.rounds, options.seconds)
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    for name, source in SHOWN_WITH.items():
        if source in run.results:
            run.results[name] = run.results[source]
        else:
            run.missing[name] = run.missing[source]
    return run


def write(run, folder):
    """Writes the page and its plots; the text of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    text = page(run)
    (folder / PAGE).write_text(text, encoding="utf-8")
    for name, svg in plots(run.results).items():
        (folder / name).write_text(svg, encoding="utf-8")
    return text


def parse(arguments):
    parser = argparse.ArgumentParser(prog="ci/bench-direct", description=DESCRIPTION)
    parser.add_argument("row", nargs="*", help=f"{', '.join(ROWS)}; all unless given")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="of each row (7)")
    parser.add_argument(
        "--seconds", type=float, default=0.3, metavar="S", help="of each cell in a round (0.3)"
    )
    parser.add_argument("--keep", action="store_true", help="write docs/results/ too")
    options = parser.parse_args(arguments)
    unknown = set(options.row) - set(ROWS)
    if unknown:
        parser.error(f"no row has the name {', '.join(sorted(unknown))}")
    if not 1 <= options.rounds <= 99 or not 0.01 <= options.seconds <= 600:
        parser.error("--rounds are 1 to 99, --seconds 0.01 to 600")
    return options


def main(arguments):
    """Returns the exit status: 0, or 2 if something did not run."""
    options = parse(arguments)
    try:
        with stopping.raising():  # no server outlives a run that is stopped
            run = measure(options.row or ROWS, options)
        print(write(run, FOLDER), end="")
        write_figures(run, FOLDER, PAGE, tuple(ROWS))
        if options.keep:
            write(run, RESULTS)
    except (
        CannotMeasure,
        NotCollected,
        OSError,
        subprocess.SubprocessError,
        fabric.FabricError,
        peer.FileError,
    ) as error:
        print(f"ci/bench-direct: {error}", file=sys.stderr)
        return CANNOT_RUN
    except KeyboardInterrupt as interrupt:
        return stopping.status(interrupt)
    return 0
