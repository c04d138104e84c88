"""`steertag summary`: a run in short for a CI service."""

import pathlib
import sys

from .. import build_paths

FORMATS = ("markdown", "github", "gitlab", "badge")


def add_command(commands):
    parser = commands.add_parser(
        "summary",
        help="Prints a run in short for a CI service: Markdown, annotations, a badge",
        description="Prints a run in short for a CI service, causes first. With --baseline it has the differences from "
        "the baseline alone. docs/ci.md shows its use.",
    )
    parser.add_argument(
        "report",
        type=pathlib.Path,
        nargs="?",
        default=build_paths.REPORT,
        help="report.json, or its directory (default build/report)",
    )
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default=FORMATS[0],
        help="markdown: a page (default); github: annotations, as workflow commands; gitlab: a Code Quality report; "
        "badge: JSON for the endpoint of shields.io",
    )
    parser.add_argument(
        "--baseline", type=pathlib.Path, metavar="FILE", help="the baseline that the run was given"
    )
    parser.add_argument(
        "--status",
        type=int,
        metavar="N",
        help="exit status of the run; of a run without a report the summary says why",
    )
    parser.set_defaults(run=summary)


def summary(arguments):
    """Prints the summary in the format."""
    from . import (
        badge,
        code_quality,
        run_summary,
        summary_page,
        workflow_commands,
    )  # for this command alone

    modules = (summary_page, workflow_commands, code_quality, badge)
    module = dict(zip(FORMATS, modules, strict=True))[arguments.format]
    found = run_summary.load(arguments.report, arguments.baseline, arguments.status)
    sys.stdout.write(module.text(found))
    return 0
