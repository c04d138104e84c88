"""The command `steertag`: one subcommand for each thing that it does."""

# PYTHON_ARGCOMPLETE_OK

import argparse
import os
import signal
import sys

from . import __version__, build_paths, command_parser, stopping, suite_commands
from .baseline import baseline_commands as baseline
from .bench import bench_command
from .case_list import cases_command
from .causes import causes_command
from .coverage import coverage_arguments as coverage
from .failure import Failure
from .files import cp, ls
from .files.escape import printable
from .grade import grade_arguments as grade
from .matrix import matrix_arguments as matrix
from .mutation import mutation_command
from .replay import replay_command, shrink
from .summary import summary_command

_EPILOG = "`steertag COMMAND --help` explains a command, its options and its exit statuses."


def serve(arguments):
    """Starts the reference server.

    It is the native `steertag-serve`, whose own --help has the options."""
    program = os.environ.get("STEERTAG_SERVE") or str(build_paths.tool("steertag-serve"))
    # Python ignores it, and a program inherits that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execv(program, [program, *arguments])
    except OSError as error:
        raise Failure(f"cannot start {program}: {error.strerror}") from None


def version(_):
    """Prints the version."""
    print(f"steertag {__version__}")


def parser():
    """The parser of the whole command line. Man pages and completion are made of it."""
    made = command_parser.CommandParser(
        prog="steertag",
        description="Conformance of RPC-over-RDMA version 1 and NFS/RDMA.",
        epilog=_EPILOG,
    )
    made.add_argument("--version", action="version", version=f"steertag {__version__}")
    commands = made.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    suite_commands.add_commands(commands)
    command_parser.add_command(commands, "serve", serve, add_help=False)
    grade.add_command(commands)
    cases_command.add_command(commands)
    coverage.add_commands(commands)
    causes_command.add_command(commands)
    baseline.add_command(commands)
    summary_command.add_command(commands)
    matrix.add_commands(commands)
    replay_command.add_command(commands)
    shrink.add_command(commands)
    mutation_command.add_command(commands)
    cp.add_command(commands)
    ls.add_command(commands)
    bench_command.add_command(commands)
    command_parser.add_command(commands, "version", version).set_defaults(run=version)
    command_parser.explain_statuses(commands)
    return made


def main(arguments=None):
    """The console script; returns the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        return _run(arguments)
    except Failure as failure:
        print(f"steertag: {printable(str(failure))}", file=sys.stderr)
        return 2
    except ImportError as error:
        print(f"steertag: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as interrupt:
        return stopping.status(interrupt)
    except BrokenPipeError:
        _discard_output()
        return 0
    except OSError as error:
        if error.filename is not None:
            raise
        _discard_output()
        print(f"steertag: the output cannot be written: {error.strerror}", file=sys.stderr)
        return 2


def _run(arguments):
    if arguments[:1] == ["serve"]:
        serve(arguments[1:])
    made = parser()
    if "_ARGCOMPLETE" in os.environ:
        from . import completion

        completion.complete(made)
    try:
        parsed = _parsed(made, arguments or ["--help"])
        with stopping.raising():
            return parsed.run(parsed) or 0
    finally:
        if sys.stdout is not None:
            sys.stdout.flush()  # here, where a closed pipe is caught, and not at the end of Python


def _parsed(made, arguments):
    """The parsed arguments. The words of a command that passes them on are not argparse's to judge."""
    if arguments[0] not in suite_commands.NAMES:
        return made.parse_args(arguments)
    parsed = made.parse_args(arguments[:1])
    parsed.words = arguments[1:]
    return parsed


def _discard_output():
    """Sends what is left of the output nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
