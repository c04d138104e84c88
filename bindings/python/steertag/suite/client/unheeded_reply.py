"""The reply that a client did not take: it waited for one, and nothing came from it behind that reply."""

from ... import trace, wire
from ...traces.event import LOCAL_KINDS
from ..cases.case_end import EXCHANGES, Failed

# A client that has taken a reply goes on, or ends, before so much time has passed.
SILENCE_NS = 5_000_000_000
REPLY = bytes((0, 0, 0, 1))  # the second word of an RPC message (RFC 5531 9)
# What the requester owes to a reply of this form (RFC 8166).
LONG, INLINE_INSTEAD, WITH_DATA = "RFC8166-4.3.3-6", "RFC8166-4.3.3-7", "RFC8166-3.4.6.1-1"


def unheeded_reply(connections):
    """The Failed of a use that did not complete, for want of a reaction to the last message of all. None if that may
    have had one: the last message is the client's, or the end came soon. Over TCP no times are known: None too.
    """
    watches = [getattr(conn, "watch", None) for conn in connections]
    if not watches or None in watches:
        return None
    traces = [list(watch.recorder.events()) for watch in watches]
    number, place = max(
        (
            (number, place)
            for number, events in enumerate(traces)
            for place, event in enumerate(events)
            if event.kind == "send"
        ),
        key=lambda each: traces[each[0]][each[1]].time_ns,
        default=(0, None),
    )
    if place is None or not _is_late(traces[number][place:]):
        return None
    header = _header_of_reply(bytes(traces[number][place].bytes))
    if header is None:
        return None
    reason = f"{_owed(header)}: the client went on with nothing behind the reply to its call"
    return Failed(reason, connections[number].journal_text())


def _is_late(events):
    """Whether the first event is a message of the server, and only the end of the connection comes behind it, late."""
    reply, *behind = (event for event in events if event.kind not in LOCAL_KINDS)
    if reply.actor != trace.Role.server:
        return False
    if any(event.kind != "disconnect" for event in behind):
        return False
    return not behind or behind[-1].time_ns - reply.time_ns >= SILENCE_NS


def _header_of_reply(octets):
    """That of an RPC reply; None of a call of the server, or of an RDMA_ERROR."""
    try:
        header, payload = wire.decode(octets)
    except wire.DecodeError:
        return None
    is_long = header.proc == wire.Procedure.NOMSG
    return header if is_long or payload[4:8] == REPLY else None


def _owed(header):
    if header.reply_chunk and header.proc == wire.Procedure.NOMSG:
        return LONG
    if header.reply_chunk:
        return INLINE_INSTEAD
    return WITH_DATA if header.write_list else EXCHANGES
