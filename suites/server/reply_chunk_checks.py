"""Checks of what a reply owes for the reply chunk of its call (RFC 8166 3.5.3, 4.3.3)."""

from steertag import wire
from steertag.suite import expect, kinds
from .chunk_checks import chunk_length

# The requirements that expect_reply_chunk asserts.
REPLY_CHUNK = (
    "RFC8166-3.5.3-2",
    "RFC8166-3.5.3-9",
    "RFC8166-4.3.1-3",
    "RFC8166-4.3.3-3",
    "RFC8166-4.3.3-4",
    "RFC8166-4.3.3-5",
)
# Those of expect_long_reply, with a READ.
LONG_REPLY = (*REPLY_CHUNK, "RFC8166-3.5.3-7", "RFC8267-4-3")


def expect_reply_chunk(outcome, call):
    """The reply returns the offered reply chunk, filled with the whole reply or empty."""
    header = outcome.header
    if isinstance(header, wire.FixedWords) and header.proc == wire.Procedure.NOMSG:
        text = "nothing follows the lists of RDMA_NOMSG"
        expect.true(False, "RFC8166-3.5.3-2", text, outcome=outcome)
    if not isinstance(header, wire.Header) or header.proc == wire.Procedure.ERROR:
        return
    expect.equal(
        len(header.read_list), 0, "RFC8166-4.3.1-3", "read segments in the reply", outcome=outcome
    )
    text = "the reply carries the reply chunk that was offered"
    expect.true(header.reply_chunk is not None, "RFC8166-4.3.3-4", text, outcome=outcome)
    offered, returned = call.reply_chunk.segments, header.reply_chunk
    expect.equal(len(returned), len(offered), "RFC8166-4.3.3-4", "segments", outcome=outcome)
    expect.equal(
        [(segment.handle, segment.offset) for segment in returned],
        [(segment.handle, segment.offset) for segment in offered],
        "RFC8166-4.3.3-4",
        "handles and offsets of the reply chunk",
        show=False,
        outcome=outcome,
    )
    left = length = chunk_length(returned)
    if header.proc == wire.Procedure.MSG:
        text = "length of the reply chunk of an inline reply"
        expect.equal(length, 0, "RFC8166-4.3.3-5", text, outcome=outcome)
    expect.equal(length % 4, 0, "RFC8166-3.5.3-9", "octets behind the roundup", outcome=outcome)
    for room, segment in zip(offered, returned):
        filled = min(left, room.length)
        text = "length of a segment of the reply chunk"
        expect.equal(segment.length, filled, "RFC8166-4.3.3-5", text, outcome=outcome)
        left -= filled


def expect_long_reply(outcome, call):
    """An RDMA_NOMSG whose reply chunk holds the whole reply."""
    expect_reply_chunk(outcome, call)
    expect(outcome, "RFC8166-3.5.3-7", must=[kinds.REPLY])
    proc = outcome.header.proc
    text = "rdma_proc of a reply above the threshold"
    expect.equal(proc, wire.Procedure.NOMSG, "RFC8166-3.5.3-7", text, outcome=outcome)


def expect_any_form(bench, outcome, call):
    """A short reply: inline, or in the reply chunk all the same."""
    expect_reply_chunk(outcome, call)
    expect(outcome, "RFC8166-4.3.3-4", must=[kinds.REPLY])
    if outcome.header.proc == wire.Procedure.NOMSG:
        bench.latitude("RFC8166-4.3.3-3", "a short reply travels in the reply chunk")
