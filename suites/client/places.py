"""Where in a client's use of the server a case bends something, and messages that many cases share."""

from steertag import wire
from steertag.suite.script import is_plain, is_read, is_write

# By the kind of call that is answered.
PLACES = {"plain": is_plain, "read": is_read, "write": is_write}

READ_BYTES = 32768
_NAMES_SHAPE = wire.Draft(
    xid=0x5EED0001,
    credit=32,
    payload=b"\x5e" * 40,
    write_list=[
        wire.DraftChunk(
            segments=[wire.Segment(handle=0x7E570001, length=READ_BYTES, offset=1 << 33)]
        )
    ],
)


def read_reply_shape():
    """A draft with the lists that the reply to a READ with one segment has: variants of it have the
    names of those of a real one."""
    return wire.draft_of(wire.encode(_NAMES_SHAPE))


def denial(reply):
    """A draft of the reply in which RPC denies the call: a client that takes it fails the call."""
    draft = reply.draft()
    # RFC 5531 9: REPLY, MSG_DENIED, AUTH_ERROR, AUTH_FAILED.
    words = (1, 1, 1, 7)
    draft.payload = draft.payload[:4] + b"".join(word.to_bytes(4, "big") for word in words)
    return draft


def then_conform(make):
    """A bend that sends what `make(draft)` leaves of a reply that would fail the call, and behind it the
    reply as it should be: only a client that discards the first completes with the second."""

    def bend(reply):
        draft = denial(reply)
        made = make(draft)
        reply.send(draft if made is None else made)
        reply.conform()

    return bend
