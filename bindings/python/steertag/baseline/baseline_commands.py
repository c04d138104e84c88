"""`steertag baseline check` and `steertag baseline update`."""

import datetime
import pathlib

from ..atomic_file import write_atomically
from ..failure import Failure
from ..files.escape import harmless
from .baseline_file import load, parse, read
from .comparison import compare
from .error import BaselineError
from .untested import KEY as UNTESTED, by_outcome
from .run_report import load_report
from .shipped import path_of

# The exit status of a comparison with differences. Status 2: no comparison is possible.
DIFFERS = 1
MAX_LISTED = 40  # cases named in one list of an update


def add_command(commands):
    parser = commands.add_parser("baseline", help="Compares reports with the baseline of a target")
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    checking = actions.add_parser(
        "check", help="compare a report with a baseline; exit status 0: matches, 1: differs"
    )
    checking.add_argument("report", type=pathlib.Path, help="report.json, or its directory")
    checking.add_argument(
        "baseline", type=pathlib.Path, help="the baseline file, or the name of one that is shipped"
    )
    checking.set_defaults(run=check)
    updating = actions.add_parser(
        "update",
        help="update a baseline by reports; new rows wait for their notes",
        usage="%(prog)s --from REPORT... [--also] [--target NAME] [--note TEXT] FILE",
    )
    updating.add_argument(
        "--from",
        dest="reports",
        type=pathlib.Path,
        nargs="+",
        required=True,
        metavar="REPORT",
        help="report.json, or its directory; of several runs of one target",
    )
    updating.add_argument(
        "--also", action="store_true", help="only add outcomes; keep all that the file expects"
    )
    updating.add_argument("--target", metavar="NAME", help="the target's name, for a new file")
    updating.add_argument(
        "--note", default="", metavar="TEXT", help="what the target does instead, for all new rows"
    )
    updating.add_argument("file", type=pathlib.Path, nargs="?", help="the baseline file")
    updating.set_defaults(run=bring_up_to_date)


def check(arguments):
    """Compares a report with a baseline."""
    try:
        report = load_report(arguments.report)
        baseline = load(path_of(arguments.baseline), report.name)
    except BaselineError as error:
        raise Failure(str(error)) from None
    comparison = compare(report, baseline)
    print(comparison.table())
    return 0 if comparison.matches() else DIFFERS


def bring_up_to_date(arguments):
    """Updates a baseline file, or makes it."""
    from .update import update  # slow to import, and other commands do not need it

    reports, path = list(arguments.reports), arguments.file
    if path is None:  # `--from REPORT... FILE` leaves the file to the option
        path = reports.pop()
    if not reports:
        raise Failure("update needs a report and the baseline file")
    try:
        text = read(path) if path.exists() else ""
        found = [load_report(each) for each in reports]
        target = _target(arguments.target, found, path, text)
        today = datetime.date.today()
        result = update(path, text, found, target, today, arguments.note, arguments.also)
        if not result.nothing() or not text:
            write_atomically(path, result.text)
    except BaselineError as error:
        raise Failure(str(error)) from None
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from None
    if not text:
        print(f"{path}: a new baseline of the target {target}")
    elif result.nothing():
        print(f"{path}: nothing to change")
    _tell(result, arguments.note)
    return 0


def _target(named, reports, path, text):
    """The name of the target, from the arguments and reports, else from the file, else the file's
    stem."""
    names = {report.name for report in reports if report.name} | ({named} if named else set())
    if len(names) > 1:
        raise BaselineError(
            f"the reports (and --target) are of several targets: {', '.join(sorted(names))}"
        )
    if names:
        return names.pop()
    return parse(path, text).target if text else path.stem


def _tell(result, note):
    """Prints which rows were added, changed and removed, and a new number of cases."""
    if result.cases:
        print(f"{result.cases} cases were run")
    waits = "" if note.strip() else "; each waits for a note on what the target does instead"
    _list(f"added{waits}", result.added)
    _list("changed; see whether the note still holds", result.changed)
    _list("removed", result.removed)
    for outcome, cases in by_outcome(result.untested).items():
        added = f"{len(cases)} added to {UNTESTED}, which needs no notes"
        print(f"{added}: {harmless(str(outcome))}")


def _list(title, cases):
    if not cases:
        return
    print(f"{len(cases)} {title}:")
    for case_id in cases[:MAX_LISTED]:
        print(f"  {harmless(case_id)}")
    if len(cases) > MAX_LISTED:
        print(f"  ... and {len(cases) - MAX_LISTED} more")
