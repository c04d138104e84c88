"""What is left of older protocols: messages of RFC 5666 that are gone, and the prototype of 2003. A
client discards them."""

import pytest

from steertag import wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import is_plain, is_read
from .places import completes, expect_or, PLACES, then_conform
from .short_read import cut, placed, shortened

DONE = 3
SERVER_MEMORY = wire.Segment(handle=0x7E570001, length=4096, offset=1 << 33)


@pytest.mark.parametrize("place", PLACES)
@case("client.legacy.msgp.{place}", requirements=["RFC8166-4.6.1-3"], hostile=True)
def test_msgp(bench, place):
    """A reply as RDMA_MSGP is discarded."""

    def as_msgp(draft):
        draft.proc, draft.align, draft.thresh = 2, 4, 1024

    completes(bench.use(reply=then_conform(as_msgp), when=PLACES[place]), "RFC8166-4.6.1-3")


@pytest.mark.parametrize("place", PLACES)
@case("client.legacy.done.{place}", requirements=["RFC8166-4.6.2-2"], hostile=True)
def test_done(bench, place):
    """RDMA_DONE with the XID of the call ends nothing."""

    def done(draft):
        return wire.encode(wire.Draft(xid=draft.xid, credit=32, proc=DONE))[:16]

    completes(bench.use(reply=then_conform(done), when=PLACES[place]), "RFC8166-4.6.2-2")


@case("client.legacy.done.padded", requirements=["RFC8166-4.6.2-2"], hostile=True)
def test_long_done(bench):
    """RDMA_DONE with octets behind it, so that it is no short message, ends nothing."""

    def done(draft):
        return wire.encode(wire.Draft(xid=draft.xid, credit=32, proc=DONE))[:16] + bytes(32)

    completes(bench.use(reply=then_conform(done)), "RFC8166-4.6.2-2")


@pytest.mark.parametrize("place", PLACES)
@case("client.legacy.done.after-{place}", requirements=["RFC8166-4.6.2-2"], hostile=True)
def test_done_behind(bench, place):
    """RDMA_DONE behind the reply, as if it had had read chunks, is discarded."""

    def bend(reply):
        reply.conform()
        reply.send(wire.encode(wire.Draft(xid=reply.xid, credit=32, proc=DONE))[:16] + bytes(12))

    completes(bench.use(reply=bend, when=PLACES[place]), "RFC8166-4.6.2-2")


@case(
    "client.legacy.done.never-sent",
    requirements=["RFC8166-4.6.2-1"],
    needs=["client-read-chunks"],
)
def test_no_done(bench):
    """A client does not tell that a server is done with its read chunks."""
    outcome = bench.use()
    expect(outcome, "RFC8166-4.6.2-1", must=[kinds.COMPLETED])
    procedures = [sent.octets[12:16] for conn in outcome.connections for sent in conn.sent]
    number = procedures.count(DONE.to_bytes(4, "big"))
    expect.equal(number, 0, "RFC8166-4.6.2-1", "RDMA_DONE messages of the client", outcome=outcome)


def prototype(draft, *chunks, payload=b""):
    """The octets of the prototype's message with this XID. Each chunk is an XDR offset, and the length of
    what is there in the server's memory."""
    memory = SERVER_MEMORY.handle, SERVER_MEMORY.offset
    listed = [wire.PrototypeChunk(*each, *memory) for each in chunks]
    return wire.encode(wire.PrototypeHeader(xid=draft.xid, chunks=listed), payload)


def prototype_done(draft):
    return wire.encode(wire.PrototypeHeader(xid=draft.xid, type=wire.PrototypeType.DONE))


# What becomes of a reply that denies the call, and the row by which it is discarded.
PROTOTYPE = {
    # Procedure 0, and the XID of the RPC reply where the read list starts.
    "message": (lambda draft: prototype(draft, payload=draft.payload), "RFC8166-4.5-3"),
    # Procedure 1 (RDMA_NOMSG), and an XDR offset where the read list starts.
    "message-with-chunk": (
        lambda draft: prototype(draft, (len(draft.payload), 4096), payload=draft.payload),
        "RFC8166-4.5-3",
    ),
    # The same without a read list, and a length where the write list starts.
    "long-message": (lambda draft: prototype(draft, (0, len(draft.payload))), "RFC8166-4.5-3"),
    # 12 octets.
    "done": (prototype_done, "RFC8166-4.5-1"),
}


@pytest.mark.parametrize("name", PROTOTYPE)
@case(
    "client.legacy.prototype-{name}",
    requirements=["RFC8166-4.5-3", "RFC8166-4.5-1", "CALLAGHAN2003-4.4-1"],
    hostile=True,
)
def test_prototype(bench, name):
    """A message of the prototype, which has no credit word, with the XID of the call: its words stand in
    other places, so that it is discarded."""
    make, row = PROTOTYPE[name]
    completes(bench.use(reply=then_conform(make), when=is_plain), row)


@case("client.legacy.error-of-no-meaning", requirements=["RFC8166-4.5-9"], hostile=True)
def test_error_of_no_meaning(bench):
    """An RDMA_ERROR with a code that is not defined, and the eight words that RFC 5666 has behind it, does
    not decode any more: the reply behind it completes the call."""

    def error(draft):
        made = wire.Header(xid=draft.xid, credit=32, proc=wire.Procedure.ERROR, error=3)
        made.extra = [0] * 8
        return wire.encode(made)

    completes(bench.use(reply=then_conform(error), when=is_plain), "RFC8166-4.5-9")


@case(
    "client.legacy.data-in-read-chunk",
    requirements=["RFC8166-3.1-1"],
    hostile=True,
    unbroken="RFC8166-3.1-1: ours has no code that reads the memory of a server.",
)
def test_data_in_read_chunk(bench):
    """The data of a READ stand in the server's memory, and a read chunk of the reply says where, as RFC
    5666 had it; the write chunk comes back unused. The client does not read there: it discards the
    reply, or fails the call."""

    def bend(reply):
        draft = reply.draft()
        for chunk in draft.write_list:
            for segment in chunk.segments:
                segment.length = 0
        position = len(draft.payload)  # what is left out is the end of the message
        draft.read_list = [wire.DraftReadEntry(wire.ReadSegment(position, SERVER_MEMORY))]
        reply.send(draft)
        reply.conform()

    outcome = bench.use(reply=bend, when=is_read)
    refused = "it takes the reply for one that ends the call"
    expect_or(bench, outcome, "RFC8166-3.1-1", kinds.COMPLETED, {kinds.REFUSED: refused})


def _whole_words(reply):
    """Whether the data of a READ need no roundup, and could be fewer."""
    length = len(placed(reply)) if is_read(reply) else 0
    return length > 0 and length % 4 == 0 and shortened(reply, length - 1) is not None


@case("client.legacy.roundup-returned", requirements=["RFC8166-3.4.6.1-1"], hostile=True)
def test_roundup_returned(bench):
    """A READ gives one octet less than asked for, and the length of its write chunk counts the roundup,
    which nobody has placed, as RFC 5666 had it. To RFC 8166 that is no result; a client that takes it
    gives its user the octets of the file and no more. One that discards the reply gets another when it is
    quiet."""
    bent = []

    def bend(reply):
        draft = reply.draft()
        draft.payload, data = shortened(reply, len(placed(reply)) - 1)
        bent.append(reply)
        reply.push(cut(reply.writes, len(data)))
        reply.send(draft)

    def quiet():
        if bent and bent[0].line.up and not bent[0].offered_again:
            bent.pop().conform()

    outcome = bench.use(reply=bend, when=_whole_words, quiet=quiet)
    again = "the roundup was no data to it, or it took the next reply"
    expect_or(bench, outcome, "RFC8166-3.4.6.1-1", kinds.REFUSED, {kinds.COMPLETED: again})
