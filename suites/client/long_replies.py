"""Replies that go into the reply chunk of their call, whatever their length."""

from steertag import wire
from .short_read import replaced


def fits_reply_chunk(reply):
    """Whether the RPC message is in the Send, and the reply chunk has room for it."""
    return 0 < len(reply.payload) <= sum(each.length for each in reply.call.reply_chunk or [])


def long_form(reply, message=None):
    """Places the RPC message of a reply that fits its reply chunk there, or this one; the draft of the RDMA_NOMSG for
    it."""
    segments, left = [], reply.payload if message is None else message
    for segment in reply.call.reply_chunk:
        octets, left = left[: segment.length], left[segment.length :]
        if octets:
            reply.raw.write(octets, segment.handle, segment.offset)
        segments.append(replaced(segment, length=len(octets)))
    draft = reply.draft()
    draft.proc, draft.payload = wire.Procedure.NOMSG, b""
    draft.reply_chunk = wire.DraftChunk(segments=segments)
    return draft
