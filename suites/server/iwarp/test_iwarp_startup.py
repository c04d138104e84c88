"""MPA startup of an iWARP server: frames to accept and to refuse (RFC 5044 7.1, RFC 6581)."""

import contextlib
import itertools

import pytest

from steertag.suite import case, expect, kinds
from ..chunk_checks import write_call
from .startup_stream import (
    CRC,
    DEPTH,
    ENHANCED,
    FIRST_MARKER,
    MARKERS,
    NOT_NEGOTIATED,
    PEER_TO_PEER,
    REJECTED,
    REPLY_KEY,
    RTR_READ,
    RTR_SEND,
    RTR_WRITE,
    StartupStream,
    null_call,
    ready_to_receive,
    request,
)

CHECKED = "RFC5044-7.1.1-1"
IGNORED = "RFC5044-7.1.1-2"
ROLES = "RFC5044-7.1.2-3"
SERVED = "RFC8166-4.5.5-1"
ENDED = ("peer_closed", "peer_reset")
RECORD_MARKED = bytes.fromhex("80000028 00000001 00000000 00000002 000186a3 00000003 00000000")
# Frames that have to end the stream, besides those with a wrong revision only.
REFUSED = {
    "key-zeros": request(key=bytes(16)),
    "key-lower-case": request(key=b"mpa id req frame"),
    "key-last-octet": request(key=b"MPA ID Req Framf"),
    "key-shifted": b"\0" + request(),
    "http": b"GET /export HTTP/1.1\r\nHost: steertag.example\r\n\r\n",
    "tcp-record": RECORD_MARKED + bytes(16),
    "tls-hello": bytes.fromhex("1603010200 010001fc 0303") + bytes(range(64)),
    "ones": b"\xff" * 64,
    "private-data-513": request(data=bytes(509)),
    "private-data-1024": request(data=bytes(1020)),
    "private-data-65535": request(data=bytes(65531)),
}
# S announces four octets that are missing.
WITHOUT_WORDS = {"no-octets": request(length=0)[:20], "two-octets": request(length=2)[:22]}
# Ends of a startup in which the target answered or stayed silent, in words of the report.
OTHER_ENDS = {"protocol_error": "a broken MPA reply", "timed_out": "silence"}
REVISIONS = {"zero": 0, "three": 3, "largest": 255}
# Bits that a receiver must ignore.
STRAY = {
    "reserved-bits": request(flags=CRC | ENHANCED | 0x0F),
    "rejected-bit": request(flags=CRC | ENHANCED | REJECTED),
    "rtr-without-peer-to-peer": request(ird=16 | RTR_SEND, ord=16 | RTR_WRITE | RTR_READ),
}
# Octets between the request and its reply.
EARLY = {
    "zeros": bytes(24),
    "one-octet": b"\0",
    "second-request": request(),
    "half-request": request()[:10],
}
CUTS = [1, 15, 16, 19, 20, 23, 31]
SILENT = {"nothing": b"", "half-key": request()[:8], "half-data": request()[:26]}
SILENT_STREAMS = 8
# Streams that end early, for each way to end.
LEAVING_STREAMS = 8
# Streams with requests in pieces. The server's reaction may depend on timing.
PIECES_STREAMS = 32


def start(bench, octets, **settings):
    """A connection with these octets as its MPA request. The server may refuse it."""
    return bench.connect(raw_startup=octets, greet=False, must_open=False, **settings)


def end_of(conn):
    """How the startup ended, as one word."""
    if conn.open:
        return "open"
    code = conn.raw.refused.code.name
    return OTHER_ENDS.get(code, code)


def expect_closed(bench, conn, requirement_id):
    """The target ended the stream. It may reject the frame in a reply first."""
    end = end_of(conn)
    if end == "rejected":
        bench.latitude(requirement_id, "the server rejects the frame with a reply")
        return
    expect.one_of(end, ENDED, requirement_id, "end of the startup")


def expect_works(conn, requirement_id):
    """The startup succeeded, and a call is answered."""
    expect.equal(end_of(conn), "open", requirement_id, "end of the startup")
    expect(conn.probe(), requirement_id, must=[kinds.REPLY])


def expect_served(bench, requirement_id):
    """A valid connection is accepted, and a call on it is answered."""
    expect(bench.connect(greet=False).probe(), requirement_id, must=[kinds.REPLY])


def accepted(bench, octets, requirement_id):
    """The reply frame to an enhanced request. A server that knows revision 2 has to accept it."""
    with StartupStream(bench) as stream:
        stream.send(octets)
        frame = stream.reply()
        if frame is None and stream.ended():
            # RFC 6581 10: a server does this if it knows only revision 1.
            bench.not_testable("the server ends the stream upon a request of revision 2")
    expect.true(frame is not None, requirement_id, "an MPA reply comes")
    expect.data(frame.key, REPLY_KEY, requirement_id, "key of the MPA reply")
    expect.true(not frame.rejected, requirement_id, "the request is accepted")
    return frame


@case("server.startup.refused-{name}", requirements=[CHECKED, SERVED], needs=["fault-hooks"])
@pytest.mark.parametrize("name", REFUSED)
def test_refused_frame(bench, name):
    """A frame with a wrong key or PD_Length, or another protocol: the server closes the TCP
    connection."""
    expect_closed(bench, start(bench, REFUSED[name]), CHECKED)
    expect_served(bench, SERVED)


@case("server.startup.enhanced-{name}", requirements=["RFC6581-6-1", SERVED], needs=["fault-hooks"])
@pytest.mark.parametrize("name", WITHOUT_WORDS)
def test_enhanced_without_words(bench, name):
    """S is set in a frame too short for the enhanced words. The frame is improperly formatted, so
    the server closes the stream."""
    expect_closed(bench, start(bench, WITHOUT_WORDS[name]), "RFC6581-6-1")
    expect_served(bench, SERVED)


@case("server.startup.revision-{name}", requirements=[CHECKED, SERVED], needs=["fault-hooks"])
@pytest.mark.parametrize("name", REVISIONS)
def test_unknown_revision(bench, name):
    """An unspecified revision: the server closes the stream, or accepts it if it can
    interoperate."""
    conn = start(bench, request(revision=REVISIONS[name]))
    if conn.open:
        expect(conn.probe(), CHECKED, must=[kinds.REPLY])
        bench.latitude(CHECKED, "the server interoperates with the revision")
    else:
        expect_closed(bench, conn, CHECKED)
    expect_served(bench, SERVED)


@case("server.startup.two-initiators", requirements=[ROLES, SERVED], needs=["fault-hooks"])
def test_reply_frame_as_request(bench):
    """A reply frame in place of the request. The server notices that both sides take the same
    part."""
    expect_closed(bench, start(bench, request(key=REPLY_KEY)), ROLES)
    expect_served(bench, SERVED)


@case("server.startup.stray-{name}", requirements=[IGNORED, "RFC6581-9.2-2"], needs=["fault-hooks"])
@pytest.mark.parametrize("name", STRAY)
def test_stray_bits(bench, name):
    """Bits that receivers do not check are set: the connection works."""
    requirement_id = "RFC6581-9.2-2" if name.startswith("rtr") else IGNORED
    expect_works(start(bench, STRAY[name]), requirement_id)


@case(
    "server.startup.early-{name}", requirements=["RFC5044-7.1.2-2", SERVED], needs=["fault-hooks"]
)
@pytest.mark.parametrize("name", EARLY)
def test_octets_before_the_reply(bench, name):
    """Octets right behind the request are no FPDU. The server refuses them at once, or when it
    reads them."""
    conn = start(bench, request() + EARLY[name])
    conn.stop_judging()
    if conn.open:
        for _ in range(4):
            if conn.open:
                conn.raw.send_raw(bytes(24))
                conn.raw.wait(0)
        expect.true(conn.wait_closed(), "RFC5044-7.1.2-2", "the connection ends over the octets")
    else:
        expect_closed(bench, conn, "RFC5044-7.1.2-2")
    expect_served(bench, SERVED)


@case("server.startup.cut", requirements=[CHECKED, SERVED], needs=["fault-hooks"])
def test_cut_requests(bench):
    """Streams end inside their request, at every part of it. The server closes them without a
    reply, and goes on listening."""
    for octets in CUTS * 2:
        with StartupStream(bench) as stream:
            stream.send(request()[:octets])
            stream.end()
            expect.true(stream.ended(), CHECKED, "the server closes a cut stream without a reply")
    expect_served(bench, SERVED)


@case("server.startup.silent-{name}", requirements=[SERVED], needs=["fault-hooks"])
@pytest.mark.parametrize("name", SILENT)
def test_silent_startup(bench, name):
    """Streams that never finish their startup do not block other clients."""
    with contextlib.ExitStack() as streams:
        for _ in range(SILENT_STREAMS):
            streams.enter_context(StartupStream(bench)).send(SILENT[name])
        for _ in range(3):
            expect_served(bench, SERVED)


@case("server.startup.octets-one-by-one", requirements=[CHECKED, SERVED], needs=["fault-hooks"])
def test_request_in_pieces(bench):
    """Requests arrive octet by octet and are accepted, because TCP has no message boundaries.
    Between two octets a call on another connection is answered, so the server sees each alone."""
    elsewhere = bench.connect()
    for _ in range(PIECES_STREAMS):
        with StartupStream(bench) as stream:
            for octet in request():
                stream.send(bytes([octet]))
                expect(elsewhere.probe(), SERVED, must=[kinds.REPLY])
            frame = stream.reply()
        taken = frame is not None and not frame.rejected
        expect.true(taken, CHECKED, "the request is accepted")


@case(
    "server.startup.reply",
    requirements=["RFC6581-10-1", "RFC6581-6-1", "RFC6581-9.2-2", IGNORED],
    needs=["fault-hooks"],
)
def test_enhanced_reply(bench):
    """An enhanced request gets an enhanced reply: revision 2, S, the two words, no control
    flags."""
    frame = accepted(bench, request(), "RFC6581-10-1")
    expect.true(frame.enhanced is not None, "RFC6581-10-1", "the reply is enhanced")
    expect.equal(frame.revision, 2, "RFC6581-6-1", "revision of the reply")
    expect.equal(frame.flags & 0x0F, 0, IGNORED, "reserved bits of the reply")
    flags = tuple(word & ~DEPTH for word in frame.enhanced)
    expect.equal(flags, (0, 0), "RFC6581-9.2-2", "control flags of the reply")


def need_words(bench, frame):
    """Ends the case if the reply is not enhanced, which server.startup.reply judges."""
    if frame.enhanced is None:
        bench.not_testable("the reply is not enhanced")


@case("server.startup.depths-{depth}", requirements=["RFC6581-9.1-1"], needs=["fault-hooks"])
@pytest.mark.parametrize("depth", [1, 3])
def test_depths(bench, depth):
    """The server's ORD does not exceed the IRD that the client offers."""
    frame = accepted(bench, request(ird=depth, ord=depth), "RFC6581-9.1-1")
    need_words(bench, frame)
    expect.at_most(frame.enhanced[1] & DEPTH, depth, "RFC6581-9.1-1", "ORD of the reply")


@case("server.startup.depths-not-negotiated", requirements=["RFC6581-9.1-2"], needs=["fault-hooks"])
def test_depths_are_not_negotiated(bench):
    """0x3fff in both words means that the depths are not negotiated. The reply repeats it."""
    octets = request(ird=NOT_NEGOTIATED, ord=NOT_NEGOTIATED)
    frame = accepted(bench, octets, "RFC6581-9.1-2")
    need_words(bench, frame)
    depths = tuple(word & DEPTH for word in frame.enhanced)
    wanted = (NOT_NEGOTIATED, NOT_NEGOTIATED)
    expect.equal(depths, wanted, "RFC6581-9.1-2", "IRD and ORD of the reply")


def peer_to_peer(name):
    """A request for the peer-to-peer model that offers these kinds of RTR."""
    ird = 16 | PEER_TO_PEER | (RTR_SEND if name in ("all", "send") else 0)
    ord = 16 | (RTR_WRITE if name in ("all", "write") else 0)
    ord |= RTR_READ if name in ("all", "read") else 0
    return request(ird=ird, ord=ord)


@case("server.startup.peer-to-peer", requirements=["RFC6581-9.2-1", SERVED], needs=["fault-hooks"])
def test_peer_to_peer(bench):
    """The server's reply to a peer-to-peer client has A and at least one kind of RTR. Some clients
    send their RTR. Others leave without it by FIN or RST, at once or while the server waits.
    Clients after them are served."""
    for name in ("all", "send", "write", "read"):
        with StartupStream(bench) as stream:
            stream.send(peer_to_peer(name))
            frame = stream.reply()
            expect.true(frame is not None, "RFC6581-9.2-1", "an MPA reply comes")
            expect.true(not frame.rejected, "RFC6581-9.2-1", "the request is accepted")
            words = frame.enhanced or (0, 0)
            expect.true(words[0] & PEER_TO_PEER, "RFC6581-9.2-1", "A is set in the reply")
            offered = (words[0] & RTR_SEND) | (words[1] & (RTR_WRITE | RTR_READ))
            expect.true(offered, "RFC6581-9.2-1", "the reply offers an RTR")
            stream.send(ready_to_receive(frame))
            expect_served(bench, SERVED)
    elsewhere = bench.connect()
    for waits, resets in itertools.product((False, True), repeat=2):
        for _ in range(LEAVING_STREAMS):
            with StartupStream(bench) as stream:
                stream.send(peer_to_peer("all"))
                stream.reply()
                if waits:
                    expect(elsewhere.probe(), SERVED, must=[kinds.REPLY])
                if resets:
                    stream.reset()
    expect_served(bench, SERVED)


@case("server.startup.markers", requirements=["RFC5044-4.3-1", SERVED], needs=["fault-hooks"])
def test_markers(bench):
    """A client requests markers. A server that inserts them accepts; others reject or close."""
    with StartupStream(bench) as stream:
        stream.send(request(flags=MARKERS | CRC | ENHANCED))
        frame = stream.reply()
        if frame is None:
            expect.true(stream.ended(), "RFC5044-4.3-1", "the server closes the stream")
        elif not frame.rejected:
            stream.send(null_call(frame))
            octets = stream.first_octets(len(FIRST_MARKER))
            expect.true(octets is not None, "RFC5044-4.3-1", "a NULL call is answered")
            expect.data(octets, FIRST_MARKER, "RFC5044-4.3-1", "marker before the first FPDU")
            bench.latitude("RFC5044-4.3-1", "the server inserts markers")
    expect_served(bench, SERVED)


@case("server.startup.crc-off", requirements=["RFC5044-4.4-1"], needs=["fault-hooks"])
def test_without_crc(bench):
    """A client does not request the CRC. The connection works, with or without it."""
    conn = bench.connect(crc=False, greet=False)
    for _ in range(3):
        expect(conn.probe(), "RFC5044-4.4-1", must=[kinds.REPLY])


@case(
    "server.startup.revision-one",
    requirements=["RFC6581-6-1", "RFC6581-10-1"],
    needs=["fault-hooks"],
)
def test_revision_one(bench):
    """A request of revision 1 has no depths. It works, or the server refuses it because it cannot
    read without depths."""
    conn = bench.connect(mpa_revision=1, greet=False, must_open=False)
    if conn.open:
        expect(conn.probe(), "RFC6581-6-1", must=[kinds.REPLY])
        return
    expect.one_of(end_of(conn), (*ENDED, "rejected"), "RFC6581-10-1", "end of the startup")
    bench.latitude("RFC6581-6-1", "the server refuses a client without depths")


@case("server.startup.ird-zero", requirements=["RFC6581-9.1-1", "RFC5040-6.1-1", SERVED])
def test_no_inbound_reads(bench):
    """The client takes no RDMA Reads. The server refuses it, or serves calls that need none. A read
    chunk gets an error or ends the connection, and never causes a Read Request."""
    handle = bench.file()
    conn = bench.connect(ird=0, greet=False, must_open=False)
    if not conn.open:
        expect.one_of(end_of(conn), (*ENDED, "rejected"), "RFC6581-9.1-1", "end of the startup")
        bench.latitude("RFC6581-9.1-1", "the server refuses a client that takes no RDMA Reads")
    else:
        expect(conn.probe(), "RFC6581-9.1-1", must=[kinds.REPLY])
        call = write_call(conn, handle, bytes(1024))
        conn.reduce(call)
        expect(conn.exchange(call), "RFC5040-6.1-1", must=[kinds.ERR_CHUNK, *kinds.CLOSED])
    expect_served(bench, SERVED)


@case("server.startup.ird-one", requirements=["RFC5040-6.1-1", "RFC8267-4-1"])
def test_one_inbound_read(bench):
    """The client takes one RDMA Read at a time. The server still pulls a chunk of sixteen
    segments."""
    content = bench.random.randbytes(4096)
    handle = bench.file()
    conn = bench.connect(ird=1)
    for _ in range(3):
        call = conn.nfs_call("WRITE", file=handle, offset=0, count=4096, stable=2, data=content)
        conn.reduce(call, [256] * 16)
        expect(conn.exchange(call), "RFC5040-6.1-1", must=[kinds.REPLY])
    expect.data(bench.read_back(handle), content, "RFC8267-4-1", "content of the file")


@case("server.startup.abandoned", requirements=[SERVED], needs=["fault-hooks"])
def test_abandoned_after_the_reply(bench):
    """Clients leave as soon as they have the reply, many times. Others are served."""
    for _ in range(16):
        with StartupStream(bench) as stream:
            stream.send(request())
            expect.true(stream.reply() is not None, SERVED, "an MPA reply comes")
    expect_served(bench, SERVED)
