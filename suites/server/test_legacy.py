"""What is left of older protocols: RDMA_MSGP, RDMA_DONE, and the prototype of 2003 (RFC 8166 4.6)."""

import struct

import pytest
from chunk_checks import expect_alive
from message_words import words

from steertag import wire
from steertag.suite import case, expect, kinds

MSGP = "RFC8166-4.6.1-2"
DONE = "RFC8166-4.6.2-2"
BROKEN = "RFC8166-4.5.2-1"
SHORT = "RFC8166-4.5-1"
ALIGNMENTS = {
    "zero": (0, 0),
    "page": (4096, 1024),
    "odd": (3, 1),
    "align-zero": (0, 1024),
    "largest": (0xFFFFFFFF, 0xFFFFFFFF),
}
# Octets behind the fixed words of an RDMA_DONE; below 12 it is too short to be looked at.
DONE_BODIES = {"bare": 0, "padded-to-28": 12, "padded-to-1024": 1008}
# Messages in a row: more than any server is likely to have receives.
IN_A_ROW = 100


@case("server.legacy.msgp-{name}", requirements=[MSGP, "RFC8166-4.5-4"], hostile=True)
@pytest.mark.parametrize("name", ALIGNMENTS)
def test_msgp(bench, name):
    """A NULL call as RDMA_MSGP: ERR_CHUNK, whatever its alignment and threshold."""
    conn = bench.connect()
    call = conn.null_call()
    call.proc = wire.Procedure.MSGP
    call.align, call.thresh = ALIGNMENTS[name]
    outcome = expect(conn.exchange(call), MSGP, should=[kinds.ERR_CHUNK])
    if outcome.kind == kinds.ERR_CHUNK:
        xid = outcome.header.xid
        expect.equal(xid, call.xid, "RFC8166-4.5-4", "rdma_xid of the error", show=False)
    expect_alive(conn, MSGP)


@case("server.legacy.msgp-write", requirements=[MSGP], hostile=True)
def test_msgp_write(bench):
    """A WRITE as RDMA_MSGP with its data padded to the alignment, as RFC 5666 meant it: ERR_CHUNK,
    and nothing is written."""
    handle = bench.file(b"before")
    conn = bench.connect()
    data = b"A" * 64
    call = conn.nfs_call("WRITE", file=handle, offset=0, count=64, stable=2, data=data)
    payload = bytes(call.payload)
    head = len(payload) - len(data)
    call.proc, call.align, call.thresh = wire.Procedure.MSGP, 64, 32
    call.payload = payload[:head] + bytes(-(36 + head) % 64) + data
    expect(conn.exchange(call), MSGP, should=[kinds.ERR_CHUNK])
    expect_alive(conn, MSGP)
    expect.data(bench.read_back(handle), b"before", MSGP, "content of the file")


@case("server.legacy.msgp-in-a-row", requirements=[MSGP], hostile=True)
def test_msgp_in_a_row(bench):
    """A hundred RDMA_MSGP, one after the other's answer, then a valid call."""
    conn = bench.connect()
    for _ in range(IN_A_ROW):
        call = conn.null_call()
        call.proc = wire.Procedure.MSGP
        if expect(conn.exchange(call), MSGP, should=[kinds.ERR_CHUNK]).kind != kinds.ERR_CHUNK:
            break
    expect_alive(conn, MSGP)


@case("server.legacy.done-{name}", requirements=[DONE], hostile=True)
@pytest.mark.parametrize("name", DONE_BODIES)
def test_done(bench, name):
    """RDMA_DONE, bare and with octets behind it: discarded without a word."""
    conn = bench.connect()
    expect(conn.exchange(done(conn, DONE_BODIES[name])), DONE, must=[kinds.SILENCE])
    expect_alive(conn, DONE)


def done(conn, octets, xid=None):
    """RDMA_DONE with so many zero octets behind the fixed words."""
    call = conn.null_call()
    call.proc, call.payload, call.append = wire.Procedure.DONE, b"", bytes(octets)
    if xid is not None:
        call.xid = xid
    return call


@case("server.legacy.done-with-call", requirements=[DONE], hostile=True)
def test_done_with_call(bench):
    """RDMA_DONE in the place of RDMA_MSG, with lists and an RPC call behind it: discarded, and the
    call is not executed."""
    where = {"dir": bench.directory(), "name": bench.name("done")}
    conn = bench.connect()
    call = conn.nfs_call("CREATE", where=where)
    octets = bytearray(call.encoded())
    octets[12:16] = (3).to_bytes(4, "big")
    expect(conn.exchange(bytes(octets)), DONE, must=[kinds.SILENCE])
    found = conn.exchange(conn.nfs_call("LOOKUP", what=where))
    expect(found, DONE, must=["nfs:NFS3ERR_NOENT"])


@case("server.legacy.done-for-pending", requirements=[DONE], hostile=True)
@pytest.mark.parametrize("octets", [12])
def test_done_for_pending_call(bench, octets):
    """RDMA_DONE with the XID of a WRITE that is being pulled: the WRITE goes on and is answered."""
    content = bench.random.randbytes(65536)
    handle = bench.file()
    conn = bench.connect()
    call = conn.nfs_call("WRITE", file=handle, offset=0, count=65536, stable=2, data=content)
    conn.reduce(call)
    conn.send(call)
    conn.send(done(conn, octets, xid=call.xid))
    expect(conn.await_outcome(call), DONE, must=[kinds.REPLY])
    expect_alive(conn, DONE)
    expect.data(bench.read_back(handle), content, DONE, "content of the file")


@case("server.legacy.done-in-a-row-{name}", requirements=[DONE, "RFC8166-3.3.1-9"], hostile=True)
@pytest.mark.parametrize("name", DONE_BODIES)
def test_done_in_a_row(bench, name):
    """A hundred RDMA_DONE, a NULL call after each: none is answered and none costs a receive."""
    conn = bench.connect()
    for _ in range(IN_A_ROW):
        message = done(conn, DONE_BODIES[name])
        conn.send(message)
        outcome = conn.probe()
        answered = outcome.xid == message.xid and bool(outcome.raw)
        expect.true(not answered, DONE, "RDMA_DONE has no answer", outcome=outcome)
        expect(outcome, "RFC8166-3.3.1-9", must=[kinds.REPLY])


@case(
    "server.legacy.not-in-replies",
    requirements=["RFC8166-4.6.1-1", "RFC8166-4.6.2-1"],
)
def test_not_in_replies(bench):
    """Small and large replies, with and without a write chunk: the server sends neither RDMA_MSGP nor
    RDMA_DONE."""
    conn = bench.connect()
    for _ in range(3):
        expect_modern(conn.exchange(conn.null_call()))
    handle = bench.file(bytes(500))
    for with_chunk in (False, True, False):
        call = conn.nfs_call("READ", file=handle, offset=0, count=500)
        if with_chunk:
            conn.write_chunk(call)
        expect_modern(conn.exchange(call))


def expect_modern(outcome):
    """The answer is no message of a procedure that RFC 8166 took away."""
    proc = words(outcome.raw)[3] if len(outcome.raw) >= 16 else None
    for requirement, procedure in NEVER_SENT:
        sentence = f"no RDMA_{procedure.name} is sent"
        expect.true(proc != procedure, requirement, sentence, outcome=outcome)


NEVER_SENT = (
    ("RFC8166-4.6.1-1", wire.Procedure.MSGP),
    ("RFC8166-4.6.2-1", wire.Procedure.DONE),
)


def prototype(xid, kind, entries, rpc_message):
    """A message of the prototype of 2003: XID, version, type, and one list of (XDR offset, length,
    handle, address); it has no credit word."""
    octets = struct.pack(">III", xid, 1, kind)
    for entry in entries:
        octets += struct.pack(">IIIIQ", 1, *entry)
    if kind == 0:
        octets += struct.pack(">I", 0)
    return octets + rpc_message


# (type, entries, whether an RPC message follows, the answer of an RFC 8166 server that reads the
# words at their own places).
PROTOTYPE = {
    # Procedure 0, and the XID of the RPC message where the read list starts.
    "message": (0, [], True, kinds.ERR_CHUNK),
    # Procedure 1 (RDMA_NOMSG), no read list, and a length where the write list starts.
    "long-message": (0, [(0, 40, 0x7E570001, 1 << 33)], False, kinds.ERR_CHUNK),
    # The same with an XDR offset where the read list starts.
    "message-with-chunk": (0, [(96, 4096, 0x7E570001, 1 << 33)], True, kinds.ERR_CHUNK),
    # 12 octets.
    "done": (1, [], False, kinds.SILENCE),
}


@case(
    "server.legacy.prototype-{name}",
    requirements=[BROKEN, SHORT, "CALLAGHAN2003-4.4-1"],
    tolerates={"RFC8166-3.4.5-6": "a consequence of taking a broken header for legal"},
    hostile=True,
)
@pytest.mark.parametrize("name", PROTOTYPE)
def test_prototype(bench, name):
    """A message of the prototype of 2003: an RFC 8166 server finds its words in other places, reports
    what does not decode, and goes on."""
    conn = bench.connect()
    call = conn.null_call()
    kind, entries, with_rpc, answer = PROTOTYPE[name]
    message = prototype(call.xid, kind, entries, bytes(call.payload) if with_rpc else b"")
    requirement = SHORT if answer == kinds.SILENCE else BROKEN
    expect(conn.exchange(message), requirement, must=[answer])
    expect_alive(conn, requirement)


@case("server.legacy.configuration-program", requirements=["RFC5531-9-4"])
def test_configuration_program(bench):
    """The connection configuration program of RFC 5666, which RFC 8166 dropped: not there, or
    answered by a server that still has it."""
    conn = bench.connect()
    call = conn.rpc_call(100417, 1, 1, struct.pack(">III", 4096, 4096, 8))
    expect(
        conn.exchange(call),
        "RFC5531-9-4",
        must=["rpc:PROG_UNAVAIL"],
        latitude={kinds.REPLY: "the configuration program of RFC 5666 is still there"},
    )
    expect_alive(conn, "RFC5531-9-4")
