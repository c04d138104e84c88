"""The command line: makes the captures that are made here, and the texts that are printed of all."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import case_captures
import deviation_table
import golden_texts
from fixture_places import CAPTURES, CannotMake

BROKEN_LIMIT_S = 300
# Words for captures that are of no deviation. The broken ones are made of others, and come last.
CONFORMING, BROKEN = "conforming", "broken"


def captures(options):
    """Makes the captures that cases leave, and then those that are made of others."""
    names = [name for name in options.names if name not in (CONFORMING, BROKEN)]
    chosen = []
    if names or not options.names:
        chosen += case_captures.deviating(deviation_table.load(), names)
    if CONFORMING in options.names or not options.names:
        chosen += case_captures.conforming()
    problems = case_captures.make(chosen, options.jobs)
    if BROKEN in options.names or not options.names:
        script = [sys.executable, str(CAPTURES / "make_broken.py")]
        subprocess.run(script, check=True, timeout=BROKEN_LIMIT_S)
    for problem in problems:
        print(f"fixtures: {problem}", file=sys.stderr)
    return 1 if problems else 0


def choose(options):
    """Writes the table of the deviations' cases anew."""
    table = deviation_table.load()
    try:
        outcomes = json.loads(options.outcomes.read_text())
        missing = deviation_table.choose(table, options.role, outcomes)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotMake(f"{options.outcomes} is no table of ci/deviations.py: {error}") from None
    table.write()
    for name in missing:
        print(f"fixtures: no case caught {name}", file=sys.stderr)
    return 1 if missing else 0


def texts(options):
    """Writes the golden texts anew; what has changed is for git to show."""
    golden_texts.need_plugin()
    golden_texts.write(golden_texts.chosen(options.names), options.jobs)
    for path in golden_texts.stale():
        path.unlink()
    return 0


def parse(arguments):
    parser = argparse.ArgumentParser(prog="ci/fixtures", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser(
        "captures",
        help="make the captures that cases leave, and the broken ones; `ci/lab capture` makes those of Linux",
    )
    command.add_argument("--jobs", type=int, default=os.cpu_count(), help="cases at a time")
    command.add_argument(
        "names", nargs="*", help=f"only of these deviations, or the {CONFORMING} or {BROKEN} ones"
    )
    command.set_defaults(action=captures)
    command = commands.add_parser(
        "choose",
        help="take over which case catches each deviation, from what ci/deviations.py wrote",
    )
    command.add_argument("role", choices=deviation_table.PROGRAMS)
    command.add_argument("outcomes", type=pathlib.Path, help="its file of --json")
    command.set_defaults(action=choose)
    command = commands.add_parser(
        "texts", help="write beside each capture what `steertag grade` and tshark print of it"
    )
    command.add_argument("--jobs", type=int, default=os.cpu_count(), help="captures at a time")
    command.add_argument("names", nargs="*", help="only of the captures with these file names")
    command.set_defaults(action=texts)
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    try:
        return options.action(options)
    except CannotMake as problem:
        print(f"fixtures: {problem}", file=sys.stderr)
        return 1
