"""RDMA_MSGP and RDMA_DONE, which RFC 5666 had: a client discards them."""

import pytest

from places import completes, PLACES, then_conform
from steertag import wire
from steertag.suite import case, client_kinds as kinds, expect

DONE = 3


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
