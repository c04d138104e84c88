"""Messages of older protocols, which a client discards: RFC 5666 and the prototype of 2003."""

import pytest

from steertag import wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import ERR_CHUNK, is_plain, is_read
from ..call_kinds import CALL_KINDS, denial, deny_then_conform
from ..client_verdicts import completes, expect_or
from ..short_read import cut, placed, shortened

DONE = 3
SERVER_MEMORY = wire.Segment(handle=0x7E570001, length=4096, offset=1 << 33)


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case("client.legacy.msgp.{call_kind}", requirements=["RFC8166-4.6.1-3"], hostile=True)
def test_msgp(bench, call_kind):
    """A reply as RDMA_MSGP is discarded."""
    interpose = deny_then_conform("procedure.msgp-align-4")
    completes(bench.use(reply=interpose, when=CALL_KINDS[call_kind]), "RFC8166-4.6.1-3")


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case("client.legacy.done.{call_kind}", requirements=["RFC8166-4.6.2-2"], hostile=True)
def test_done(bench, call_kind):
    """RDMA_DONE with the XID of the call ends nothing."""
    interpose = deny_then_conform("procedure.done")
    completes(bench.use(reply=interpose, when=CALL_KINDS[call_kind]), "RFC8166-4.6.2-2")


@case("client.legacy.done.padded", requirements=["RFC8166-4.6.2-2"], hostile=True)
def test_long_done(bench):
    """RDMA_DONE with octets behind it, so that it is no short message, ends nothing."""
    interpose = deny_then_conform("procedure.done", "trailing.octets-32")
    completes(bench.use(reply=interpose), "RFC8166-4.6.2-2")


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case("client.legacy.done.after-{call_kind}", requirements=["RFC8166-4.6.2-2"], hostile=True)
def test_done_behind(bench, call_kind):
    """RDMA_DONE behind the reply, as if it had had read chunks, is discarded."""

    def interpose(reply):
        reply.conform()
        reply.send_mutated("procedure.done-28-octets")

    completes(bench.use(reply=interpose, when=CALL_KINDS[call_kind]), "RFC8166-4.6.2-2")


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
    """A message of the prototype, which has no credit word, with the XID of the call. Its words
    have other offsets, so that the client discards it."""
    make, row = PROTOTYPE[name]

    def interpose(reply):
        reply.send(make(denial(reply)))
        reply.conform()

    completes(bench.use(reply=interpose, when=is_plain), row)


@case("client.legacy.error-of-no-meaning", requirements=["RFC8166-4.5-9"], hostile=True)
def test_error_of_no_meaning(bench):
    """An RDMA_ERROR with an undefined code and the eight words that RFC 5666 has behind it. It does
    not decode any more, and the reply behind it completes the call."""

    interpose = deny_then_conform(ERR_CHUNK, "error.code-3", "trailing.octets-32")
    completes(bench.use(reply=interpose, when=is_plain), "RFC8166-4.5-9")


@case(
    "client.legacy.data-in-read-chunk",
    requirements=["RFC8166-3.1-1"],
    hostile=True,
    unbroken="RFC8166-3.1-1: ours has no code that reads the memory of a server.",
)
def test_data_in_read_chunk(bench):
    """The data of a READ are in the server's memory, and a read chunk of the reply says where, as
    in RFC 5666. The write chunk comes back unused. The client does not read there: it discards the
    reply, or fails the call."""

    def interpose(reply):
        # What is left out is the end of the message.
        reply.send_mutated("write-list.unused", "read-list.invented")
        reply.conform()

    outcome = bench.use(reply=interpose, when=is_read)
    refused = "it takes the reply for one that ends the call"
    expect_or(bench, outcome, "RFC8166-3.1-1", kinds.COMPLETED, {kinds.REFUSED: refused})


def _whole_words(reply):
    """Whether the data of a READ need no roundup, and could be fewer."""
    length = len(placed(reply)) if is_read(reply) else 0
    return length > 0 and length % 4 == 0 and shortened(reply, length - 1) is not None


@case("client.legacy.roundup-returned", requirements=["RFC8166-3.4.6.1-1"], hostile=True)
def test_roundup_returned(bench):
    """A READ gives one octet less than asked for. The length of its write chunk counts the roundup,
    which was not placed, as in RFC 5666. To RFC 8166 that is no result. A client that takes it
    gives its user the octets of the file and no more. A client that discards the reply gets another
    when it is quiet."""
    interposed = []

    def interpose(reply):
        draft = reply.draft()
        draft.payload, data = shortened(reply, len(placed(reply)) - 1)
        interposed.append(reply)
        reply.push(cut(reply.writes, len(data)))
        reply.send(draft)

    def quiet():
        if interposed and interposed[0].raw.up and not interposed[0].offered_again:
            interposed.pop().conform()

    outcome = bench.use(reply=interpose, when=_whole_words, quiet=quiet)
    again = "the roundup was no data to it, or it took the next reply"
    expect_or(bench, outcome, "RFC8166-3.4.6.1-1", kinds.REFUSED, {kinds.COMPLETED: again})
