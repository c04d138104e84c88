"""The last events of a connection over TCP, decoded for failures: records, and other octets."""

import collections

from ...traces.connection_trace import ConnectionTrace
from ...traces.event import Event, NOTE, OCTETS, RECORD
from ...traces.line import Violation
from ...traces.trace_text import trace_text

# Events kept, and octets of theirs: a reply is decoded by its call, which may be some events before.
MOST_EVENTS, MOST_OCTETS = 512, 8 << 20


class RecordJournal:
    """Keeps the last events of one connection."""

    def __init__(self):
        self._count = 0
        self._octets = 0
        self._events = collections.deque()
        self._records = []  # the index of the event of each record of the server
        self._marks = []  # (index of an event, requirement)

    def note(self, actor, kind, octets=None):
        """Adds an event. `octets` is the RPC message of a "record", or other octets of the stream, which `kind`
        names. Without octets `kind` is a sentence."""
        fields = {"text": kind} if octets is None else {"text": kind, "bytes": bytes(octets)}
        what = RECORD if kind == "record" else NOTE if octets is None else OCTETS
        if what == RECORD and actor == "server":
            self._records.append(self._count)
        self._events.append(Event(self._count, actor, what, fields))
        self._octets += len(octets or b"")
        self._count += 1
        while len(self._events) > MOST_EVENTS or self._octets > MOST_OCTETS:
            self._octets -= len(self._events.popleft().fields.get("bytes", b""))

    def mark(self, number, requirement_id):
        """The server's record with this number, from 1, breaks a requirement."""
        if 0 < number <= len(self._records):
            self._marks.append((self._records[number - 1], requirement_id))

    def lines(self):
        """[traces Line] of the events that are kept."""
        violations = [Violation(*mark) for mark in self._marks]
        return list(ConnectionTrace().lines(self._events, violations))

    def text(self):
        """The last lines, and those that break a requirement."""
        head = f"trace of {self._count} events over TCP:"
        return "\n".join([head, *(f"  {line}" for line in trace_text(self.lines()))])
