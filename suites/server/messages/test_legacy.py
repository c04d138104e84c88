"""Remains of older protocols: RDMA_MSGP, RDMA_DONE and the prototype of 2003 (RFC 8166 4.6)."""

import pytest

from steertag import rpc, wire
from steertag.suite import case, expect, kinds
from ..chunk_checks import expect_alive
from ..message_words import in_a_row, RECEIVES, words
from ..threshold_checks import expect_long_reply, READ_DATA, WATCHING_RECEIVES

MSGP = "RFC8166-4.6.1-2"
DONE = "RFC8166-4.6.2-2"
BROKEN = "RFC8166-4.5.2-1"
SHORT = "RFC8166-4.5-1"
NO_CREDIT_WORD = "CALLAGHAN2003-4.4-1"
NFS_PROGRAM = 100003
ALIGNMENTS = {
    "zero": (0, 0),
    "page": (4096, 1024),
    "odd": (3, 1),
    "align-zero": (0, 1024),
    "largest": (0xFFFFFFFF, 0xFFFFFFFF),
}
# Octets behind the fixed words of an RDMA_DONE. Below 12 the message is too short to be decoded.
DONE_BODIES = {"bare": 0, "padded-to-28": 12, "padded-to-1024": 1008}
# The header of an RDMA_MSGP without chunks.
MSGP_HEADER_OCTETS = 36


@case("server.legacy.msgp-{name}", requirements=[MSGP, "RFC8166-4.5-4"], hostile=True)
@pytest.mark.parametrize("name", ALIGNMENTS)
def test_msgp(bench, name):
    """A NULL call as RDMA_MSGP: ERR_CHUNK, for any alignment and threshold."""
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
    """A WRITE as RDMA_MSGP, with its data padded to the alignment as in RFC 5666: ERR_CHUNK, and
    nothing is written."""
    handle = bench.file(b"before")
    conn = bench.connect()
    data = b"A" * 64
    call = conn.nfs_call("WRITE", file=handle, offset=0, count=64, stable=2, data=data)
    payload = bytes(call.payload)
    head = len(payload) - len(data)
    call.proc, call.align, call.thresh = wire.Procedure.MSGP, 64, 32
    padding = wire.msgp_padding(call.align, call.thresh, MSGP_HEADER_OCTETS + head, len(data))
    call.payload = payload[:head] + bytes(padding) + data
    expect(conn.exchange(call), MSGP, should=[kinds.ERR_CHUNK])
    expect_alive(conn, MSGP)
    expect.data(bench.read_back(handle), b"before", MSGP, "content of the file")


@case("server.legacy.msgp-in-a-row", requirements=[MSGP, RECEIVES], hostile=True)
def test_msgp_in_a_row(bench):
    """More RDMA_MSGP than the server has receives, each sent after the answer to the last, then a valid call. What one
    has answered has cost a receive if no answer comes later."""
    conn = bench.connect()
    for number in range(in_a_row(conn)):
        call = conn.null_call()
        call.proc = wire.Procedure.MSGP
        outcome = conn.exchange(call)
        if number > 0 and outcome.kind in (*kinds.CLOSED, kinds.HANG):
            expect(outcome, RECEIVES, must=[kinds.ERR_CHUNK])
        if expect(outcome, MSGP, should=[kinds.ERR_CHUNK]).kind != kinds.ERR_CHUNK:
            break
    expect_alive(conn, MSGP)


@case("server.legacy.done-{name}", requirements=[DONE], hostile=True)
@pytest.mark.parametrize("name", DONE_BODIES)
def test_done(bench, name):
    """RDMA_DONE, bare or with octets behind it, is discarded silently."""
    conn = bench.connect()
    expect(conn.exchange(done(conn, DONE_BODIES[name])), DONE, must=[kinds.SILENCE])
    expect_alive(conn, DONE)


def done(conn, octets, xid=None):
    """RDMA_DONE with this many zero octets behind the fixed words."""
    call = conn.null_call()
    call.proc, call.payload, call.append = wire.Procedure.DONE, b"", bytes(octets)
    if xid is not None:
        call.xid = xid
    return call


@case("server.legacy.done-with-call", requirements=[DONE], hostile=True)
def test_done_with_call(bench):
    """RDMA_DONE in place of RDMA_MSG, with lists and an RPC call behind it. It is discarded, and
    the call is not executed."""
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
    """RDMA_DONE with the XID of a WRITE whose data is being pulled: the WRITE is still answered."""
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


@case("server.legacy.done-in-a-row-{name}", requirements=[DONE, RECEIVES], hostile=True)
@pytest.mark.parametrize("name", DONE_BODIES)
def test_done_in_a_row(bench, name):
    """More RDMA_DONE than the server has receives, with a NULL call after each. None is answered, and none costs a
    receive."""
    conn = bench.connect()
    for _ in range(in_a_row(conn)):
        message = done(conn, DONE_BODIES[name])
        conn.send(message)
        outcome = conn.probe()
        answered = outcome.xid == message.xid and bool(outcome.raw)
        expect.true(not answered, DONE, "RDMA_DONE has no answer", outcome=outcome)
        expect(outcome, RECEIVES, must=[kinds.REPLY])


@case(
    "server.legacy.not-in-replies",
    requirements=["RFC8166-4.6.1-1", "RFC8166-4.6.2-1"],
)
def test_not_in_replies(bench):
    """Small and large replies, with and without a write chunk: the server sends neither RDMA_MSGP
    nor RDMA_DONE."""
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
    """The answer has no procedure that RFC 8166 removed."""
    proc = words(outcome.raw)[3] if len(outcome.raw) >= 16 else None
    for requirement, procedure in NEVER_SENT:
        sentence = f"no RDMA_{procedure.name} is sent"
        expect.true(proc != procedure, requirement, sentence, outcome=outcome)


NEVER_SENT = (
    ("RFC8166-4.6.1-1", wire.Procedure.MSGP),
    ("RFC8166-4.6.2-1", wire.Procedure.DONE),
)


def prototype(xid, *chunks, rpc_message=b""):
    """A message of the prototype of 2003, as octets. Each chunk is (XDR offset, length, handle,
    address)."""
    header = wire.PrototypeHeader(xid=xid, chunks=[wire.PrototypeChunk(*each) for each in chunks])
    return wire.encode(header, rpc_message)


def prototype_done(xid):
    """The prototype's done message, of 12 octets."""
    return wire.encode(wire.PrototypeHeader(xid=xid, type=wire.PrototypeType.DONE))


WHOLE = (0, 40, 0x7E570001, 1 << 33)
ITEM = (96, 4096, 0x7E570001, 1 << 33)
# (message of a NULL call, the answer of a server that decodes it by RFC 8166).
PROTOTYPE = {
    # Procedure 0. The XID of the RPC message is in place of the read list.
    "message": (
        lambda call: prototype(call.xid, rpc_message=bytes(call.payload)),
        kinds.ERR_CHUNK,
    ),
    # Procedure 1 (RDMA_NOMSG), no read list, and a length in place of the write list.
    "long-message": (lambda call: prototype(call.xid, WHOLE), kinds.ERR_CHUNK),
    # As before, with a second chunk that the server does not reach.
    "long-message-with-chunk": (lambda call: prototype(call.xid, WHOLE, ITEM), kinds.ERR_CHUNK),
    # As before, with an XDR offset in place of the read list.
    "message-with-chunk": (
        lambda call: prototype(call.xid, ITEM, rpc_message=bytes(call.payload)),
        kinds.ERR_CHUNK,
    ),
    "done": (lambda call: prototype_done(call.xid), kinds.SILENCE),
}
# What the judge may find when a server treats such a header as legal.
MISTAKEN = {"RFC8166-3.4.5-6": "a consequence of taking a broken header for legal"}


@case(
    "server.legacy.prototype-{name}",
    requirements=[BROKEN, SHORT, NO_CREDIT_WORD],
    tolerates=MISTAKEN,
    hostile=True,
)
@pytest.mark.parametrize("name", PROTOTYPE)
def test_prototype(bench, name):
    """A message of the prototype of 2003. An RFC 8166 server decodes its words in other places,
    reports what does not decode, and serves the next call."""
    conn = bench.connect()
    make, answer = PROTOTYPE[name]
    requirement = SHORT if answer == kinds.SILENCE else BROKEN
    expect(conn.exchange(make(conn.null_call())), requirement, must=[answer])
    expect_alive(conn, requirement)


@case(
    "server.legacy.prototype-first",
    requirements=[BROKEN, NO_CREDIT_WORD],
    hostile=True,
)
def test_prototype_first(bench):
    """A client of 2003 connects without private data and sends its first call. The server reports
    that the header does not decode. It answers a current call on the same connection."""
    conn = bench.connect(private_data=None, greet=False)
    call = conn.null_call()
    message = prototype(call.xid, rpc_message=bytes(call.payload))
    expect(conn.exchange(message), BROKEN, must=[kinds.ERR_CHUNK])
    expect_alive(conn, BROKEN)


@case(
    "server.legacy.prototype-not-executed",
    requirements=[BROKEN, NO_CREDIT_WORD],
    hostile=True,
)
def test_prototype_not_executed(bench):
    """A CREATE inside a message of the prototype: ERR_CHUNK, and nothing is created."""
    where = {"dir": bench.directory(), "name": bench.name("prototype")}
    conn = bench.connect()
    call = conn.nfs_call("CREATE", where=where)
    message = prototype(call.xid, rpc_message=bytes(call.payload))
    expect(conn.exchange(message), BROKEN, must=[kinds.ERR_CHUNK])
    found = conn.exchange(conn.nfs_call("LOOKUP", what=where))
    expect(found, BROKEN, must=["nfs:NFS3ERR_NOENT"])


@case(
    "server.legacy.prototype-xid-one",
    requirements=["RFC8166-4.5.2-4", NO_CREDIT_WORD],
    tolerates=MISTAKEN,
    hostile=True,
)
def test_prototype_xid_one(bench):
    """A NULL call of the prototype under XID 1. Its words decode as RDMA_MSG with a read chunk at
    position zero, and a payload stream of four octets without XID 1. No call matches, so the answer
    is ERR_CHUNK. A server may read the chunk first, which was never offered."""
    conn = bench.connect()
    call = conn.rpc_call(NFS_PROGRAM, 3, 0, xid=1)
    message = prototype(call.xid, rpc_message=bytes(call.payload))
    ended = dict.fromkeys(
        (kinds.VIOLATION, *kinds.CLOSED),
        "the Read fails, and the connection with it (RFC 8166 4.5.3)",
    )
    expect(conn.exchange(message), "RFC8166-4.5.2-4", must=[kinds.ERR_CHUNK], latitude=ended)
    expect_alive(conn, "RFC8166-4.5.2-4")


@case(
    "server.legacy.prototype-done-in-a-row",
    requirements=[SHORT, RECEIVES, NO_CREDIT_WORD],
    hostile=True,
)
def test_prototype_done_in_a_row(bench):
    """More done messages of the prototype than the server has receives, with a NULL call after each. None is answered,
    and none costs a receive for good."""
    conn = bench.connect()
    for _ in range(in_a_row(conn)):
        xid = conn.next_xid()
        conn.send(prototype_done(xid))
        outcome = conn.probe()
        answered = outcome.xid == xid and bool(outcome.raw)
        expect.true(not answered, SHORT, "a short message has no answer", outcome=outcome)
        expect(outcome, RECEIVES, must=[kinds.REPLY])


@case("server.legacy.error-of-no-meaning", requirements=["RFC8166-4.2.4-5"], hostile=True)
def test_error_of_no_meaning(bench):
    """The client sends an RDMA_ERROR with an undefined code and the eight words of RFC 5666 behind
    it. Its XID is that of a WRITE whose data is being pulled. The error is discarded, and the WRITE
    is answered."""
    content = bench.random.randbytes(65536)
    handle = bench.file()
    conn = bench.connect()
    call = conn.nfs_call("WRITE", file=handle, offset=0, count=65536, stable=2, data=content)
    conn.reduce(call)
    error = wire.Header(xid=call.xid, credit=32, proc=wire.Procedure.ERROR, error=3, extra=[0] * 8)
    conn.send(call)
    conn.send(wire.encode(error))
    expect(conn.await_outcome(call), "RFC8166-4.2.4-5", must=[kinds.REPLY])
    expect_alive(conn, "RFC8166-4.2.4-5")
    expect.data(bench.read_back(handle), content, "RFC8166-4.2.4-5", "content of the file")


CONFIGURATION = rpc.configuration
NOT_THERE = "RFC5531-9-4"
STILL_THERE = {kinds.REPLY: "the configuration program of RFC 5666 is still there"}


def configure(conn, maxcall_sendsize=4096, maxreply_sendsize=4096):
    """A CONF_RDMA that requests these sizes."""
    asked = CONFIGURATION.Request(maxcall_sendsize, maxreply_sendsize, maxrdmaread=8)
    number = CONFIGURATION.CONF_RDMA
    return conn.rpc_call(CONFIGURATION.PROGRAM, CONFIGURATION.VERSION, number, asked.encode())


@case("server.legacy.configuration-program", requirements=[NOT_THERE])
def test_configuration_program(bench):
    """The connection configuration program of RFC 5666, which RFC 8166 dropped. It is absent, or a
    server that still has it answers."""
    conn = bench.connect()
    outcome = conn.exchange(configure(conn))
    expect(outcome, NOT_THERE, must=["rpc:PROG_UNAVAIL"], latitude=STILL_THERE)
    expect_alive(conn, NOT_THERE)


@case(
    "server.legacy.configuration-binds-nothing",
    requirements=[NOT_THERE, "RFC8166-4.1.2-13", "RFC8166-3.5.3-7", READ_DATA],
)
def test_configuration_binds_nothing(bench):
    """CONF_RDMA as the first call of a connection requests replies of 256 KiB inline. The program
    is absent, so the thresholds stay those of the private data. The reply to a READ above them uses
    the reply chunk."""
    announced = wire.PrivateData(send_bytes=4096, receive_bytes=1024)
    conn = bench.connect(private_data=announced, receive_bytes=WATCHING_RECEIVES, greet=False)
    outcome = conn.exchange(configure(conn, maxreply_sendsize=262144))
    expect(outcome, NOT_THERE, must=["rpc:PROG_UNAVAIL"], latitude=STILL_THERE)
    content = bench.random.randbytes(conn.negotiated.to_client_bytes)
    handle = bench.file(content)
    if outcome.kind != kinds.REPLY:
        expect_long_reply(bench, conn, handle, content, len(content), "RFC8166-3.5.3-7")
