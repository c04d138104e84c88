"""Lies about the chunks that come back with a reply: nothing but what was really placed may be taken for
data."""

import pytest

from steertag import wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import has_reply_chunk, is_plain, is_read, is_write, Script
from .places import expect_or, speaks_nfs3
from .short_read import cut, parted, placed, replaced, shortened

# So many octets, which need roundup, fit into any reply.
SHORT_READ_BYTES = 503
# Also by discarding the reply for the error in its header (RFC 8166 4.5), and taking the next.
AGAIN = "the user got the right octets all the same"


def _first(draft):
    return draft.write_list[0]


def _segments(draft, change):
    chunk = _first(draft)
    chunk.segments = change(list(chunk.segments))
    draft.write_list = [chunk, *draft.write_list[1:]]


def _last(change):
    """A lie about the last segment."""

    def lie(draft):
        _segments(draft, lambda all_: [*all_[:-1], change(all_[-1])])

    return lie


def _halved(segment):
    half = segment.length // 2
    return [
        replaced(segment, length=half),
        replaced(segment, length=segment.length - half, offset=segment.offset + half),
    ]


LIES = {
    "length-minus-one": _last(lambda s: replaced(s, length=s.length - 1)),
    "length-halved": _last(lambda s: replaced(s, length=s.length // 2)),
    "length-zero": _last(lambda s: replaced(s, length=0)),
    "length-plus-one": _last(lambda s: replaced(s, length=s.length + 1)),
    "length-doubled": _last(lambda s: replaced(s, length=s.length * 2)),
    "length-largest": _last(lambda s: replaced(s, length=0xFFFFFFFF)),
    "handle-other": _last(lambda s: replaced(s, handle=s.handle ^ 0x100)),
    "handle-zero": _last(lambda s: replaced(s, handle=0)),
    "offset-plus-one": _last(lambda s: replaced(s, offset=s.offset + 1)),
    "offset-zero": _last(lambda s: replaced(s, offset=0)),
    "offset-largest": _last(lambda s: replaced(s, offset=0xFFFFFFFFFFFFFFFF)),
    "segment-dropped": lambda draft: _segments(draft, lambda all_: all_[:-1]),
    "segment-added": lambda draft: _segments(draft, lambda all_: [*all_, all_[-1]]),
    "segment-split": lambda draft: _segments(draft, lambda all_: [*all_[:-1], *_halved(all_[-1])]),
    "chunk-dropped": lambda draft: setattr(draft, "write_list", draft.write_list[:-1]),
    "chunk-added": lambda draft: setattr(draft, "write_list", [*draft.write_list, _first(draft)]),
    "reply-chunk-invented": lambda draft: setattr(draft, "reply_chunk", _first(draft)),
}


@pytest.mark.parametrize("name", LIES)
@case("client.chunks.{name}", requirements=["RFC8166-3.4.3-2"], hostile=True)
def test_lie(bench, name):
    """All data of a READ are placed; the chunk that comes back is not the one of the call, or has
    another length than the result. The call fails, or the data are right: what a requester has to do with
    a wrong echo no document says, so that of others only harm is judged. Behind it comes the reply as it
    should be."""

    def bend(reply):
        draft = reply.draft()
        LIES[name](draft)
        reply.push()
        reply.send(draft)
        reply.send()

    outcome = bench.use(reply=bend, when=is_read)
    expect_or(bench, outcome, "RFC8166-3.4.3-2", kinds.REFUSED, {kinds.COMPLETED: AGAIN})


@pytest.mark.parametrize("octets", [0, 1, 1024, 16384])
@case("client.chunks.placed-{octets}", requirements=["RFC8166-3.4.6.1-1"], hostile=True)
def test_placed_less(bench, octets):
    """Only so many octets are placed and the chunk says so, but the READ's count says that there are
    more: what the segments hold is all that there is, and the rest of the memory is no data. A client
    that discards the reply gets another when it is quiet."""
    bent = []

    def bend(reply):
        draft = reply.draft()
        filled = wire.DraftChunk(segments=parted(_first(draft).segments, octets)[0])
        draft.write_list = [filled, *draft.write_list[1:]]
        bent.append(reply)
        reply.push(cut(reply.writes, octets))
        reply.send(draft)

    def quiet():
        if bent and bent[0].line.up and not bent[0].offered_again:
            bent.pop().conform()

    outcome = bench.use(reply=bend, when=is_read, quiet=quiet)
    again = "it read the rest, or all of it, again, or took the next reply"
    expect_or(bench, outcome, "RFC8166-3.4.6.1-1", kinds.REFUSED, {kinds.COMPLETED: again})


class Inline(Script):
    """Puts the data of one READ inline into the reply, right but no more than fit, and leaves its write
    chunk unused."""

    def __init__(self):
        self._data = b""
        self.again = False  # another call has brought the same

    @property
    def waits(self):
        return not self._data

    def on_departure(self, reply):
        if reply.kind != "reply":
            return False
        if self._data:
            self.again |= self._data in bytes(reply.message) + placed(reply)
            return False
        short = shortened(reply, SHORT_READ_BYTES) if is_read(reply) else None
        if short is None:
            return False
        payload, self._data = short
        draft = reply.draft()
        _segments(draft, lambda all_: [replaced(each, length=0) for each in all_])
        draft.payload = payload + self._data + bytes(-len(self._data) % 4)
        reply.send(draft)
        return True


@case("client.chunks.inline-despite-chunk", requirements=["RFC8166-6.1-6"], hostile=True)
def test_inline(bench):
    """The data of a READ come inline although there is a write chunk for them: a permanent error of the
    call. Another call may ask for the same."""
    script = Inline()
    outcome = bench.use(script)
    again = "it read the same by another call"
    expect_or(bench, outcome, "RFC8166-6.1-6", kinds.REFUSED, {kinds.COMPLETED: again})
    ended = outcome.kind != kinds.COMPLETED or script.again
    expect.true(ended, "RFC8166-6.1-6", "the reply ends the call", outcome=outcome)


@pytest.mark.parametrize("place, when", [("plain", is_plain), ("write", is_write)])
@pytest.mark.parametrize("list_", ["write-list", "reply-chunk"])
@case("client.chunks.unasked-{list_}.{place}", requirements=["RFC8166-3.4.3-2"], hostile=True)
def test_unasked(bench, place, when, list_):
    """A reply brings a chunk although the call has offered none of the kind: it names memory that is
    nobody's."""

    def bend(reply):
        segment = wire.Segment(handle=0x7E570001, length=64, offset=1 << 33)
        chunk = wire.DraftChunk(segments=[segment])
        draft = reply.draft()
        if list_ == "write-list":
            draft.write_list = [chunk]
        else:
            draft.reply_chunk = chunk
        reply.send(draft)
        reply.conform()

    outcome = bench.use(reply=bend, when=when)
    discarded = "it discards the reply, and takes the next"
    expect_or(bench, outcome, "RFC8166-3.4.3-2", kinds.REFUSED, {kinds.COMPLETED: discarded})


@pytest.mark.parametrize("place, when", [("plain", is_plain), ("read", is_read)])
@case("client.chunks.nomsg-unasked.{place}", requirements=["RFC8166-4.5-3"], hostile=True)
def test_nomsg(bench, place, when):
    """RDMA_NOMSG with a reply chunk that the call has not offered: there is nothing to take the RPC
    message from."""

    def bend(reply):
        if reply.call.reply_chunk:
            bench.not_testable("the call offers a reply chunk")
        segment = wire.Segment(handle=0x7E570001, length=64, offset=1 << 33)
        draft = reply.draft()
        draft.proc, draft.payload = 1, b""
        draft.reply_chunk = wire.DraftChunk(segments=[segment])
        reply.send(draft)
        reply.conform()

    outcome = bench.use(reply=bend, when=when)
    refused = "it ends the call whose reply is of no use"
    expect_or(bench, outcome, "RFC8166-4.5-3", kinds.COMPLETED, {kinds.REFUSED: refused})


LONG_LIES = {
    "length-zero": lambda segment: replaced(segment, length=0),
    "length-plus-one": lambda segment: replaced(segment, length=segment.length + 1),
    "handle-other": lambda segment: replaced(segment, handle=segment.handle ^ 0x100),
    "offset-plus-four": lambda segment: replaced(segment, offset=segment.offset + 4),
}


@pytest.mark.parametrize("name", LONG_LIES)
@case(
    "client.chunks.long-reply.{name}",
    requirements=["RFC8166-3.4.3-2"],
    needs=["client-reply-chunks"],
    hostile=True,
)
def test_long_reply(bench, name):
    """The reply goes into the reply chunk, and the chunk that comes back is not that of the call."""

    def bend(reply):
        offered = reply.call.reply_chunk[0]
        payload = reply.payload
        if not payload or len(payload) > offered.length:
            bench.not_testable("the reply does not fit the first segment of the reply chunk")
        reply.line.write(payload, offered.handle, offered.offset)
        segments = [replaced(offered, length=len(payload))]
        segments += [replaced(each, length=0) for each in reply.call.reply_chunk[1:]]
        segments[0] = LONG_LIES[name](segments[0])
        draft = reply.draft()
        draft.proc, draft.payload = 1, b""
        draft.reply_chunk = wire.DraftChunk(segments=segments)
        reply.send(draft)
        reply.conform()

    outcome = bench.use(reply=bend, when=has_reply_chunk)
    discarded = "it discards the reply, and takes the next"
    # Ours goes by the RPC message in the chunk, however long that is, and discards a reply without one.
    taken = name.startswith("length") and not (name == "length-plus-one" and speaks_nfs3(bench))
    ours = kinds.COMPLETED if taken else kinds.REFUSED
    others = {kinds.COMPLETED: discarded}
    expect_or(bench, outcome, "RFC8166-3.4.3-2", kinds.REFUSED, others, ours)
