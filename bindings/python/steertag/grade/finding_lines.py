"""The decoded line of each finding's event, and the lines around it, from a second look at the file."""

import gzip
import zlib

from ..traces.capture_lines import events_of_capture, lines_of_events
from ..traces.line import Violation
from ..traces.trace_text import is_shown, line_text, octet_text
from .compressed import is_compressed
from .small_file import is_small, LARGEST_FILE

# Lines before and behind an event that are shown around it.
AROUND = 3
# Events behind the last finding that are decoded: merged ones make the lines around it.
MOST_BEHIND = 256


class FindingLines:
    """Lines of the connections of one graded file that have findings."""

    def __init__(self, graded, rows):
        self._places = {}  # (connection, actor, kind, number): (its lines, place among them)
        source = _source(graded.path) if rows else None
        connections = [] if source is None else events_of_capture(source)
        for number, events in enumerate(connections, start=1):
            wanted = [row for row in rows if row.connection == number]
            if wanted:
                self._add(number, events, wanted)

    def around(self, row):
        """[Line]: that of the row's event, and the lines around it; none if they are not known."""
        lines, place = self._places.get(_event(row), ((), 0))
        return lines[max(0, place - AROUND) : place + AROUND + 1]

    def text(self, row, verbose=False):
        """[text]: the line of the row's event; verbosely also its octets, and the lines around it."""
        lines, place = self._places.get(_event(row), ((), 0))
        if not lines:
            return
        if not verbose:
            yield line_text(lines[place])
            return
        for line in self.around(row):
            yield line_text(line)
            if line is lines[place]:
                yield from octet_text(line)

    def operation_of(self, row):
        """What the call of the row's event asks for, as "NFSv3 READ", or "" """
        lines, place = self._places.get(_event(row), ((), 0))
        return lines[place].operation if lines else ""

    def _add(self, number, events, rows):
        indexes, counts = {}, {}
        for event in events:
            key = event.actor.name, event.kind
            counts[key] = counts.get(key, 0) + 1
            indexes[number, *key, counts[key]] = event.index
        violations = [
            Violation(indexes[_event(row)], row.requirement.id)
            for row in rows
            if _event(row) in indexes
        ]
        made = lines_of_events(_needed(events, violations), violations, number)
        lines = [line for line in made if is_shown(line)]
        place_of = {index: at for at, one in enumerate(lines) for index in one.events}
        for row in rows:
            place = place_of.get(indexes.get(_event(row)))
            if place is not None:
                self._places[_event(row)] = lines, place


def _needed(events, violations):
    """The events up to the last violation, and enough behind it for the lines around it."""
    last = max((each.event for each in violations), default=-1)
    return events[: last + 1 + MOST_BEHIND]


def _event(row):
    actor, kind, number = row.event
    return row.connection, actor.name, kind, number


def _source(path):
    """The path, or the octets of a compressed capture, for events_of_capture; None if it cannot be read again, or
    is too large."""
    if not is_small(path):
        return None
    if not is_compressed(path):
        return path
    try:
        with gzip.open(path) as file:
            octets = file.read(LARGEST_FILE + 1)
    except (OSError, EOFError, zlib.error):  # BadGzipFile is an OSError
        return None
    return octets if len(octets) <= LARGEST_FILE else None
