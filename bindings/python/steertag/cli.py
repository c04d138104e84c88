"""The command `steertag`: one subcommand for each thing that it does."""

import argparse
import os
import sys

from . import __version__, build_paths, stopping
from .baseline import baseline_commands as baseline
from .causes import causes_command
from .coverage import coverage_arguments as coverage
from .failure import Failure
from .files import cp, ls
from .files.escape import printable
from .grade import grade_arguments as grade
from .mutation import mutation_command
from .replay import replay_command, shrink


def serve(arguments):
    """Starts the reference server, the native `steertag-serve`; its own --help has the options."""
    program = os.environ.get("STEERTAG_SERVE") or str(build_paths.tool("steertag-serve"))
    try:
        os.execv(program, [program, *arguments])
    except OSError as error:
        raise Failure(f"cannot start {program}: {error.strerror}") from None


def cases(arguments):
    """Lists the cases that pytest collects."""
    from .suite.cases.collection import CannotCollect, collect_apart, suites

    try:
        entries = collect_apart(arguments.path or suites())
    except CannotCollect as error:
        raise Failure(str(error)) from None
    for entry in entries:
        print(f"{entry.id:<56} {' '.join(entry.requirements)}")


def version(_):
    """Prints the version."""
    print(f"steertag {__version__}")


def _parser():
    parser = argparse.ArgumentParser(
        prog="steertag", description="Conformance of RPC-over-RDMA version 1 and NFS/RDMA."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("serve", help=_first_line(serve), add_help=False)
    coverage.add_commands(commands)
    listing = commands.add_parser("cases", help=_first_line(cases))
    listing.add_argument("path", nargs="*", help="files or folders (default: both suites)")
    listing.set_defaults(run=cases)
    causes_command.add_command(commands)
    baseline.add_command(commands)
    grade.add_command(commands)
    cp.add_command(commands)
    ls.add_command(commands)
    replay_command.add_command(commands)
    shrink.add_command(commands)
    mutation_command.add_command(commands)
    commands.add_parser("version", help=_first_line(version)).set_defaults(run=version)
    return parser


def _first_line(function):
    return function.__doc__.splitlines()[0].rstrip(".")


def main(arguments=None):
    """The console script; returns the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        if arguments[:1] == ["serve"]:
            serve(arguments[1:])
        parsed = _parser().parse_args(arguments)
        with stopping.raising():
            return parsed.run(parsed) or 0
    except Failure as failure:
        print(f"steertag: {printable(str(failure))}", file=sys.stderr)
        return 2
    except ImportError as error:
        print(f"steertag: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as interrupt:
        return stopping.status(interrupt)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main())
