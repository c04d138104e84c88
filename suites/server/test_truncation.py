"""Messages that end too early: below 28 octets nothing is answered, from there on a header that breaks off
is an XDR error (RFC 8166 4.5, 4.5.2)."""

import pytest
from chunk_checks import expect_alive
from mutations import KINDS, Base, variants

from steertag import wire
from steertag.suite import case, expect, kinds

SHORT = "RFC8166-4.5-1"
BROKEN = "RFC8166-4.5.2-1"
SMALLEST = 28
PAYLOAD = ("cut-before.payload-stream", "cut-inside.payload-stream")
# Below 28 octets it does not matter what the rest would have been, so one call stands for all.
SHORT_CUTS = [
    name for _, name, message, _ in variants("null", "truncation") if len(message) < SMALLEST
]
CUTS = [
    (kind, name)
    for kind in KINDS
    for _, name, message, _ in variants(kind, "truncation")
    if len(message) >= SMALLEST and name not in PAYLOAD
]
# Messages below 28 octets that would have an answer if they were longer: (rdma_vers, rdma_proc, octets).
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
NO_REPLY = dict.fromkeys(kinds.CLOSED, "no reply can be formed (RFC 8166 4.5.4)")
# Short messages in a row: more than any server is likely to have receives.
IN_A_ROW = 300


@case("server.truncation.short.{name}", requirements=[SHORT])
@pytest.mark.parametrize("name", SHORT_CUTS)
def test_short(bench, name):
    """Fewer than 28 octets of a NULL call: discarded without a word, the connection stays."""
    base = Base(bench, "null")
    expect(base.conn.exchange(base.mutated("truncation", name)), SHORT, must=[kinds.SILENCE])
    expect_alive(base.conn, SHORT)


@case("server.truncation.short.{name}", requirements=[SHORT])
@pytest.mark.parametrize("name", SHORT_SPECIAL)
def test_short_special(bench, name):
    """Fewer than 28 octets with a version or procedure that would have an answer of its own: the
    length comes first, so there is none."""
    conn = bench.connect()
    call = conn.null_call()
    call.vers, call.proc, call.cut_to = SHORT_SPECIAL[name]
    expect(conn.exchange(call), SHORT, must=[kinds.SILENCE])
    expect_alive(conn, SHORT)


@case("server.truncation.short-first", requirements=[SHORT])
def test_short_first_message(bench):
    """A short message before any other on a connection: discarded; the call after it is answered."""
    conn = bench.connect(greet=False)
    expect(conn.exchange(b"\0" * 27), SHORT, must=[kinds.SILENCE])
    expect_alive(conn, SHORT)


@case("server.truncation.short-in-a-row", requirements=["RFC8166-3.3.1-9"])
def test_short_in_a_row(bench):
    """Many short messages, a NULL call after each: a discarded message gives its receive back, so
    the credits that were granted stay good."""
    conn = bench.connect()
    for number in range(IN_A_ROW):
        conn.send(b"\0" * (number % SMALLEST))
        expect(conn.probe(), "RFC8166-3.3.1-9", must=[kinds.REPLY])


@case("server.truncation.{kind}.{name}", requirements=[BROKEN, "RFC8166-4.5-4"], bugs=["B26"])
@pytest.mark.parametrize("kind,name", CUTS)
def test_header_cut(bench, kind, name):
    """28 octets or more that end inside the chunk lists: ERR_CHUNK, the call is not executed and the
    connection stays."""
    base = Base(bench, kind)
    outcome = base.conn.exchange(base.mutated("truncation", name))
    expect(outcome, BROKEN, must=[kinds.ERR_CHUNK])
    xid = outcome.header.xid
    expect.equal(xid, base.call.xid, "RFC8166-4.5-4", "rdma_xid of the error", show=False)
    expect_alive(base.conn, BROKEN)
    expect.true(base.unchanged(), BROKEN, "a call without a whole header changes nothing")


@case("server.truncation.{kind}.{name}", requirements=["RFC8166-4.5.2-5"], bugs=["B129"])
@pytest.mark.parametrize("name", PAYLOAD)
@pytest.mark.parametrize("kind", ["null", "read", "write"])
def test_payload_cut(bench, kind, name):
    """A whole header, and behind it nothing or half of the RPC message: reported or, if not even the
    direction of the message can be told, discarded; never executed."""
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
