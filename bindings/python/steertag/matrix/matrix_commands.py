"""The commands `steertag matrix` and `steertag diff`."""

from ..atomic_file import write_atomically
from ..baseline import BaselineError
from ..failure import Failure
from . import difference_text, matrix_markdown, matrix_text
from .difference import compare
from .load_target import load_targets
from .table import by_side, rows

DIFFERS = 1  # the exit status of two targets that differ


def matrix(arguments):
    """Prints the matrix, or writes its page."""
    targets = _load(arguments.target)
    if not targets:
        raise Failure("there are no shipped baselines; name a report or a baseline")
    if arguments.html is not None:
        _write(arguments.html, _page(targets, arguments.by, arguments.differences))
        return 0
    if arguments.markdown:
        lines = matrix_markdown.lines(targets, arguments.by, arguments.differences)
        print("\n".join(lines).lstrip("\n"))
        return 0
    for number, (side, columns) in enumerate(by_side(targets)):
        print("\n" * (number > 0) + f"{side}s\n")
        every = rows(columns, arguments.by, side)
        chosen = [row for row in every if row.differs() or not arguments.differences]
        shown = [row for row in chosen if arguments.all or not row.passes()]
        for line in matrix_text.lines(columns, shown, arguments.by, not arguments.brief):
            print(line)
        print(f"\n{_left(every, chosen, shown, arguments.by)}")
    return 0


def diff(arguments):
    """Prints the differences of two targets."""
    targets = _load([arguments.before, arguments.after])
    before, after = targets
    if before.sides and after.sides and before.sides.isdisjoint(after.sides):
        raise Failure(f"{_tests(before)}, and {_tests(after)}: they have no case in common")
    comparison = compare(before, after)
    for line in difference_text.lines(targets, comparison, arguments.cases):
        print(line)
    return DIFFERS if comparison.changes else 0


def _tests(target):
    return f"{target.name} is a {' and a '.join(sorted(target.sides))}"


def _left(every, chosen, shown, by):
    """The number of rows, and how many are left out for which reason."""
    parts = [f"{len(shown)} of {len(every)} {by}s"]
    if len(every) > len(chosen):
        parts.append(f"{len(every) - len(chosen)} are the same everywhere")
    if len(chosen) > len(shown):
        parts.append(f"{len(chosen) - len(shown)} pass everywhere (--all prints them)")
    return "; ".join(parts)


def _load(names):
    try:
        return load_targets(names)
    except BaselineError as error:
        raise Failure(str(error)) from None


def _page(targets, by, differences):
    from .matrix_page import page

    return page(targets, by, differences)


def _write(path, content):
    try:
        write_atomically(path, content)
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from None
