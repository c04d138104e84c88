"""FPDUs, DDP segments and RDMAP messages of the server, field by field.

Their order is checked too (RFC 5044, 5041, 5040, 6581)."""

from steertag import fabric, trace, wire
from steertag.suite import case, expect, kinds
from steertag.suite.cases.case_end import EXCHANGES, unprepared
from ..chunk_checks import read_call, write_call
from .fpdus import (
    expect_fpdus,
    FORM,
    make_read_request,
    next_fpdu,
    READ_FIELDS,
    READ_QUEUE,
    read_fpdus,
    READ_REQUEST,
    READ_RESPONSE,
    SENDS,
    TERMINATE,
    TERMINATE_QUEUE,
    WRITE,
)
from .startup_stream import MARKERS, null_call, NULL_FPDU, read_frame, REPLY_KEY, request
from .startup_stream import StartupStream

ASKED, COPIED, ANSWERED = "RFC5040-4.4-1", "RFC5040-4.4-2", "RFC5040-5.2.1-1"
TERMINATES, ORDER = "RFC5040-4.8-1", "RFC5040-5.5-1"
WAITS, WORDS, STARTUP = "RFC5044-7.1.2-1", "RFC6581-9-1", "RFC5044-7.1.1-1"
NOT_DELIVERED = "RFC5044-8-1"
XID_AT, XID_OCTETS = 20, 4  # place and length of the call's XID in NULL_FPDU
SINK = (0x5EED0042, 0x0123456789ABCDEF)
# More than any TCP segment holds, and less than any server sends at once. The last segment needs a
# pad.
SEVERAL_SEGMENTS = (1 << 17) - 3
MOST_PRIVATE_DATA, WORDS_OCTETS = 512, 4
TERMINATE_CONTROL, RESERVED_BITS = 4, 0x1FFF
LAYERS = (0, 1, 2)
MAGIC = wire.encode(wire.PrivateData())[:4]


def reply_frame(bench, stream, requirement_id):
    """The reply frame to a client without private data. A server that does not know revision 2 ends
    the stream instead (RFC 6581 10)."""
    stream.send(request(data=b""))
    frame = stream.reply()
    if frame is None and stream.ended():
        bench.not_testable("the server ends the stream of a client without private data")
    if frame is None:
        raise unprepared(EXCHANGES, "MPA startup", kinds.HANG)
    expect.equal(frame.key, REPLY_KEY, requirement_id, "key of the first octets")
    return frame


def started(bench, stream, requirement_id):
    """Like reply_frame, for a stream that can carry calls."""
    frame = reply_frame(bench, stream, requirement_id)
    if frame.rejected or frame.flags & MARKERS:
        bench.not_testable("the server rejects clients without private data, or asks for markers")
    return frame


def first_fpdu(stream, frame):
    """The server's first Fpdu after a first NULL call."""
    stream.send(null_call(frame))
    found = next_fpdu(stream)
    if found is None:
        end = kinds.DISCONNECT if stream.ended() else kinds.HANG
        raise unprepared(EXCHANGES, "a first NULL call", end)
    return found


def pass_time(conn):
    """Waits for the reply to a NULL call on another connection."""
    outcome = conn.probe()
    if outcome.kind != kinds.REPLY:
        raise unprepared(conn.owed, "a NULL call elsewhere", outcome.kind, outcome.trace())


@case("server.segments.first", requirements=[*FORM, STARTUP], needs=["fault-hooks"])
def test_first(bench):
    """The FPDU with the reply to a first call."""
    with StartupStream(bench) as stream:
        first = first_fpdu(stream, started(bench, stream, STARTUP))
    expect_fpdus([first])


@case("server.segments.waits", requirements=[WAITS], needs=["fault-hooks"])
def test_waits(bench):
    """The server sends nothing before the MPA reply, and no FPDU before the client's first. Replies
    on other connections show that it had time to send one."""
    elsewhere = bench.connect()
    with StartupStream(bench) as stream:
        pass_time(elsewhere)
        frame = started(bench, stream, WAITS)
        pass_time(elsewhere)
        first = first_fpdu(stream, frame)
    xid = NULL_FPDU[XID_AT : XID_AT + XID_OCTETS]
    answers = first.payload[:XID_OCTETS] == xid
    expect.true(answers, WAITS, "the first FPDU answers the client's first")


def sent_by_server(bench, conn):
    """[Fpdu] of a connection so far."""
    frame, behind = read_frame(conn.watch.capture.octets(trace.Role.server))
    if frame.flags & MARKERS:
        bench.not_testable("the server asks for markers")
    return read_fpdus(behind)[0]


@case("server.segments.data", requirements=[*FORM, ASKED, ORDER], needs=["fault-hooks"])
def test_data(bench):
    """Read Requests, RDMA Writes of several segments, and the Sends behind them. The data of a READ
    is sent before its reply."""
    content = bench.random.randbytes(SEVERAL_SEGMENTS)
    handle = bench.file(content)
    conn = bench.connect()
    call = write_call(conn, handle, content[:4096])
    conn.reduce(call, [1000, 3096])
    outcome = conn.exchange(call)
    requests = [one for one in sent_by_server(bench, conn) if one.opcode == READ_REQUEST]
    for one in requests:
        where = (one.queue, len(one.payload))
        what = "queue of a Read Request and its octets"
        expect.equal(where, (READ_QUEUE, READ_FIELDS.size), ASKED, what, outcome=outcome)
    expect(outcome, ASKED, must=[kinds.REPLY])
    call = read_call(conn, handle, SEVERAL_SEGMENTS)
    conn.write_chunk(call)
    outcome = conn.exchange(call)
    fpdus = sent_by_server(bench, conn)
    expect_fpdus(fpdus, outcome)
    sends = [place for place, one in enumerate(fpdus) if one.opcode in SENDS]
    before = [one for one in fpdus[: sends[-1]] if one.opcode == WRITE]
    expect(outcome, ORDER, must=[kinds.REPLY])
    written = sum(len(one.payload) for one in before)
    what = "octets written before the reply"
    expect.at_least(written, outcome.result.ok.count, ORDER, what, outcome)


@case("server.segments.terminate", requirements=[TERMINATES, NOT_DELIVERED], needs=["fault-hooks"])
def test_terminate(bench):
    """A Terminate after a bad CRC has the right queue and defined control bits. A server may send
    none, and may drop the TCP segment silently (RFC 5044 8)."""
    conn = bench.connect()
    call = conn.null_call()
    conn.send(call, fault=fabric.Fault(bad_crc=True))
    outcome = conn.await_outcome(call)
    if outcome.kind == kinds.HANG:
        conn.abort()
        bench.not_testable("the server leaves the connection open over a bad CRC")
    # A wrong Terminate can end the connection as a violation. Its fields are judged below.
    expect(outcome, NOT_DELIVERED, must=[*kinds.CLOSED, kinds.VIOLATION])
    found = [one for one in sent_by_server(bench, conn) if one.opcode == TERMINATE]
    if not found:
        bench.not_testable("the server ends the connection without a Terminate")
    last = found[-1]
    place = (last.tagged, last.queue, last.msn, last.mo)
    what = "form, queue, MSN and offset of a Terminate"
    expect.equal(place, (False, TERMINATE_QUEUE, 1, 0), TERMINATES, what)
    expect.at_least(len(last.payload), TERMINATE_CONTROL, TERMINATES, "octets of a Terminate")
    control = int.from_bytes(last.payload[:TERMINATE_CONTROL], "big")
    expect.one_of(control >> 28, LAYERS, TERMINATES, "layer of a Terminate")
    expect.equal(control & RESERVED_BITS, 0, TERMINATES, "reserved bits of a Terminate")


@case("server.segments.empty-read", requirements=[ANSWERED, COPIED, STARTUP], needs=["fault-hooks"])
def test_empty_read(bench):
    """The Read Response to a Read Request for no octets repeats any sink of the request. A server
    that announces no depth may take no Reads. Only a Read Request shows that."""
    with StartupStream(bench) as stream:
        frame = started(bench, stream, STARTUP)
        if frame.ird == 0:
            bench.not_testable("the server takes no RDMA Reads")
        first_fpdu(stream, frame)
        stream.send(make_read_request(1, SINK, 0, (0, 0)))
        answer = next_fpdu(stream)
    refused = answer is None or answer.opcode == TERMINATE
    if refused and frame.ird is None:
        bench.not_testable("the server takes no RDMA Reads")
    expect.true(answer is not None, ANSWERED, "the Read Request is answered")
    form = (answer.tagged, answer.opcode, len(answer.payload))
    expect.equal(form, (True, READ_RESPONSE, 0), ANSWERED, "form, opcode and octets of the answer")
    expect.equal((answer.stag, answer.offset), SINK, COPIED, "sink of the Read Response")


@case("server.startup.words", requirements=[WORDS, STARTUP], needs=["fault-hooks"])
def test_words(bench):
    """An enhanced reply has the depths in front of its private data. Together they have at
    most 512 octets."""
    with StartupStream(bench) as stream:
        frame = reply_frame(bench, stream, STARTUP)
    if not frame.enhanced:
        bench.not_testable("the reply is not enhanced")
    expect.at_most(len(frame.data), MOST_PRIVATE_DATA, WORDS, "octets behind the reply's header")
    if MAGIC not in frame.data:
        bench.not_testable("the server announces nothing behind the depths")
    behind = MAGIC in frame.data[WORDS_OCTETS:]
    expect.true(behind, WORDS, "the private data follow the depths")
