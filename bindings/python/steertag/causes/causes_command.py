"""`steertag causes`: the failures of a run by cause."""

import pathlib

from .. import build_paths
from ..failure import Failure
from ..files.escape import printable
from .digest import counted, details, digest, headline, shown_path
from .fold import fold
from .run_cases import BadReport, load


def add_command(commands):
    parser = commands.add_parser(
        "causes",
        help="Shows the failures of a run by cause",
        description="Shows the failures of a run by cause: the digest that the run ended with, or one "
        "cause with all its cases. `--ids` gives their ids alone, for `pytest --case ID`.",
    )
    parser.add_argument(
        "report",
        type=pathlib.Path,
        nargs="?",
        default=build_paths.REPORT,
        help="report.json, or its directory (default build/report)",
    )
    parser.add_argument("--cause", type=int, metavar="N", help="this cause, with all its cases")
    parser.add_argument(
        "--ids", action="store_true", help="only the ids of the cases, one a line, for scripts"
    )
    parser.set_defaults(run=causes)


def causes(arguments):
    """Prints the digest, or one cause."""
    try:
        run = load(arguments.report)
    except BadReport as error:
        raise Failure(str(error)) from None
    folded = fold(run.failed)
    if arguments.cause is not None:
        folded = [_chosen(folded, arguments.cause)]
    path = arguments.report
    directory = path if path.is_dir() else path.parent
    if arguments.ids:
        lines = [case.id for cause in folded for case in cause.cases]
    elif arguments.cause is not None:
        lines = _whole(folded[0], run, directory)
    else:
        lines = list(digest(run, directory)) or ["no case went wrong"]
    for line in lines:
        print(line)
    return 0


def _chosen(folded, number):
    if 1 <= number <= len(folded):
        return folded[number - 1]
    raise Failure(f"--cause {number}: the report has {counted(len(folded), 'cause')}")


def _whole(cause, run, directory):
    cases = counted(len(cause.cases), "case")
    yield f"cause {cause.number}, {cases}: {headline(cause, run.clauses)}"
    yield from details(cause, run.clauses, shown_path(directory))
    yield ""
    for case in cause.cases:
        yield f"{case.verdict:<13} {case.id}: {printable(case.reason)}"
