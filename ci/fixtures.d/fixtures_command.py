"""The command line: makes the captures that are made here, and the texts that are printed of all."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import deviation_captures
import deviation_table
from fixture_places import CAPTURES, CannotMake

BROKEN_LIMIT_S = 300
BROKEN = "broken"


def captures(options):
    """Makes the captures of deviations, and then those that are made of others."""
    problems = []
    names = [name for name in options.names if name != BROKEN]
    if names or not options.names:
        problems = deviation_captures.make(deviation_table.load(), names, options.jobs)
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


def parse(arguments):
    parser = argparse.ArgumentParser(prog="ci/fixtures", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser(
        "captures",
        help="make the captures of deviations and the broken ones; `ci/lab capture` makes those of Linux",
    )
    command.add_argument("--jobs", type=int, default=os.cpu_count(), help="cases at a time")
    command.add_argument(
        "names", nargs="*", help=f"only these deviations; `{BROKEN}`: the broken ones"
    )
    command.set_defaults(action=captures)
    command = commands.add_parser(
        "choose",
        help="take over which case catches each deviation, from what ci/deviations.py wrote",
    )
    command.add_argument("role", choices=deviation_table.PROGRAMS)
    command.add_argument("outcomes", type=pathlib.Path, help="its file of --json")
    command.set_defaults(action=choose)
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    try:
        return options.action(options)
    except CannotMake as problem:
        print(f"fixtures: {problem}", file=sys.stderr)
        return 1
