"""What the command lines of benchmarks with rows share: which rows, how long, and how they end."""

import argparse
import pathlib
import subprocess
import sys
import time

from ci.jobs.bench_nfs.bench_servers import CannotMeasure
from steertag import fabric, peer, stopping
from steertag.bench import bench_plot
from steertag.failure import Failure

CANNOT_RUN = 2
MOST_ROUNDS = 99
SHORTEST_CELL_S, LONGEST_CELL_S = 0.01, 600


def rows_parser(program, description, rows, note, rounds, seconds):
    """A parser with the rows, --rounds, --seconds and --keep; `note` is on some of the rows."""
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument("row", nargs="*", help=f"{', '.join(rows)}; {note}all unless given")
    parser.add_argument(
        "--rounds", type=int, default=rounds, metavar="N", help=f"of each row ({rounds})"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=seconds,
        metavar="S",
        help=f"of each cell in a round ({seconds})",
    )
    parser.add_argument(
        "--against",
        type=pathlib.Path,
        metavar="JSON",
        help="compare the ratios with those of an earlier run, from the file that it has left",
    )
    parser.add_argument("--keep", action="store_true", help="write docs/results/ too")
    return parser


def parse_rows(parser, rows, arguments):
    """The options, or the parser's end for a row or a number that is not possible, or for plots that are not."""
    options = parser.parse_args(arguments)
    try:
        bench_plot.need_library()  # rather than after minutes of measuring
    except Failure as failure:
        parser.error(str(failure))
    unknown = set(options.row) - set(rows)
    if unknown:
        parser.error(f"no row has the name {', '.join(sorted(unknown))}")
    cell = SHORTEST_CELL_S <= options.seconds <= LONGEST_CELL_S
    if options.against and not options.against.is_file():
        parser.error(f"--against: there is no file {options.against}")
    if not 1 <= options.rounds <= MOST_ROUNDS or not cell:
        parser.error(
            f"--rounds are 1 to {MOST_ROUNDS}, --seconds {SHORTEST_CELL_S} to {LONGEST_CELL_S}"
        )
    return options


def measure_rows(run, rows, wanted, shown_with, optional=()):
    """Adds the results of the `wanted` rows to run.results, and to run.missing why one is not there. `rows` is {name:
    function}, `shown_with` {row: the one that it shows}. An `optional` row may be impossible on this machine. Rounds
    of a row that is there already go behind its others.
    """
    for name, measured in rows.items():
        if name not in wanted:
            run.missing[name] = "it was not asked for"
            continue
        began = time.monotonic()
        try:
            _add(run.results.setdefault(name, {}), measured())
        except CannotMeasure as error:
            del run.results[name]
            if name not in optional:
                raise
            run.missing[name] = str(error)
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    for name, source in shown_with.items():
        if source in run.results:
            run.results[name] = run.results[source]
        else:
            run.missing[name] = run.missing[source]


def _add(found, more):
    """Puts the rounds of each cell of `more` behind those of `found`."""
    for cell, rounds in more.items():
        found.setdefault(cell, []).extend(rounds)


def run_rows(program, work, *errors):
    """Runs work(); its exit status, or 2 with one sentence for what could not be done, also for these `errors`."""
    try:
        with stopping.raising():  # no server outlives a run that is stopped
            return work()
    except (
        CannotMeasure,
        OSError,
        subprocess.SubprocessError,
        fabric.FabricError,
        peer.FileError,
        *errors,
    ) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return CANNOT_RUN
    except KeyboardInterrupt as interrupt:
        return stopping.status(interrupt)
