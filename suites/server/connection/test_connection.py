"""Whole connections: many, short and idle ones, and sudden ends."""

import pytest

from steertag import fabric, wire
from steertag.suite import ANY, case, expect, kinds
from ..chunk_checks import expect_read_data, read_call, TRANSFER_FAILED, write_call
from ..message_words import either

SERVED = "RFC8166-4.5.5-1"
ANSWERED = "RFC5531-9-1"  # over TCP
UNSOLICITED = "RFC8166-3.3.1-11"
FIRST = "RFC8166-3.3.3-1"
WRITTEN = "RFC8267-4-1"
READ_DATA = "RFC8267-4-3"
CONNECTIONS = 32
ROUNDS = 12
LARGE = 1 << 20
# Octets that every server takes in a WRITE, and chunks of that length: the bundled server has 64 MiB for them.
PULLED, MANY_READS = 1 << 18, 300
# Of memory whose handle is then changed.
LEAST_OFFERED = 4096
# Octets of a WRITE that fits every threshold.
INLINE = 512
# How many octets of a Send reach the wire: up to the length, the DDP header, the payload, the CRC,
# or all.
CUTS = {"length": 1, "ddp-header": 11, "payload-start": 20, "payload": 60, "crc": -2, "whole": 0}
# First messages that are no call: (octets, the kinds that RFC 8166 4.5 and 4.5.1 require).
GARBAGE = {
    "27-octets": (bytes(27), "RFC8166-4.5-1", [kinds.SILENCE]),
    "ones": (b"\xff" * 1024, "RFC8166-4.5.1-1", [kinds.ERR_VERS]),
    "text": (
        b"GET / HTTP/1.1\r\nHost: steertag.example\r\n\r\n",
        "RFC8166-4.5.1-1",
        [kinds.ERR_VERS],
    ),
}


def expect_served(bench, requirement_id):
    """A new connection is accepted, and a call on it is answered."""
    conn = bench.connect(greet=False)
    expect(conn.probe(), either(conn, requirement_id, ANSWERED), must=[kinds.REPLY])


def expect_reply(conn, requirement_id):
    """The next message is the reply to this call."""
    call = conn.null_call()
    expect_answered(conn, conn.exchange(call), call, requirement_id)


def expect_answered(conn, outcome, call, requirement_id):
    """The outcome is the reply to this call."""
    expect(outcome, either(conn, requirement_id, ANSWERED), must=[kinds.REPLY])
    unsolicited = either(conn, UNSOLICITED, ANSWERED)
    expect.equal(outcome.xid, call.xid, unsolicited, "XID of the next message", show=False)


@case("server.connection.many", requirements=[SERVED, UNSOLICITED, ANSWERED], over=ANY)
def test_many_connections(bench):
    """Many connections are open at once, with calls on all of them in turns. Each call is answered
    on its own connection."""
    conns = [bench.connect() for _ in range(CONNECTIONS)]
    calls = [conn.null_call() for conn in conns]
    for conn, call in zip(conns, calls):
        conn.send(call)
    for conn, call in reversed(list(zip(conns, calls))):
        expect_answered(conn, conn.await_outcome(call), call, SERVED)


@case(
    "server.connection.{end}-quickly-{form}",
    requirements=[SERVED, ANSWERED],
    bugs=["B38"],
    over=ANY,
)
@pytest.mark.parametrize("form", ["unused", "greeted", "window"])
@pytest.mark.parametrize("end", ["closed", "aborted"])
def test_short_connections(bench, end, form):
    """Connections end soon: unused, after one call, or with a window of calls in flight."""
    for _ in range(ROUNDS):
        conn = bench.connect(greet=form != "unused")
        if form == "window":
            for _ in range(conn.window):
                conn.send(conn.null_call())
            conn.work()
        conn.close() if end == "closed" else conn.abort()
    expect_served(bench, SERVED)


@case("server.connection.idle", requirements=[SERVED, UNSOLICITED, ANSWERED], over=ANY)
def test_idle_connection(bench):
    """An idle connection stays open and silent, while others work and end."""
    idle = bench.connect()
    for _ in range(ROUNDS):
        conn = bench.connect()
        expect_reply(conn, SERVED)
        conn.close()
    expect_reply(idle, SERVED)


@case("server.connection.unused", requirements=[FIRST, UNSOLICITED, ANSWERED], over=ANY)
def test_connection_without_any_message(bench):
    """A connection stays open before the client's first message, and answers a call that arrives
    late."""
    unused = bench.connect(greet=False)
    for _ in range(3):
        expect_reply(bench.connect(), FIRST)
    expect_reply(unused, FIRST)


@case(
    "server.connection.first-message-{name}",
    requirements=["RFC8166-4.5-1", "RFC8166-4.5.1-1", FIRST],
    bugs=["B36"],
    hostile=True,
)
@pytest.mark.parametrize("name", GARBAGE)
def test_first_message_is_no_call(bench, name):
    """The first message is garbage. A valid call on the connection is answered all the same."""
    octets, requirement_id, must = GARBAGE[name]
    conn = bench.connect(greet=False)
    expect(conn.exchange(octets), requirement_id, must=must)
    expect(conn.probe(), FIRST, must=[kinds.REPLY])


@case(
    "server.connection.first-message-too-long",
    requirements=["RFC8166-3.3.2-1", SERVED],
    hostile=True,
)
def test_first_message_is_too_long(bench):
    """More than 1024 octets on a connection without private data. The server receives all of it, or
    the connection ends."""
    handle = bench.file()
    conn = bench.connect(private_data=None, greet=False)
    call = write_call(conn, handle, bench.random.randbytes(2048))
    expect(
        conn.exchange(call),
        "RFC8166-3.3.2-1",
        must=kinds.CLOSED,
        latitude={kinds.REPLY: "receives are larger than the default"},
    )
    expect_served(bench, SERVED)


@case("server.connection.abort-in-read", requirements=[SERVED, WRITTEN], bugs=["B38"])
def test_abort_in_the_middle_of_a_read(bench):
    """The stream is reset while the server pulls a large chunk. The server stores only octets of
    the chunk."""
    content = bench.random.randbytes(LARGE)
    handle = bench.file()
    conn = bench.connect()
    call = conn.nfs_call("WRITE", file=handle, offset=0, count=LARGE, stable=2, data=content)
    conn.reduce(call, [LARGE // 4] * 4)
    conn.send(call)
    conn.wait_event("rdma_read")
    conn.abort()
    expect_served(bench, SERVED)
    conn = bench.connect()
    outcome = expect(conn.exchange(read_call(conn, handle, 512)), SERVED, must=[kinds.REPLY])
    stored = bytes(outcome.result.ok.data)
    expect.data(stored, content[: len(stored)], WRITTEN, "content of the file", outcome=outcome)


@case("server.connection.aborted-in-many-reads", requirements=[SERVED])
def test_many_aborts_in_reads(bench):
    """Connections are reset one after the other, each while the server pulls a large chunk. Together
    these are more than a server keeps for chunks. Then one more is pulled: what the others took has
    been given back."""
    if not bench.capabilities.sees_remote_operations:
        bench.not_testable("the provider does not show when the server pulls a chunk")
    content = bytes(PULLED)
    fields = {"file": bench.file(), "offset": 0, "count": PULLED, "stable": 2, "data": content}

    def large_write(conn):
        call = conn.nfs_call("WRITE", **fields)
        conn.reduce(call)
        return call

    for _ in range(MANY_READS):
        conn = bench.connect()
        conn.send(large_write(conn))
        expect.true(conn.wait_event("rdma_read"), SERVED, "the server pulls the chunk")
        conn.abort()
    conn = bench.connect()
    expect(conn.exchange(large_write(conn)), SERVED, must=[kinds.REPLY])


@case("server.connection.refused-many-reads", requirements=[SERVED], hostile=True)
def test_many_refused_reads(bench):
    """Connections end one after the other because the client's memory refuses to be read. Together their chunks are
    more than a server keeps for them. Then one more is pulled: what the others took has been given back.
    """
    content = bytes(PULLED)
    fields = {"file": bench.file(), "offset": 0, "count": PULLED, "stable": 2, "data": content}
    for _ in range(MANY_READS):
        conn = bench.connect(greet=False)
        call = conn.nfs_call("WRITE", **fields)
        position, _ = call.take_eligible()
        offer = conn.offer(LEAST_OFFERED, read=True)
        call.offers.append(offer)
        segment = offer.segment()
        segment.handle ^= 0x00FFFF00
        segment.length = PULLED
        call.add_read_chunk(position, [segment])
        expect(conn.exchange(call), SERVED, must=TRANSFER_FAILED)
    conn = bench.connect()
    call = conn.nfs_call("WRITE", **fields)
    conn.reduce(call)
    expect(conn.exchange(call), SERVED, must=[kinds.REPLY])


@case("server.connection.abort-in-reply", requirements=[SERVED, READ_DATA], bugs=["B45", "B48"])
def test_abort_in_the_middle_of_a_reply(bench):
    """The stream is reset while the server writes a window of large results. A later READ returns
    the right data."""
    content = bench.random.randbytes(512)
    handle = bench.file(content)
    grown = bench.files.conn.nfs_call(
        "WRITE", file=handle, offset=LARGE - 1, count=1, stable=2, data=b"x"
    )
    expect(bench.files.conn.exchange(grown), SERVED, must=[kinds.REPLY])
    for _ in range(3):
        conn = bench.connect()
        for _ in range(min(conn.window, 8)):
            call = read_call(conn, handle, LARGE)
            conn.write_chunk(call, LARGE)
            conn.send(call)
        conn.wait_event("rdma_write")
        conn.abort()
    conn = bench.connect()
    call = read_call(conn, handle, 512)
    outcome = expect(conn.exchange(call), SERVED, must=[kinds.REPLY])
    read = bytes(outcome.result.ok.data)
    expect.data(read, content[: len(read)], READ_DATA, "octets of the file", outcome=outcome)


@case("server.connection.close-in-flight", requirements=[SERVED])
def test_close_with_calls_in_flight(bench):
    """The client closes its half of the stream right behind a window of calls. The server may
    answer them or not, and closes its half too."""
    handle = bench.file(bench.random.randbytes(2048))
    conn = bench.connect()
    for _ in range(conn.window):
        call = read_call(conn, handle, 2048)
        conn.write_chunk(call)
        conn.send(call)
    conn.raw.disconnect()
    expect.true(conn.wait_closed(), SERVED, "the connection ends when the client ends it")
    expect_served(bench, SERVED)


@case(
    "server.connection.abort-others-go-on",
    requirements=[SERVED, UNSOLICITED, ANSWERED],
    over=ANY,
)
def test_others_go_on(bench):
    """Connections are reset one after the other while the rest have calls in flight. No reply is
    lost or misdirected."""
    conns = [bench.connect() for _ in range(8)]
    while conns:
        calls = [conn.null_call() for conn in conns]
        for conn, call in zip(conns, calls):
            conn.send(call)
        conns[0].work()
        conns.pop(0).abort()
        for conn, call in zip(conns, calls[1:]):
            expect_answered(conn, conn.await_outcome(call), call, SERVED)


@case("server.connection.retransmit-{name}", requirements=[SERVED, WRITTEN])
@pytest.mark.parametrize("name", ["null", "getattr", "write", "reduced-write"])
def test_retransmission(bench, name):
    """The connection is lost with a call in flight. The client retransmits the call with the same
    XID on a new connection, and gets its reply (RFC 8166 4.5.5)."""
    content = bench.random.randbytes(INLINE)
    handle = bench.file()

    def make(conn, xid):
        if name == "null":
            return conn.rpc_call(100003, 3, 0, xid=xid)
        if name == "getattr":
            return conn.nfs_call("GETATTR", xid=xid, object=handle)
        call = conn.nfs_call(
            "WRITE", xid=xid, file=handle, offset=0, count=INLINE, stable=2, data=content
        )
        if name == "reduced-write":
            conn.reduce(call)
        return call

    conn = bench.connect()
    call = make(conn, conn.next_xid())
    conn.send(call)
    conn.raw.wait(0)
    conn.abort()
    conn = bench.connect()
    again = make(conn, call.xid)
    outcome = expect(conn.exchange(again), SERVED, must=[kinds.REPLY])
    expect.equal(outcome.xid, call.xid, SERVED, "XID of the reply", show=False)
    if "write" in name:
        expect.data(bench.read_back(handle), content, WRITTEN, "content of the file")


@case("server.connection.answered-twice", requirements=[SERVED, WRITTEN])
def test_retransmission_of_an_answered_call(bench):
    """The client retransmits an answered call on a new connection. The server replies from a cache,
    or executes the call again."""
    content = bench.random.randbytes(INLINE)
    handle = bench.file()
    conn = bench.connect()
    xid = conn.next_xid()
    for _ in range(2):
        call = conn.nfs_call(
            "WRITE", xid=xid, file=handle, offset=0, count=INLINE, stable=2, data=content
        )
        expect(conn.exchange(call), SERVED, must=[kinds.REPLY])
        conn.close()
        conn = bench.connect()
    expect.data(bench.read_back(handle), content, WRITTEN, "content of the file")


@case(
    "server.connection.cut-in-{name}",
    requirements=[SERVED, "RFC5044-8-1", WRITTEN],
    needs=["fault-hooks"],
)
@pytest.mark.parametrize("name", CUTS)
def test_cut_message(bench, name):
    """The stream ends inside a message, or right behind it. An incomplete message is not
    executed."""
    content = bench.random.randbytes(512)
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, content)
    length = len(call.encoded())
    whole = 2 + 18 + length + -(2 + 18 + length) % 4 + 4  # RFC 5044 4.1: length, DDP, pad, CRC
    octets = CUTS[name] if CUTS[name] > 0 else whole + CUTS[name]
    conn.send(call, fault=fabric.Fault(cut_after=octets))
    expect.true(conn.wait_closed(), SERVED, "the connection ends with the stream")
    expect_served(bench, SERVED)
    stored = bench.read_back(handle)
    if name == "whole":
        expect.one_of(bytes(stored), (b"", content), WRITTEN, "content of the file")
    else:
        expect.data(stored, b"", "RFC5044-8-1", "content of the file")


@case("server.connection.thresholds-mixed", requirements=[SERVED, READ_DATA])
def test_different_clients(bench):
    """Clients with different private data and credits are served at the same time."""
    content = bench.random.randbytes(512)
    handle = bench.file(content)
    settings = [
        dict(private_data=None, credits=1),
        dict(private_data=wire.PrivateData(send_bytes=1024, receive_bytes=8192), credits=64),
        dict(private_data=b"\0" * 16),
        dict(credits=8, receives=8),
    ]
    conns = [bench.connect(**each) for each in settings]
    for _ in range(3):
        for conn in conns:
            call = read_call(conn, handle, 512)
            outcome = expect(conn.exchange(call), SERVED, must=[kinds.REPLY])
            expect_read_data(bench, outcome, call, content, outcome.result.ok.data)
