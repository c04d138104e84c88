"""Messages that end too early (RFC 8166 4.5, 4.5.2).

Below 28 octets there is no answer. From 28 octets on, an incomplete header is an XDR error."""

import pytest

from steertag import wire
from steertag.suite import case, expect, kinds
from ..chunk_checks import expect_alive
from ..message_words import in_a_row
from .mutations import KINDS, Base, variants

SHORT = "RFC8166-4.5-1"
BROKEN = "RFC8166-4.5.2-1"
SMALLEST = 28
PAYLOAD = ("cut-before.payload-stream", "cut-inside.payload-stream")
# Below 28 octets the missing rest does not matter, so one call stands for all.
SHORT_CUTS = [
    name for _, name, message, _ in variants("null", "truncation") if len(message) < SMALLEST
]
CUTS = [
    (kind, name)
    for kind in KINDS
    for _, name, message, _ in variants(kind, "truncation")
    if len(message) >= SMALLEST and name not in PAYLOAD
]
# Messages below 28 octets that would be answered if they were longer: (rdma_vers, rdma_proc,
# octets).
SHORT_SPECIAL = {
    "version-two": (2, wire.Procedure.MSG, 27),
    "version-zero": (0, wire.Procedure.MSG, 16),
    "procedure-five": (1, 5, 27),
    "msgp": (1, wire.Procedure.MSGP, 27),
    "nomsg": (1, wire.Procedure.NOMSG, 27),
    "done": (1, wire.Procedure.DONE, 16),
    "error": (1, wire.Procedure.ERROR, 20),
    "single-octet": (1, wire.Procedure.MSG, 1),
}
# An answer to a short message may hold earlier content of the receive. The judge's findings on its
# words change from run to run. The case itself fails because of the answer.
ANSWER = dict.fromkeys(
    (
        SHORT,
        "RFC8166-3.3.1-5",
        "RFC8166-3.3.1-11",
        "RFC8166-4.5-4",
        "RFC8166-4.5-5",
        "RFC8166-4.5.1-1",
    ),
    "about an answer that the case says must not be",
)
NO_REPLY = dict.fromkeys(kinds.CLOSED, "no reply can be formed (RFC 8166 4.5.4)")


def expect_unanswered(outcome):
    """No message arrived, and the connection is open."""
    what = "a message below 28 octets has no answer"
    expect.true(not outcome.raw, SHORT, what, outcome=outcome)
    expect(outcome, SHORT, must=[kinds.SILENCE])


@case("server.truncation.short.{name}", requirements=[SHORT], tolerates=ANSWER, hostile=True)
@pytest.mark.parametrize("name", SHORT_CUTS)
def test_short(bench, name):
    """Fewer than 28 octets of a NULL call are discarded silently, and the connection stays open."""
    base = Base(bench, "null")
    expect_unanswered(base.conn.exchange(base.mutated("truncation", name)))
    expect_alive(base.conn, SHORT)


@case("server.truncation.short.{name}", requirements=[SHORT], tolerates=ANSWER, hostile=True)
@pytest.mark.parametrize("name", SHORT_SPECIAL)
def test_short_special(bench, name):
    """Fewer than 28 octets, with a version or procedure that has its own answer. The length is
    checked first, so there is none."""
    conn = bench.connect()
    call = conn.null_call()
    call.vers, call.proc, call.cut_to = SHORT_SPECIAL[name]
    expect_unanswered(conn.exchange(call))
    expect_alive(conn, SHORT)


@case("server.truncation.short-first", requirements=[SHORT], tolerates=ANSWER, hostile=True)
def test_short_first_message(bench):
    """A short message is the first of a connection: it is discarded. The call after it is
    answered."""
    conn = bench.connect(greet=False)
    expect_unanswered(conn.exchange(b"\0" * 27))
    expect_alive(conn, SHORT)


@case(
    "server.truncation.short-in-a-row",
    requirements=[SHORT, "RFC8166-3.3.1-9"],
    tolerates=ANSWER,
    hostile=True,
)
def test_short_in_a_row(bench):
    """Many short messages, with a NULL call after each. The server posts the receive of a discarded
    message again, so granted credits stay valid."""
    conn = bench.connect()
    for number in range(in_a_row(conn)):
        conn.send(b"\0" * (number % SMALLEST))
        call = conn.null_call()
        outcome = conn.exchange(call)
        own = not outcome.raw or outcome.xid == call.xid
        expect.true(own, SHORT, "a message below 28 octets has no answer", outcome=outcome)
        expect(outcome, "RFC8166-3.3.1-9", must=[kinds.REPLY])


@case("server.truncation.empty-after-calls", requirements=[SHORT], tolerates=ANSWER)
def test_empty_after_calls(bench):
    """NULL calls fill every receive once, then an empty message follows. It is discarded, and not
    decoded as the earlier content of its receive."""
    conn = bench.connect()
    xid = conn.next_xid()
    for _ in range(in_a_row(conn)):
        call = conn.rpc_call(100003, 3, 0, xid=xid)
        expect(conn.exchange(call), SHORT, must=[kinds.REPLY])
    outcome = conn.exchange(b"")
    fresh = outcome.raw[:4] != xid.to_bytes(4, "big")
    expect.true(fresh, SHORT, "no answer to an earlier message's octets", outcome=outcome)
    expect_unanswered(outcome)


@case(
    "server.truncation.{kind}.{name}",
    requirements=[BROKEN, "RFC8166-4.5-4"],
    bugs=["B26"],
    hostile=True,
)
@pytest.mark.parametrize("kind,name", CUTS)
def test_header_cut(bench, kind, name):
    """28 octets or more that end inside the chunk lists: ERR_CHUNK. The call is not executed, and
    the connection stays open."""
    base = Base(bench, kind)
    outcome = base.conn.exchange(base.mutated("truncation", name))
    expect(outcome, BROKEN, must=[kinds.ERR_CHUNK])
    xid = outcome.header.xid
    expect.equal(xid, base.call.xid, "RFC8166-4.5-4", "rdma_xid of the error", show=False)
    expect_alive(base.conn, BROKEN)
    expect.true(base.unchanged(), BROKEN, "a call without a whole header changes nothing")


@case(
    "server.truncation.{kind}.{name}", requirements=["RFC8166-4.5.2-5"], bugs=["B129"], hostile=True
)
@pytest.mark.parametrize("name", PAYLOAD)
@pytest.mark.parametrize("kind", ["null", "read", "write"])
def test_payload_cut(bench, kind, name):
    """A whole header, and behind it nothing or half of the RPC message. The server reports it, and
    never executes it. It may discard the message if even its direction is unknown."""
    base = Base(bench, kind)
    latitude = dict(NO_REPLY)
    if name == PAYLOAD[0]:
        latitude[kinds.SILENCE] = "not to be told from a reply, which is discarded"
    expect(
        base.conn.exchange(base.mutated("truncation", name)),
        "RFC8166-4.5.2-5",
        must=[*kinds.REFUSED, kinds.DENIED],
        latitude=latitude,
    )
    expect_alive(base.conn, "RFC8166-4.5.2-5")
    expect.true(base.unchanged(), "RFC8166-4.5.2-5", "half a call changes nothing")
