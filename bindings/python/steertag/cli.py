"""The command `steertag`: one subcommand for each thing that it does."""

# PYTHON_ARGCOMPLETE_OK

import argparse
import importlib
import os
import signal
import sys

from . import __version__, build_paths, command_parser, stopping
from .failure import Failure
from .files.escape import printable

_EPILOG = "`steertag COMMAND --help` explains a command, its options and its exit statuses."
# What adds commands to the parser, in the order of --help, with their names. A command imports only its own module.
ADDERS = {
    "suite_commands.add_commands": ("test", "test-client"),
    "cli.add_serve": ("serve",),
    "grade.grade_arguments.add_command": ("grade",),
    "case_list.cases_command.add_command": ("cases",),
    "coverage.coverage_arguments.add_commands": ("coverage", "explain"),
    "causes.causes_command.add_command": ("causes",),
    "baseline.baseline_commands.add_command": ("baseline",),
    "summary.summary_command.add_command": ("summary",),
    "matrix.matrix_arguments.add_commands": ("matrix", "diff"),
    "replay.replay_command.add_command": ("replay",),
    "replay.shrink.add_command": ("shrink",),
    "mutation.mutation_command.add_command": ("mutation",),
    "files.cp.add_command": ("cp",),
    "files.ls.add_command": ("ls",),
    "bench.bench_command.add_command": ("bench",),
    "cli.add_version": ("version",),
}
# argparse does not judge the words behind these commands.
_PASSED_ON = ADDERS["suite_commands.add_commands"]


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


def add_serve(commands):
    command_parser.add_command(commands, "serve", serve, add_help=False)


def add_version(commands):
    command_parser.add_command(commands, "version", version).set_defaults(run=version)


def parser(name=None):
    """The parser of one command, or of all unless one has this name. Man pages and completion are made of all."""
    made = command_parser.CommandParser(
        prog="steertag",
        description="Conformance of RPC-over-RDMA version 1 and NFS/RDMA.",
        epilog=_EPILOG,
    )
    made.add_argument("--version", action="version", version=f"steertag {__version__}")
    commands = made.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    needed = [adder for adder, names in ADDERS.items() if name in names]
    for adder in needed or ADDERS:
        module, _, function = adder.rpartition(".")
        getattr(importlib.import_module(f"{__package__}.{module}"), function)(commands)
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
    arguments = arguments or ["--help"]
    if "_ARGCOMPLETE" in os.environ:
        from . import completion

        completion.complete(parser())
    try:
        parsed = _parsed(parser(arguments[0]), arguments)
        with stopping.raising():
            return parsed.run(parsed) or 0
    finally:
        if sys.stdout is not None:
            sys.stdout.flush()  # here, where a closed pipe is caught, and not at the end of Python


def _parsed(made, arguments):
    """The parsed arguments. The words of a command that passes them on are not argparse's to judge."""
    if arguments[0] not in _PASSED_ON:
        return made.parse_args(arguments)
    parsed = made.parse_args(arguments[:1])
    parsed.words = arguments[1:]
    return parsed


def _discard_output():
    """Sends what is left of the output nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
