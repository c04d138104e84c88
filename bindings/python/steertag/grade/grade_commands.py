"""The command `steertag grade`: the text of each file in turn, then the reports of all files."""

import datetime
import os
import pathlib
import sys
import time

from ..atomic_file import write_atomically
from ..failure import Failure
from ..verdict import Verdict
from . import file_lines, grade_document, grade_text
from .graded import Status
from .reading import grade_file
from .small_file import is_small

# Exit statuses. If several apply, the first in _FIRST counts.
CLEAN, VIOLATIONS, UNREADABLE, NOTHING = 0, 1, 2, 3
_FIRST = (UNREADABLE, VIOLATIONS, NOTHING, CLEAN)
_SHOWN = {
    "must": (Verdict.FAIL,),
    "should": (Verdict.FAIL, Verdict.WARN),
    "all": (Verdict.FAIL, Verdict.WARN, Verdict.LATITUDE),
}


def grade(arguments):
    """Judges the connections in capture files; the exit status is that of the worst file."""

    def shown(row):
        return row.verdict in _SHOWN[arguments.level]

    started, started_s = datetime.datetime.now(datetime.timezone.utc), time.monotonic()
    files = []
    decoded = arguments.profile != "prototype"  # whose header has another layout
    for path in arguments.file:
        files.append(grade_file(path, arguments.port, arguments.profile))
        if arguments.json != "-" and not arguments.markdown:
            _print(files[-1], shown, arguments.quiet, arguments.strict, arguments.verbose, decoded)
        _print_error(files[-1])
    statuses = {_exit_status(each, arguments.strict) for each in files}
    status = next(each for each in _FIRST if each in statuses)
    if arguments.markdown:
        _print_markdown(files, shown, decoded)
    if arguments.html is not None:
        when = started, time.monotonic() - started_s
        _write_page(arguments.html, files, shown, decoded, when)
    _write(arguments, files, status, shown)
    return status


def _exit_status(graded, strict):
    if graded.status in (Status.UNREADABLE, Status.DAMAGED):
        return UNREADABLE
    if graded.status is Status.NOTHING:
        return NOTHING
    broken = graded.violations or (strict and graded.warnings)
    return VIOLATIONS if broken else CLEAN


def _print(graded, shown, quiet, strict=False, verbose=False, decoded=True):
    rows = [row for row in graded.rows if shown(row)]
    lines = _finding_lines(graded, rows) if decoded else None
    parts = [list(grade_text.findings(rows, lines, verbose))]
    if not quiet:
        parts.append(list(grade_text.connections(graded)))
        parts.append(list(file_lines.files(graded)))
    unjudged = list(grade_text.unjudged(graded))
    # The reason of an exit status is printed, even if the level hides it.
    if rows or unjudged or _exit_status(graded, strict) == VIOLATIONS or not quiet:
        parts.append([*grade_text.totals(graded), *unjudged])
    _say("".join(f"{line}\n" for part in parts if part for line in (*part, "")))


def _print_markdown(files, shown, decoded):
    from . import markdown

    lines = [markdown.summary(files), ""] if len(files) > 1 else []
    for each in files:
        rows = [row for row in each.rows if shown(row)]
        lines += markdown.text(each, rows, _finding_lines(each, rows) if decoded else None)
    _say("".join(f"{line}\n" for line in lines))


def _write_page(path, files, shown, decoded, when):
    from ..report_page.page import page
    from ..report_page.run_metadata import run_metadata
    from .grade_content import grade_content

    found = [(each, [row for row in each.rows if shown(row)]) for each in files]
    content = grade_content(
        found, run_metadata(["steertag", *sys.argv[1:]], *when), path.parent, decoded
    )
    _write_file(path, page(content))


def _finding_lines(graded, rows):
    """The FindingLines of the findings that are printed, or None. NFS's tables are loaded only for them."""
    if not rows or not is_small(graded.path):
        return None
    from .finding_lines import FindingLines

    return FindingLines(graded, rows)


def _say(content):
    """Prints to standard output. A reader that closes it does not change the exit status."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(content)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise Failure(f"standard output: {error.strerror}") from None


def _print_error(graded):
    message = grade_text.error(graded)
    if message is not None:
        print(f"steertag: {message}", file=sys.stderr)


def _write(arguments, files, status, shown):
    """Writes the reports. The JSON is last: a failed output changes the exit status in it."""
    if arguments.annotate is not None and files[0].report is not None:
        from .annotation import annotate

        annotate(files[0], arguments.annotate, shown)
    if arguments.junit is not None:
        from . import junit

        content = junit.text(files, _SHOWN[arguments.level], arguments.strict)
        _write_file(arguments.junit, content)
    if arguments.json == "-":
        _say(grade_document.text(files, status))
    elif arguments.json is not None:
        _write_file(pathlib.Path(arguments.json), grade_document.text(files, status))


def _write_file(path, content):
    try:
        write_atomically(path, content)
    except OSError as error:
        raise Failure(f"{os.fsdecode(path)}: {error.strerror}") from None
