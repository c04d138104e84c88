"""XIDs of replies: a reply is for the call whose XID it has, and for no other."""

import pytest

from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import is_read
from ..call_kinds import CALL_KINDS, denial
from ..client_verdicts import completes, expect_or

# XIDs that no call in flight can have, also if the client counts them up. A call that is still on
# the wire has not been seen yet.
OTHERS = {
    "below-first": lambda xid, used: (min(used) - 1) & 0xFFFFFFFF,
    "high-bit": lambda xid, used: xid ^ 0x80000000,
    "byte-swapped": lambda xid, used: int.from_bytes(xid.to_bytes(4, "big"), "little"),
    "inverted": lambda xid, used: xid ^ 0xFFFFFFFF,
}


def renamed(reply, xid, rpc_xid):
    """The reply with these XIDs in the header and in the RPC message."""
    return _named(reply.draft(), xid, rpc_xid)


def _named(draft, xid, rpc_xid):
    draft.xid = xid
    draft.payload = rpc_xid.to_bytes(4, "big") + draft.payload[4:]
    return draft


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@pytest.mark.parametrize("name", OTHERS)
@case(
    "client.xid.unknown.{name}.{call_kind}",
    requirements=["RFC8167-2.4-1"],
    bugs=["B126"],
    hostile=True,
)
def test_unknown(bench, name, call_kind):
    """A reply whose XID no call has completes nothing; the right one behind it does."""

    def interpose(reply):
        other = OTHERS[name](reply.xid, {sent.xid for sent in reply.conn.calls})
        if other == reply.xid:  # it reads the same in both directions
            other ^= 0x80000000
        reply.send(_named(denial(reply), other, other))
        reply.conform()

    completes(bench.use(reply=interpose, when=CALL_KINDS[call_kind]), "RFC8167-2.4-1")


def _discarded(outcome):
    """A reply with an error in its header, which does not hide that it is a reply, is discarded silently."""
    completes(outcome, "RFC8166-4.5-3")
    errors = sum(sent.is_error for conn in outcome.connections for sent in conn.sent)
    expect.equal(errors, 0, "RFC8166-4.2.4-4", "RDMA_ERROR messages of the client", outcome=outcome)


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case(
    "client.xid.rpc-differs.{call_kind}",
    requirements=["RFC8166-4.5-3", "RFC8166-4.2.4-4"],
    hostile=True,
)
def test_rpc_differs(bench, call_kind):
    """Another XID in the RPC message than in the header is an error of the header (RFC 8166 4.5.2).
    A client may also go by the header alone (4.2.1). Either way the data are right."""

    def interpose(reply):
        reply.push()
        reply.send_mutated("rpc-xid.differs")
        reply.send()

    _discarded(bench.use(reply=interpose, when=CALL_KINDS[call_kind]))


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case(
    "client.xid.header-differs.{call_kind}",
    requirements=["RFC8166-4.5-3", "RFC8166-4.2.4-4"],
    hostile=True,
)
def test_header_differs(bench, call_kind):
    """The RPC message has the XID of the call and the header another: no call has that one."""

    def interpose(reply):
        reply.send_mutated("xid.bit-16-flipped")
        reply.conform()

    _discarded(bench.use(reply=interpose, when=CALL_KINDS[call_kind]))


@case(
    "client.xid.exchanged",
    requirements=["RFC8166-3.4.3-2"],
    needs=["client-write-chunks", "client-pipelining"],
    hostile=True,
)
def test_exchanged(bench):
    """Two replies to READs under each other's XIDs. The chunks that come back are not those of the
    call, so that the client takes neither for the other. A client that discards both gets the right
    ones when it is quiet."""
    held = []

    def interpose(reply):
        held.append(reply)
        if len(held) < 2:
            return
        first, second = held
        first.push()
        second.push()
        first.send(renamed(first, second.xid, second.xid))
        second.send(renamed(second, first.xid, first.xid))

    def quiet():
        for reply in held:
            if reply.raw.up and len(held) == 1:
                reply.conform()
            elif reply.raw.up:
                reply.send()
        held.clear()

    outcome = bench.use(reply=interpose, when=is_read, times=2, quiet=quiet)
    again = "it read the same again, or took the replies under the right XIDs"
    expect_or(bench, outcome, "RFC8166-3.4.3-2", kinds.REFUSED, {kinds.COMPLETED: again})
