"""The arguments of `steertag grade`. The command needs the engine and is imported on use."""

import argparse
import pathlib

from . import outputs

LEVELS = ("must", "should", "all")
PROFILES = ("rfc8166", "rfc5666", "prototype")
_EPILOG = """\
exit status:
  0  no violation (warnings may have been found, unless --strict)
  1  a violation: a MUST, MUST NOT, REQUIRED, or a rule that binds without such a word, was broken
  2  a file cannot be read, or is damaged (the part before it is graded), or an output was not written
  3  a file has no RPC-over-RDMA message to judge: it has no such connection, or no message of one is
     whole in the capture
If several apply, 2 goes before 1, and 1 before 3.

What a capture does not hold (its beginning, lost or cut packets) is listed, and never a violation.
A SHOULD, SHOULD NOT or NOT RECOMMENDED that was broken is a warning.
"""


def add_command(commands):
    parser = commands.add_parser(
        "grade",
        help="Judges the connections in capture files",
        description="Judges every RPC-over-RDMA connection in capture files (pcap or pcapng; iWARP, "
        "RoCEv2, InfiniBand) by the rules that judge live runs.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "file",
        nargs="+",
        metavar="FILE",
        help="a capture, also one that gzip compressed, or - for standard input",
    )
    add(
        "--port",
        type=_port,
        action="append",
        default=[],
        metavar="N",
        help="another port of NFS/RDMA than 20049; may be repeated",
    )
    add(
        "--profile",
        choices=PROFILES,
        default=PROFILES[0],
        help="the rules to judge by: RFC 8166 and its companions (default), RFC 5666 and 5667, or the prototype "
        "of 2003; no message tells them apart for certain",
    )
    add(
        "--level",
        choices=LEVELS,
        default="all",
        help="which findings are shown: violations only (must), warnings too (should), or all; the JSON "
        "holds all, and the exit status does not depend on it",
    )
    add("--strict", action="store_true", help="warnings count as violations for the exit status")
    add("--json", metavar="FILE", help="write the report as JSON too; - prints it in place of text")
    add("--junit", type=pathlib.Path, metavar="FILE", help="write the report as JUnit XML too")
    add(
        "--html",
        type=pathlib.Path,
        metavar="FILE",
        help="write the report as a page for browsers too",
    )
    add(
        "--annotate",
        type=pathlib.Path,
        metavar="OUT.pcapng",
        help="write a copy of the one FILE with a comment on each packet of a finding; both are regular files",
    )
    add(
        "--markdown",
        action="store_true",
        help="print Markdown in place of text, which a mailing list can quote",
    )
    add(
        "-v",
        "--verbose",
        action="store_true",
        help="print the octets of each finding's message, and the messages around it",
    )
    add(
        "--quiet",
        action="store_true",
        help="print findings, errors of files and unjudged parts only",
    )
    parser.set_defaults(run=_grade, parser=parser)


def _port(text):
    number = int(text) if text.isdecimal() else 0
    if not 0 < number < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: 1 to 65535")
    return number


def _grade(arguments):
    if (problem := outputs.problem(arguments)) is not None:
        arguments.parser.error(problem)
    from . import grade_commands

    return grade_commands.grade(arguments)
