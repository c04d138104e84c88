"""Segments that break MPA, DDP or RDMAP, and attacks on server memory (RFC 5040, 5041, 5044)."""

import struct

import pytest

from steertag import fabric, trace
from steertag.suite import case, expect, kinds
from ..chunk_checks import read_call, write_call
from .startup_stream import read_frame

SERVED = "RFC8166-4.5.5-1"
NOT_PLACED = "RFC5044-8-1"
CHECKED = "RFC5041-7.1-1"
CODES = "RFC5041-7.2-1"
CONTROL = "RFC5040-4.1-1"
READ_CHECKED = "RFC5040-7.2-1"
CONFINED = "RFC5041-8.3.1-1"
INVALIDATE = "RFC5040-5.3-2"
# RFC 5040 4.4: sink STag, sink offset, length, source STag, source offset.
READ_REQUEST = struct.Struct(">IQIIQ")
READ_REQUEST_OPCODE, READ_QUEUE = 1, 1
UNTAGGED_OPCODE = (0, 2, 6)
# Fault of the Send, the requirement that it tests, the causes (layer, type, code) that a Terminate
# may report.
FAULTS = {
    "crc": (dict(bad_crc=True), NOT_PLACED, [(2, 0, 2)]),
    "msn-zero": (dict(msn=0), CHECKED, [(1, 2, 3)]),
    "msn-repeated": (dict(msn=1), CHECKED, [(1, 2, 3)]),
    "msn-skipped": (dict(msn=3), CHECKED, [(1, 2, 3), (1, 2, 2)]),
    "msn-largest": (dict(msn=0xFFFFFFFF), CHECKED, [(1, 2, 3), (1, 2, 2)]),
    "mo-four": (dict(mo=4), CHECKED, [(1, 2, 4)]),
    "mo-largest": (dict(mo=0xFFFFFFFF), CHECKED, [(1, 2, 4), (1, 2, 5)]),
    "queue-three": (dict(qn=3), CHECKED, [(1, 2, 1)]),
    "queue-largest": (dict(qn=0xFFFFFFFF), CHECKED, [(1, 2, 1)]),
    "send-on-read-queue": (dict(qn=1), CHECKED, [UNTAGGED_OPCODE, (1, 2, 3), (1, 2, 2)]),
    "send-on-terminate-queue": (dict(qn=2), CHECKED, [UNTAGGED_OPCODE, (1, 2, 3), (1, 2, 2)]),
    "opcode-write": (dict(opcode=0), CONTROL, [UNTAGGED_OPCODE]),
    "opcode-read-request": (dict(opcode=1), CONTROL, [UNTAGGED_OPCODE]),
    "opcode-read-response": (dict(opcode=2), CONTROL, [UNTAGGED_OPCODE]),
    "opcode-terminate": (dict(opcode=7), CONTROL, [UNTAGGED_OPCODE]),
    "opcode-eight": (dict(opcode=8), CONTROL, [UNTAGGED_OPCODE]),
    "opcode-fifteen": (dict(opcode=15), CONTROL, [UNTAGGED_OPCODE]),
    "ddp-version-zero": (dict(ddp_version=0), CHECKED, [(1, 2, 6)]),
    "ddp-version-two": (dict(ddp_version=2), CHECKED, [(1, 2, 6)]),
    "ddp-version-three": (dict(ddp_version=3), CHECKED, [(1, 2, 6)]),
    "rdmap-version-zero": (dict(rdmap_version=0), CONTROL, [(0, 2, 5)]),
    "rdmap-version-two": (dict(rdmap_version=2), CONTROL, [(0, 2, 5)]),
    "rdmap-version-three": (dict(rdmap_version=3), CONTROL, [(0, 2, 5)]),
}
# The rules of RPC-over-RDMA see no call in what is damaged below them. Cases here judge the damage.
ANSWERED = {"RFC8166-3.3.1-11": "an answer to a damaged call has no call for the judge"}
# Why a target may leave the connection open after a fault, if it executes nothing.
DROPPED = "a TCP segment with a wrong CRC may be dropped without a word (RFC 5044 8)"
STAYS_OPEN = {
    "crc": DROPPED,
    "msn-skipped": "a message is not delivered before the one that is missing (RFC 5041 5.4)",
    "mo-four": "a message is not delivered before all of its octets are there (RFC 5041 5.4)",
}
# Values in place of the right ULPDU_Length. Enough octets follow to complete every length.
LENGTHS = {"zero": 0, "one": 1, "header-less-one": 17, "bare-header": 18, "short": 60}
LENGTHS |= {"long": 4096, "above-most": 64769, "largest": 0xFFFF}
TERMINATES = {"rdmap": (0, 1, 2), "ddp": (1, 1, 0), "mpa": (2, 0, 2), "unknown": (15, 15, 255)}
# Repetitions of cases that race.
ROUNDS = 8
# A READ that keeps the server sending for a while. Every server takes 256 KiB at once.
BUSY_OCTETS = 1 << 18
STAGS = {"zero": 0, "one": 1, "arbitrary": 0x5EED1000, "largest": 0xFFFFFFFF}


def expect_served(bench, requirement_id):
    """A new connection is accepted, and a call on it is answered."""
    expect(bench.connect(greet=False).probe(), requirement_id, must=[kinds.REPLY])


def expect_ended(bench, outcome, requirement_id, causes=None, or_open=None):
    """The target ended the connection. If `or_open` is a reason, it may also stay open without
    answering. A Terminate with a cause that is not in the RFCs' tables is only a warning, because
    no peer acts on it."""
    still = {kinds.HANG: or_open} if or_open else None
    expect(outcome, requirement_id, must=kinds.CLOSED, latitude=still)
    if outcome.kind == kinds.HANG:
        outcome.conn.abort()
    if outcome.kind != kinds.TERMINATE or causes is None:
        return
    told = outcome.conn.closed.terminate
    seen = (told.layer, told.type, told.code)
    if seen not in causes:
        wanted = " or ".join("/".join(map(str, cause)) for cause in causes)
        text = f"Terminate {'/'.join(map(str, seen))} where the tables have {wanted}"
        bench.warn(CODES, text)


@case(
    "server.iwarp.send-{name}",
    requirements=[NOT_PLACED, CHECKED, CONTROL, CODES, SERVED],
    needs=["fault-hooks"],
    tolerates=ANSWERED,
)
@pytest.mark.parametrize("name", FAULTS)
def test_faulty_send(bench, name):
    """A WRITE in a Send that breaks one rule below RPC-over-RDMA. The connection ends, or waits for
    the missing part of the Send. The call is not delivered."""
    fault, requirement_id, causes = FAULTS[name]
    handle = bench.file()
    for _ in range(ROUNDS):
        conn = bench.connect()
        call = write_call(conn, handle, bench.random.randbytes(64))
        conn.send(call, fault=fabric.Fault(**fault))
        outcome = conn.await_outcome(call)
        expect_ended(bench, outcome, requirement_id, causes, STAYS_OPEN.get(name))
        if outcome.kind != kinds.DISCONNECT:
            break  # the connection may end before its Terminate arrives
    expect_served(bench, SERVED)
    expect.data(bench.read_back(handle), b"", NOT_PLACED, "content of the file")


@case(
    "server.iwarp.length-{name}",
    requirements=["RFC5044-3-1", NOT_PLACED, CODES, SERVED],
    needs=["fault-hooks"],
)
@pytest.mark.parametrize("name", LENGTHS)
def test_wrong_ulpdu_length(bench, name):
    """ULPDU_Length is wrong, and zeros complete the longest FPDU. The CRC or the length reveals the
    fault."""
    handle = bench.file()
    conn = bench.connect()
    conn.stop_judging()
    call = write_call(conn, handle, bench.random.randbytes(64))
    conn.send(call, fault=fabric.Fault(ulpdu_length=LENGTHS[name]))
    if conn.open:
        conn.raw.send_raw(bytes(1 << 17))
    expect_ended(bench, conn.await_outcome(call), "RFC5044-3-1", or_open=DROPPED)
    expect_served(bench, SERVED)
    expect.data(bench.read_back(handle), b"", NOT_PLACED, "content of the file")


@case("server.iwarp.nothing-after-a-bad-fpdu", requirements=[NOT_PLACED], needs=["fault-hooks"])
def test_good_message_behind_a_bad_one(bench):
    """A bad CRC with a good WRITE right behind it. Nothing is delivered after an MPA error."""
    handle = bench.file()
    conn = bench.connect()
    bad, good = conn.null_call(), write_call(conn, handle, bench.random.randbytes(64))
    conn.send(bad, fault=fabric.Fault(bad_crc=True))
    conn.send(good)
    expect_ended(bench, conn.await_outcome(good), NOT_PLACED, or_open=DROPPED)
    expect.data(bench.read_back(handle), b"", NOT_PLACED, "content of the file")


@case(
    "server.iwarp.good-message-before-a-bad-one",
    requirements=[NOT_PLACED, SERVED],
    needs=["fault-hooks"],
)
def test_good_message_before_a_bad_one(bench):
    """A valid NULL call with a bad CRC behind it. Its reply may arrive, or be lost with the
    connection or with the TCP segment of both. The second call is not answered."""
    conn = bench.connect()
    good, bad = conn.null_call(), conn.null_call()
    conn.send(good)
    conn.send(bad, fault=fabric.Fault(bad_crc=True))
    outcome = conn.await_outcome(good)
    if outcome.kind == kinds.REPLY:
        outcome = conn.await_outcome(bad)
    expect_ended(bench, outcome, NOT_PLACED, or_open=DROPPED)
    expect_served(bench, SERVED)


@case("server.iwarp.others-unharmed", requirements=[NOT_PLACED, SERVED], needs=["fault-hooks"])
def test_others_are_unharmed(bench):
    """Connections that break the rules open and end. Another connection is answered each time."""
    good = bench.connect()
    for _ in range(ROUNDS):
        conn = bench.connect()
        elsewhere, bad = good.null_call(), conn.null_call()
        good.send(elsewhere)
        conn.send(bad, fault=fabric.Fault(bad_crc=True))
        expect(good.await_outcome(elsewhere), SERVED, must=[kinds.REPLY])
        outcome = conn.await_outcome(bad)
        expect_ended(bench, outcome, NOT_PLACED, or_open=DROPPED)
        if outcome.kind == kinds.HANG:
            break  # it drops the segment silently each time


@case("server.iwarp.solicited-event", requirements=["RFC5040-5.3-1"], needs=["fault-hooks"])
def test_send_with_solicited_event(bench):
    """Send with Solicited Event carries a message like Send."""
    conn = bench.connect()
    conn.stop_judging()  # altered operations raise no events
    call = conn.null_call()
    conn.send(call, fault=fabric.Fault(opcode=5))
    expect(conn.await_outcome(call), "RFC5040-5.3-1", must=[kinds.REPLY])
    expect(conn.probe(), "RFC5040-5.3-1", must=[kinds.REPLY])


@case(
    "server.iwarp.terminate-{name}", requirements=["RFC5040-5.4-1", SERVED], needs=["fault-hooks"]
)
@pytest.mark.parametrize("name", TERMINATES)
def test_terminate_from_the_client(bench, name):
    """The client ends the stream with a Terminate while calls are in flight. Others are served."""
    conn = bench.connect()
    for _ in range(min(conn.window, 8)):
        call = conn.null_call()
        conn.long_call(call)
        conn.send(call)
    conn.raw.terminate(*TERMINATES[name])
    expect.true(conn.wait_closed(), "RFC5040-5.4-1", "the connection ends with the Terminate")
    expect_served(bench, SERVED)


# -- the server's memory ---------------------------------------------------------------------------


def read_memory(conn, requirement_id, stag, offset=0, length=64):
    """Sends a Read Request for the server's memory, whatever depth was agreed. Returns how the
    connection ended. A Send behind it has a wrong MSN, and would end the connection anyway."""
    conn.stop_judging()  # altered operations raise no events
    request = READ_REQUEST.pack(0x00C0FFEE, 0, length, stag, offset)
    fault = fabric.Fault(opcode=READ_REQUEST_OPCODE, qn=READ_QUEUE, msn=1)
    conn.send(request, fault=fault)
    closed = conn.wait_closed()
    expect.true(closed, requirement_id, "the connection ends over the Read Request")
    return conn.probe()


def pulled_stag(bench, conn):
    """(STag, offset) of the server's memory that received a Read Response, or None."""
    handle = bench.file()
    call = write_call(conn, handle, bytes(4096))
    conn.reduce(call)
    outcome = expect(conn.exchange(call), SERVED, must=[kinds.REPLY])
    responses = [event for event in outcome.conn.recorder if event.kind == "rdma_read_response"]
    if not responses:
        return None
    return responses[-1].sink_stag, responses[-1].sink_offset


@case(
    "server.iwarp.read-{name}",
    requirements=[READ_CHECKED, SERVED, "RFC8166-3.1-1"],
    needs=["fault-hooks"],
)
@pytest.mark.parametrize("name", STAGS)
def test_read_of_server_memory(bench, name):
    """A Read Request for an STag that the server never advertised: the connection ends, without a
    Read Response."""
    conn = bench.connect()
    outcome = read_memory(conn, READ_CHECKED, STAGS[name])
    # Our provider ends the connection over a Read Response without a Read of its own.
    answered = outcome.kind == kinds.VIOLATION
    expect.true(not answered, "RFC8166-3.1-1", "no Read Response comes", outcome=outcome)
    expect_ended(bench, outcome, READ_CHECKED)
    expect_served(bench, SERVED)


@case("server.iwarp.read-own-stag", requirements=[READ_CHECKED, CONFINED], needs=["fault-hooks"])
def test_read_with_a_stag_of_the_client(bench):
    """A Read Request with an STag of the client itself, which is not valid at the server."""
    conn = bench.connect()
    offer = conn.offer(4096, read=True)
    expect_ended(bench, read_memory(conn, READ_CHECKED, offer.stag, offer.base), READ_CHECKED)


@case(
    "server.iwarp.read-pulled", requirements=[READ_CHECKED, CONFINED, SERVED], needs=["fault-hooks"]
)
def test_read_of_pulled_memory(bench):
    """The server names an STag in its Read Request. It is valid for the response, not for
    reading."""
    conn = bench.connect()
    pulled = pulled_stag(bench, conn)
    if pulled is None:
        bench.not_testable("the server pulled nothing")
    expect_ended(bench, read_memory(conn, CONFINED, *pulled), CONFINED)


@case(
    "server.iwarp.read-pulled-elsewhere",
    requirements=[SERVED, "RFC8166-8.1-2"],
    needs=["fault-hooks"],
)
def test_read_of_memory_pulled_on_another_connection(bench):
    """A Read Request with an STag from another connection. STags are valid only in their own
    stream."""
    first, second = bench.connect(), bench.connect()
    pulled = pulled_stag(bench, first)
    if pulled is None:
        bench.not_testable("the server pulled nothing")
    outcome = read_memory(second, "RFC8166-8.1-2", *pulled)
    expect_ended(bench, outcome, "RFC8166-8.1-2")
    expect(first.probe(), SERVED, must=[kinds.REPLY])


@case("server.iwarp.write-{name}", requirements=[CHECKED, SERVED, "RFC8166-8.1-1"], hostile=True)
@pytest.mark.parametrize("name", STAGS)
def test_write_to_server_memory(bench, name):
    """An RDMA Write to an STag that the server never advertised: the connection ends."""
    conn = bench.connect()
    conn.raw.rdma_write(b"\xa5" * 64, STAGS[name], 0)
    outcome = conn.probe()
    expect_ended(bench, outcome, CHECKED)
    expect.true(not conn.open, "RFC8166-8.1-1", "nothing goes on after the Write", outcome=outcome)
    expect_served(bench, SERVED)


@case(
    "server.iwarp.write-pulled",
    requirements=[CONFINED, SERVED],
    risk="destructive",
    hostile=True,
)
def test_write_to_pulled_memory(bench):
    """The server revoked the STag of a finished RDMA Read before its reply. A Write to it ends the
    connection. The Write repeats the octets that were pulled."""
    conn = bench.connect()
    pulled = pulled_stag(bench, conn)
    if pulled is None:
        bench.not_testable("the server pulled nothing")
    conn.raw.rdma_write(bytes(8), *pulled)
    expect_ended(bench, conn.probe(), CONFINED)
    expect_served(bench, SERVED)


@case("server.iwarp.write-nothing", requirements=["RFC5041-5.2-1"])
def test_zero_length_write(bench):
    """STag and offset of a Write without octets are not checked: the connection stays open."""
    conn = bench.connect()
    conn.raw.rdma_write(b"", 0, 0)
    expect(conn.probe(), "RFC5041-5.2-1", must=[kinds.REPLY])


def tells_no_depth(conn):
    """Whether the MPA reply does not say how many RDMA Reads the target takes. Other providers
    always say it."""
    octets = conn.watch.capture.octets(trace.Role.server)
    return bool(octets) and read_frame(octets)[0].ird is None


def read_responses(conn):
    """How many RDMA Read Responses have arrived."""
    return sum(event.kind == "rdma_read_response" for event in conn.recorder)


@case("server.iwarp.read-nothing", requirements=["RFC5040-5.2.1-1"])
def test_zero_length_read(bench):
    """Read Requests for no octets arrive while the server writes the data of a READ. Each gets an
    empty Read Response, and the server's other messages are intact. Read Responses and replies have
    no order (RFC 5040 5.5)."""
    handle = bench.sparse_file(BUSY_OCTETS)
    conn = bench.connect()
    sink = conn.offer(64, write=True)
    for _ in range(ROUNDS):
        call = read_call(conn, handle, BUSY_OCTETS)
        conn.write_chunk(call)
        conn.send(call)
        conn.wait_event("rdma_write")
        try:
            conn.raw.rdma_read(sink.region, 0, 0, 0, 0)
        except fabric.FabricError as error:
            if error.code != fabric.ErrorCode.unsupported:
                raise
            bench.not_testable("the server takes no RDMA Reads")
        for answer in (lambda call=call: conn.await_outcome(call), conn.probe):
            outcome = answer()
            if outcome.kind in kinds.CLOSED and tells_no_depth(conn):
                bench.not_testable("the server takes no RDMA Reads")
            expect(outcome, "RFC5040-5.2.1-1", must=[kinds.REPLY])
    while read_responses(conn) < ROUNDS and conn.wait_event("rdma_read_response"):
        pass
    expect.equal(read_responses(conn), ROUNDS, "RFC5040-5.2.1-1", "RDMA Read Responses")


@case("server.iwarp.invalidate-{name}", requirements=[INVALIDATE, SERVED], hostile=True)
@pytest.mark.parametrize("name", [*STAGS, "own"])
def test_invalidate_from_the_client(bench, name):
    """Send with Invalidate names no STag of the server: the stream ends with a Terminate."""
    conn = bench.connect()
    stag = conn.offer(64, read=True).stag if name == "own" else STAGS[name]
    call = conn.null_call()
    conn.send(call, invalidate=stag)
    expect_ended(bench, conn.await_outcome(call), INVALIDATE)
    expect_served(bench, SERVED)
