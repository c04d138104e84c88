"""`steertag ls URL`: lists a directory, or a file, of a server."""

import functools
import operator
import stat
import sys

from . import place
from .escape import printable

# A few pages of output for each system call, even where Python does not buffer.
LINES_AT_ONCE = 1024
# Files that came together share their times.
MOST_TIME_TEXTS = 1024
_TYPES = {
    "regular": stat.S_IFREG,
    "directory": stat.S_IFDIR,
    "block": stat.S_IFBLK,
    "character": stat.S_IFCHR,
    "link": stat.S_IFLNK,
    "socket": stat.S_IFSOCK,
    "fifo": stat.S_IFIFO,
}


def add_command(commands):
    parser = commands.add_parser("ls", help="Lists a directory, or a file, of a server")
    parser.add_argument("url", help="provider://host[:port]/path")
    parser.add_argument("-l", dest="long", action="store_true", help="with attributes")
    place.add_options(parser)
    parser.set_defaults(run=run)


def run(arguments):
    """Lists a directory, or a file, of a server."""
    with place.sentences(arguments.url):
        _list(arguments)


def _list(arguments):
    files = place.connect(arguments.url, arguments)
    path = place.path_of(arguments.url)
    found = files.find(path)
    is_directory = found.type == "directory"
    if arguments.long:
        entries = files.list(found) if is_directory else [found]
        entries.sort(key=operator.attrgetter("name"))
        _print_long(files, entries)
    else:
        names = files.names(found) if is_directory else [found.name]
        names.sort()
        for start in range(0, len(names), LINES_AT_ONCE):
            lines = (f"{printable(name)}\n" for name in names[start : start + LINES_AT_ONCE])
            sys.stdout.write("".join(lines))
    place.leave(files)


def _print_long(files, entries):
    rows = [_columns(entry) for entry in entries]
    widths = [max(map(len, column), default=0) for column in zip(*rows)]
    for entry, (mode, links, owner, group, size, time) in zip(entries, rows):
        name = printable(entry.name)
        if entry.type == "link":
            name += " -> " + _link_text(files, entry)
        print(
            f"{mode} {links:>{widths[1]}} {owner:<{widths[2]}} {group:<{widths[3]}} "
            f"{size:>{widths[4]}} {time} {name}"
        )


def _link_text(files, entry):
    """The text of a link, which may be gone by now or unreadable."""
    try:
        return printable(files.read_link(entry))
    except place.errors():
        return "?"


def _columns(entry):
    if entry.mode is None:
        return ("??????????", "?", "?", "?", "?", "?".ljust(16))
    return (
        stat.filemode(_TYPES.get(entry.type, 0) | entry.mode),
        str(entry.links),
        printable(entry.owner) or "?",
        printable(entry.group) or "?",
        str(entry.size),
        _time_text(entry.modified_s),
    )


@functools.lru_cache(MOST_TIME_TEXTS)
def _time_text(seconds):
    import datetime

    try:
        return datetime.datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):  # outside of the calendar
        return str(seconds).ljust(16)
