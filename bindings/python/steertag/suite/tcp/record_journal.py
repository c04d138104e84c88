"""The last events of a connection over TCP, for failure texts: records, and other octets."""

import collections
import dataclasses

from ... import rpc, wire

# Events kept and shown, and octets kept of each: the cause of a failure is at the end.
MOST_EVENTS = 24
MOST_OCTETS = 512
# Octets shown of each event.
SHOWN_OCTETS = 28


@dataclasses.dataclass(frozen=True)
class _Event:
    index: int
    actor: str  # client or server
    kind: str
    length: int | None  # None: the event has no octets
    octets: bytes  # the first ones


class RecordJournal:
    """Keeps the last events of one connection."""

    def __init__(self):
        self._count = 0
        self._events = collections.deque(maxlen=MOST_EVENTS)

    def note(self, actor, kind, octets=None):
        """Adds an event. `octets` is the RPC message of a "record", or the partial record of
        "octets"."""
        length = None if octets is None else len(octets)
        kept = bytes((octets or b"")[:MOST_OCTETS])
        self._events.append(_Event(self._count, actor, kind, length, kept))
        self._count += 1

    def text(self):
        """The last events, one line each, with the header of each RPC message below its line."""
        lines = [f"trace of {self._count} events over TCP:"]
        if self._count > len(self._events):
            lines.append(f"  ... {self._count - len(self._events)} earlier")
        for event in self._events:
            lines.append(f"  {_line(event)}")
            if event.kind == "record":
                lines.append(f"      {_described(event.octets)}")
        return "\n".join(lines)


def _line(event):
    text = f"#{event.index} {event.actor} {event.kind}"
    if event.length is None:
        return text
    more = " ..." if event.length > SHOWN_OCTETS else ""
    return f"{text} {event.length} octets [{event.octets[:SHOWN_OCTETS].hex(' ', 4)}{more}]"


def _described(octets):
    """The RPC header in words."""
    try:
        if rpc.direction(octets) == rpc.MessageType.REPLY:
            reply, results = rpc.Reply.decode(octets)
            status = reply.status.name
            if reply.status == rpc.ReplyStatus.MSG_ACCEPTED:
                status = reply.accept_status.name
            return f"REPLY xid 0x{reply.xid:08x} {status}, {len(results)} octets behind"
        call, arguments = rpc.Call.decode(octets)
    except wire.DecodeError as fault:
        return f"no RPC message: {fault}"
    where = f"program {call.program} version {call.version} procedure {call.procedure}"
    return f"CALL xid 0x{call.xid:08x} {where}, {len(arguments)} octets of arguments"
