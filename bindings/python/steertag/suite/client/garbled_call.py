"""The call that the unaltered server could not decode."""

from ... import rpc, trace, wire
from ..cases.case_end import EXCHANGES, Failed

# What the requester owes to a payload that it reduces (RFC 8166).
REDUCED = "RFC8166-3.4.1-1"


def garbled_call(connections):
    """The Failed of a use that did not complete, for the first call whose answer is GARBAGE_ARGS (RFC 5531 9); None
    without one. Over TCP no messages are known: None too."""
    for conn in connections:
        watch = getattr(conn, "watch", None)
        calls = {}  # by XID
        for event in watch.recorder.events() if watch else ():
            if event.kind != "send":
                continue
            try:
                header, payload = wire.decode(bytes(event.bytes))
            except wire.DecodeError:
                continue
            if event.actor == trace.Role.client:
                calls[header.xid] = header
            elif header.xid in calls and _is_refusal(payload):
                reason = f"{_owed(calls[header.xid])}: the arguments of a call do not decode"
                return Failed(reason, conn.journal_text())
    return None


def _is_refusal(payload):
    try:
        reply, _ = rpc.Reply.decode(payload)
    except wire.DecodeError:
        return False
    accepted = reply.status == rpc.ReplyStatus.MSG_ACCEPTED
    return accepted and reply.accept_status == rpc.AcceptStatus.GARBAGE_ARGS


def _owed(header):
    return REDUCED if any(segment.position for segment in header.read_list) else EXCHANGES
