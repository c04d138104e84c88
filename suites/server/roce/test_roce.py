"""Packets that break the rules of InfiniBand's reliable connection, and how a responder takes them."""

import pytest

from steertag import fabric
from steertag.suite import case, expect, kinds
from steertag.suite.rdma import roce_packets as roce
from steertag.suite.rdma.roce_alterations import CRC, DROPPED, KEYS, OPCODES, PARTITION, PSNS
from ..chunk_checks import write_call
from .packet_checks import SERVED, expect_ended, expect_served

ORDER, REPORTED, ONCE = "IBA-9.7-1", "IBA-9.7-2", "IBA-9.7-3"
SEQUENCE, LENGTHS, DEPTH, PATIENCE = "IBA-9.7-5", "IBA-9.7-6", "IBA-9.7-7", "IBA-9.7-8"
WRITE_CHECKED, READ_CHECKED, INVALIDATION = "IBA-10.6-1", "IBA-10.6-2", "IBA-10.6-3"
NEEDS = ["bent-packets"]
OCTETS = 64  # of a WRITE that fits one packet of any path MTU
COPIES = 3  # of the packet with a wrong PSN
READS_BEYOND = 8
RNR_REPETITIONS = 6  # that the client asks for


def expect_after_repetition(conn, start, outcome, requirement_id, bent=1):
    """The call was answered after its Send had left again, as it should be. The first `bent` ones were bent."""
    found = roce.packets(conn)[start:]
    answers = [number for number, each in enumerate(found) if each.is_send and each.is_of_server]
    sends = [each for each in found[: answers[0]] if each.is_send] if answers else []
    what = "Sends of the call before its answer"
    expect.at_least(len(sends), bent + 1, requirement_id, what, outcome=outcome)


@case("server.roce.psn-{name}", requirements=[ORDER, REPORTED], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", PSNS)
def test_psn(bench, name):
    """A WRITE in a packet with a wrong PSN. It is not executed before the packet with the right one has come.
    One NAK reports a gap, however many packets come behind it."""
    content = bench.random.randbytes(OCTETS)
    handle = bench.file()
    conn = bench.connect()
    start = len(roce.packets(conn))
    call = write_call(conn, handle, content)
    conn.send(call, fault=roce.bent(psn_offset=PSNS[name], copies=COPIES))
    outcome = expect(conn.await_outcome(call), ORDER, must=[kinds.REPLY])
    expect_after_repetition(conn, start, outcome, ORDER, bent=COPIES)
    expect(conn.probe(), ORDER, must=[kinds.REPLY])
    expect.data(bench.read_back(handle), content, ORDER, "content of the file")
    reports = roce.naks(roce.of_server(conn, start), roce.SEQUENCE)
    wanted = 1 if PSNS[name] > 0 else 0
    expect.equal(len(reports), wanted, REPORTED, "NAKs (PSN sequence error)")


@case("server.roce.dropped-{name}", requirements=[CRC, PARTITION], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", DROPPED)
def test_dropped(bench, name):
    """A WRITE in a packet that is not for the server, or is damaged. The server says nothing to it. It
    executes the same packet once that is right."""
    alterations, requirement_id = DROPPED[name]
    content = bench.random.randbytes(OCTETS)
    handle = bench.file()
    conn = bench.connect()
    start = len(roce.packets(conn))
    call = write_call(conn, handle, content)
    conn.send(call, fault=roce.bent(**alterations))
    outcome = expect(conn.await_outcome(call), requirement_id, must=[kinds.REPLY])
    expect_after_repetition(conn, start, outcome, requirement_id)
    reports = [each for each in roce.of_server(conn, start) if each.is_nak]
    expect.equal(len(reports), 0, requirement_id, "NAKs", outcome=outcome)
    expect(conn.probe(), requirement_id, must=[kinds.REPLY])
    expect.data(bench.read_back(handle), content, requirement_id, "content of the file")


@case("server.roce.repeated-send", requirements=[ONCE], needs=NEEDS, hostile=True)
def test_repeated_send(bench):
    """The packet of a WRITE leaves twice, and once more after the reply. It is executed and answered once, and
    each repetition is acknowledged."""
    content = bench.random.randbytes(OCTETS)
    handle = bench.file()
    conn = bench.connect()
    conn.stop_judging()  # the judge would name the second reply first
    start = len(roce.packets(conn))
    call = write_call(conn, handle, content)
    conn.send(call, fault=roce.bent(copies=2))
    expect(conn.await_outcome(call), ONCE, must=[kinds.REPLY])
    expect(conn.probe(), ONCE, must=[kinds.REPLY])
    sends = [each for each in roce.of_client(conn, start) if each.is_send]
    later = len(roce.packets(conn))
    conn.raw.send_raw(sends[0].octets)
    acknowledged = conn.wait_until(
        lambda: any(each.opcode == roce.ACKNOWLEDGE for each in roce.of_server(conn, later))
    )
    expect.true(acknowledged, ONCE, "the repeated packet is acknowledged")
    expect(conn.probe(), ONCE, must=[kinds.REPLY])
    answers = {each.psn for each in roce.of_server(conn, start) if each.is_send}
    expect.equal(len(answers), 3, ONCE, "packets with answers, one for each call")


def expect_unexecuted(bench, requirement_id, opcode):
    """A WRITE in a packet with another opcode ends the connection and is not executed. The server lives on."""
    handle = bench.file()
    conn = bench.connect()
    conn.stop_judging()
    call = write_call(conn, handle, bench.random.randbytes(OCTETS))
    conn.send(call, fault=roce.bent(patches=[(roce.OPCODE_AT, bytes([opcode]))], every_time=True))
    expect_ended(conn, conn.await_outcome(call), requirement_id)
    expect_served(bench)
    expect.data(bench.read_back(handle), b"", requirement_id, "content of the file")


@case("server.roce.opcode-{name}", requirements=[SEQUENCE, SERVED], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", OPCODES)
def test_opcode(bench, name):
    """A WRITE in a packet that continues a message, although none has begun. The call is not executed."""
    expect_unexecuted(bench, SEQUENCE, OPCODES[name])


@case("server.roce.first-short", requirements=[LENGTHS, SERVED], needs=NEEDS, hostile=True)
def test_short_first(bench):
    """A WRITE in a First packet that is shorter than the path MTU. The connection ends."""
    expect_unexecuted(bench, LENGTHS, roce.SEND_FIRST)


@case("server.roce.write-length-zero", requirements=[LENGTHS, SERVED], needs=NEEDS, hostile=True)
def test_write_length(bench):
    """An RDMA Write whose header announces no octets, and whose packet has some. The connection ends."""
    conn = bench.connect()
    conn.stop_judging()
    fault = roce.bent(patches=[(roce.LENGTH_AT, bytes(4))], every_time=True)
    conn.raw.rdma_write(bytes(OCTETS), KEYS["arbitrary"], 0, fault=fault)
    expect_ended(conn, conn.probe(), LENGTHS)
    expect_served(bench)


@case("server.roce.write-{name}", requirements=[WRITE_CHECKED, SERVED], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", KEYS)
def test_foreign_write(bench, name):
    """An RDMA Write to an R_Key that the server never advertised. The connection ends."""
    conn = bench.connect()
    conn.stop_judging()
    conn.raw.rdma_write(b"\xa5" * OCTETS, KEYS[name], 0)
    expect_ended(conn, conn.probe(), WRITE_CHECKED)
    expect_served(bench)


@case("server.roce.write-long", requirements=[WRITE_CHECKED, SERVED], needs=NEEDS, hostile=True)
def test_long_foreign_write(bench):
    """An RDMA Write of many packets to memory that the server never advertised. Its first packet ends the
    connection."""
    conn = bench.connect()
    conn.stop_judging()
    conn.raw.rdma_write(bytes(1 << 17), KEYS["arbitrary"], 0)
    expect_ended(conn, conn.probe(), WRITE_CHECKED)
    expect_served(bench)


@case("server.roce.read-{name}", requirements=[READ_CHECKED, SERVED], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", [*KEYS, "own"])
def test_foreign_read(bench, name):
    """An RDMA Read of memory that the server never advertised. The connection ends, and no octets come."""
    conn = bench.connect()
    if not conn.raw.most_outbound_reads:
        bench.not_testable("the server takes no RDMA Reads")
    conn.stop_judging()
    start = len(roce.packets(conn))
    sink = conn.raw.domain.allocate(OCTETS, fabric.Rights())
    key, address = KEYS.get(name), 0
    if key is None:
        offer = conn.offer(OCTETS, read=True)
        key, address = offer.stag, offer.base
    conn.raw.rdma_read(sink, 0, OCTETS, key, address)
    expect_ended(conn, conn.probe(), READ_CHECKED)
    responses = [each for each in roce.of_server(conn, start) if each.is_read_response]
    expect.equal(len(responses), 0, READ_CHECKED, "READ responses")
    expect_served(bench)


@case("server.roce.reads-beyond-depth", requirements=[DEPTH, SERVED], needs=NEEDS, hostile=True)
def test_reads_beyond_depth(bench):
    """More RDMA Reads for no octets at a time than the server takes. It answers them all, or ends the
    connection."""
    conn = bench.connect()
    if not conn.raw.most_outbound_reads:
        bench.not_testable("the server takes no RDMA Reads")
    conn.stop_judging()
    start = len(roce.packets(conn))
    sink = conn.raw.domain.allocate(OCTETS, fabric.Rights())
    reads = conn.raw.most_outbound_reads + READS_BEYOND
    for _ in range(reads):
        conn.raw.rdma_read(sink, 0, 0, 0, 0, fault=roce.bent(beyond_depth=True))

    def answered():
        found = roce.of_server(conn, start)
        return len({each.psn for each in found if each.is_read_response})

    either = [kinds.REPLY, *kinds.CLOSED]
    outcome = expect(conn.probe(), DEPTH, must=either)
    # The reply does not wait for them: the server's Sends have PSNs of their own.
    if outcome.kind == kinds.REPLY and not conn.wait_until(lambda: answered() == reads):
        outcome = expect(conn.probe(), DEPTH, must=either)
    if outcome.kind == kinds.REPLY:
        expect.equal(answered(), reads, DEPTH, "RDMA Reads that were answered", outcome=outcome)
    expect_served(bench)


@case("server.roce.receive-late", requirements=[PATIENCE], needs=NEEDS, hostile=True)
def test_late_receive(bench):
    """A client posts its receive only after the server's reply has found none. The server sends it again."""
    conn = bench.connect(receives=0, greet=False, most_rnr_repetitions=RNR_REPETITIONS)
    call = conn.null_call()
    conn.send(call)
    refused = conn.wait_until(lambda: any(each.is_rnr for each in roce.of_client(conn)))
    expect.true(refused, PATIENCE, "the server replies, and finds no receive")
    conn.raw.post_receive(4096)
    expect(conn.await_outcome(call), PATIENCE, must=[kinds.REPLY])


@case("server.roce.invalidate-{name}", requirements=[INVALIDATION, SERVED], hostile=True)
@pytest.mark.parametrize("name", KEYS)
def test_foreign_invalidation(bench, name):
    """A WRITE in a Send with Invalidate of an R_Key that the server never advertised. The call is not
    executed."""
    bench.need("bent-packets")
    handle = bench.file()
    conn = bench.connect()
    conn.stop_judging()
    call = write_call(conn, handle, bench.random.randbytes(OCTETS))
    conn.send(call, invalidate=KEYS[name])
    expect_ended(conn, conn.await_outcome(call), INVALIDATION)
    expect_served(bench)
    expect.data(bench.read_back(handle), b"", INVALIDATION, "content of the file")
