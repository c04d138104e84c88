"""`steertag test` and `steertag test-client`: the suites by pytest, whose options they pass on."""

import argparse
import os
import shlex
import sys

from . import build_paths, suites_place
from .exit_statuses import epilog
from .report_page.run_metadata import TYPED_COMMAND

# pytest's exit status.
WRONG_OPTIONS = 4
# In place of a URL. An unset variable must not test our own server.
BUNDLED = "bundled"
_PLUGIN = "steertag.suite.plugin"
_SERVER = """\
Tests a server: runs the server suite against URL, provider://host[:port][/export] (tcp:// too). The export
needs write access; the suite removes the files that it creates. The word `bundled` in place of the URL starts the
reference server and tests it; then --deviate NAME makes it break a requirement.
"""
_CLIENT = """\
Tests a client: the suite is a server at the URL of --listen, and runs COMMAND again and again. COMMAND reads the
file `source` at {url} ({host}, {port}) and writes its octets into a file `copy` beside it. One word is a command
line of the shell.
"""
_OPTIONS = """\
An OPTION is one of pytest, which runs the suite: -k WORD, -n PROCESSES, --topic NAME, --section SECTION,
--baseline FILE, --report DIR. --options lists them all.
"""


def add_commands(commands):
    for name, text, description, usage, run in (
        ("test", "Tests a server", _SERVER, "URL|bundled [OPTION...]", test),
        (
            "test-client",
            "Tests a client",
            _CLIENT,
            "--listen URL [OPTION...] -- COMMAND...",
            test_client,
        ),
    ):
        parser = commands.add_parser(
            name,
            help=text,
            usage=f"%(prog)s {usage}",
            description=f"{description}\n{_OPTIONS}",
            epilog=epilog(name),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.set_defaults(run=run, parser=parser, words=[])


def test(arguments):
    """Becomes pytest with the server suite and the URL."""
    words = _without_help(arguments, "server")
    if words[:1] == [BUNDLED]:
        words = words[1:]
    elif words and "://" in words[0]:
        words = ["--target", *words]
    else:
        _refuse(arguments, f"a URL comes first, provider://host[:port][/export], or {BUNDLED}")
    _run_pytest("server", words, arguments)


def test_client(arguments):
    """Becomes pytest with the client suite and the command."""
    words = _without_help(arguments, "client")
    place = words.index("--") if "--" in words else len(words)
    options, command = words[:place], words[place + 1 :]
    if not command:
        _refuse(arguments, "the client's command comes last, behind --")
    line = command[0] if len(command) == 1 else shlex.join(command)
    _run_pytest("client", [*options, "--client-command", line], arguments)


def _without_help(arguments, role):
    """The words, unless they ask for help, which is printed."""
    first = arguments.words[:1]
    if first in (["-h"], ["--help"]):
        arguments.parser.print_help()
        arguments.parser.exit()
    if first == ["--options"]:
        _run_pytest(role, ["--help"], arguments)
    return arguments.words


def pytest_command(role, options):
    """The words of pytest's command line for the suite of a role. An installed suite runs as if it were in
    the working directory, to which pytest writes. The report is there too, unless an option says otherwise.
    Raises suites_place.NoSuites."""
    command = [sys.executable, "-m", "pytest", "-p", _PLUGIN, str(suites_place.folder(role))]
    command.append(f"--report={build_paths.REPORT}")
    if build_paths.checkout() is None:
        command += [f"--rootdir={os.getcwd()}", "-p", "no:cacheprovider"]
    return command + options


def _refuse(arguments, sentence):
    """Ends the command as pytest ends for wrong options."""
    parser = arguments.parser
    parser.exit(WRONG_OPTIONS, f"{parser.format_usage()}{parser.prog}: error: {sentence}\n")


def _run_pytest(role, options, arguments):
    try:
        command = pytest_command(role, options)
    except suites_place.NoSuites as error:
        _refuse(arguments, str(error))
    sys.stdout.flush()
    typed = shlex.join(["steertag", *sys.argv[1:]])
    os.execve(command[0], command, {**os.environ, TYPED_COMMAND: typed})
