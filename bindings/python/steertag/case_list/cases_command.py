"""`steertag cases`: lists cases, with a sentence each."""

from ..failure import Failure
from . import selection_options

NOTHING = 1  # the exit status if no case is as asked for
_WIDTH = 56  # columns of an id


def add_command(commands):
    parser = commands.add_parser(
        "cases",
        help="Lists the cases, with a sentence each",
        description="Lists the cases: id, what the case asserts, and its requirements.",
    )
    parser.add_argument("path", nargs="*", help="files or folders (default: both suites)")
    selection_options.add_options(parser.add_argument)
    parser.add_argument("--ids", action="store_true", help="print ids only")
    parser.set_defaults(run=cases)


def cases(arguments):
    """Prints a line a case. Returns the exit status."""
    from . import case_selection
    from .kept_list import case_list

    entries = case_list(arguments.path)
    try:
        selection = case_selection.selection_of(
            {entry.id: entry.requirements for entry in entries},
            sections=arguments.section,
            requirements=arguments.requirement,
            topics=arguments.topic,
        )
    except case_selection.NoSuchCases as error:
        raise Failure(str(error)) from None
    found = [entry for entry in entries if selection.takes(entry.id, entry.requirements)]
    print("".join(f"{_line(entry, arguments.ids)}\n" for entry in found), end="")
    return 0 if found else NOTHING


def _line(entry, only_id):
    if only_id:
        return entry.id
    return f"{entry.id:<{_WIDTH}} {entry.sentence} ({' '.join(entry.requirements)})"
