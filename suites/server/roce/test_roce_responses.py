"""Responses to the server's RDMA Reads, over RoCE, in packets that break the rules of a reliable connection."""

import pytest

from steertag import fabric
from steertag.suite import case, expect, kinds
from steertag.suite.rdma import roce_packets as roce, roce_responses as responses
from ..chunk_checks import write_call
from .packet_checks import SERVED, expect_served

SEQUENCE, LENGTHS = "IBA-9.7-5", "IBA-9.7-6"
NEEDS = ["bent-packets"]
# A response of so many octets is one packet of any path MTU.
OCTETS = 64
# Alterations of the first packet of a response: a patch.
FIRST_PACKETS = {
    "last": (roce.OPCODE_AT, bytes([responses.LAST])),
    "access": (roce.BASE_BYTES, bytes([roce.ACCESS])),
}


def path_mtu(bench):
    """Octets of payload in a packet of the path to the server."""
    sent = roce.of_client(bench.connect())
    return roce.path_mtu(next(each for each in sent if each.message == roce.REQ))


def expect_unexecuted(
    bench, content, packet, requirement_id, carry=lambda conn, call: conn.reduce(call)
):
    """The server reads the chunk of a WRITE, and a packet of the response is bent. The connection ends, and
    nothing is written. The server lives on."""
    handle = bench.file()
    conn = bench.connect(bent_response=packet)
    conn.stop_judging()
    start = len(roce.packets(conn))
    call = write_call(conn, handle, content)
    chunk = len(carry(conn, call))
    conn.send(call)
    outcome = conn.await_outcome(call)
    reads = [each for each in roce.of_server(conn, start) if each.opcode == roce.READ_REQUEST]
    if outcome.kind == kinds.REPLY and chunk not in (each.rdma[2] for each in reads):
        bench.not_testable("the server reads a chunk in parts, and none has this packet")
    expect(outcome, requirement_id, must=kinds.CLOSED)
    expect.true(not conn.open, requirement_id, "the connection ends", outcome=outcome)
    expect_served(bench)
    expect.data(bench.read_back(handle), b"", requirement_id, "content of the file")


@case(
    "server.roce.read-response-{name}", requirements=[SEQUENCE, SERVED], needs=NEEDS, hostile=True
)
@pytest.mark.parametrize("name", responses.SINGLE_OPCODES)
def test_single_opcode(bench, name):
    """A response of one packet with the opcode of another one. It belongs to no whole response."""
    content = bench.random.randbytes(OCTETS)
    packet = responses.with_opcode(responses.SINGLE_OPCODES[name])
    expect_unexecuted(bench, content, packet, SEQUENCE)


@case(
    "server.roce.read-response-{name}", requirements=[SEQUENCE, SERVED], needs=NEEDS, hostile=True
)
@pytest.mark.parametrize("name", responses.OPCODES)
def test_opcode(bench, name):
    """A response of three packets. One of them has the opcode of another one, and the right octets."""
    index, opcode = responses.OPCODES[name]
    content = bench.random.randbytes(2 * path_mtu(bench) + OCTETS)
    expect_unexecuted(bench, content, responses.with_opcode(opcode, index), SEQUENCE)


@case(
    "server.roce.read-response-syndrome-{name}",
    requirements=[SEQUENCE, SERVED],
    needs=NEEDS,
    hostile=True,
)
@pytest.mark.parametrize("name", responses.SYNDROMES)
def test_syndrome(bench, name):
    """A response of one packet with the right octets, whose acknowledge header does not say ACK."""
    packet = responses.with_syndrome(responses.SYNDROMES[name])
    expect_unexecuted(bench, bench.random.randbytes(OCTETS), packet, SEQUENCE)


@case(
    "server.roce.read-response-header-{name}",
    requirements=[LENGTHS, SERVED],
    needs=NEEDS,
    hostile=True,
)
@pytest.mark.parametrize("name", responses.HEADERS)
def test_header(bench, name):
    """A response of one packet without its acknowledge header, or with two. So the octets are too few or too
    many."""
    content = bytes([responses.ACK]) + bench.random.randbytes(OCTETS - 1)
    packet = responses.bent_response(extended_headers=responses.HEADERS[name])
    expect_unexecuted(bench, content, packet, LENGTHS)


@case(
    "server.roce.read-response-long-call-{name}",
    requirements=[SEQUENCE, SERVED],
    needs=NEEDS,
    hostile=True,
)
@pytest.mark.parametrize("name", FIRST_PACKETS)
def test_long_call(bench, name):
    """The server reads a whole WRITE from a Position-zero chunk. The first packet of the response is a Last, or
    its acknowledge header is a NAK."""
    packet = responses.bent_response(FIRST_PACKETS[name])
    content = bench.random.randbytes(OCTETS)
    expect_unexecuted(bench, content, packet, SEQUENCE, lambda conn, call: conn.long_call(call))


SINGLE_LENGTHS = {
    "none": responses.bent_response(cut=responses.HEADERS_BYTES),
    **{
        name: change(responses.HEADERS_BYTES + OCTETS) for name, change in responses.LENGTHS.items()
    },
}


@case(
    "server.roce.read-response-length-{name}",
    requirements=[LENGTHS, SERVED],
    needs=NEEDS,
    hostile=True,
)
@pytest.mark.parametrize("name", SINGLE_LENGTHS)
def test_length(bench, name):
    """A response of one packet has fewer or more octets than the RDMA Read asked for."""
    content = bench.random.randbytes(OCTETS)
    expect_unexecuted(bench, content, SINGLE_LENGTHS[name], LENGTHS)


@case(
    "server.roce.read-response-length-{change}-{name}",
    requirements=[LENGTHS, SERVED],
    needs=NEEDS,
    hostile=True,
)
@pytest.mark.parametrize("name", responses.PLACES)
@pytest.mark.parametrize("change", responses.LENGTHS)
def test_length_of_several(bench, change, name):
    """A packet among three has fewer or more octets than its place in the response says."""
    mtu, index = path_mtu(bench), responses.PLACES[name]
    octets = OCTETS if name == "last" else mtu
    packet = responses.LENGTHS[change](responses.payload_at(index) + octets, index)
    expect_unexecuted(bench, bench.random.randbytes(2 * mtu + OCTETS), packet, LENGTHS)


@case(
    "server.roce.read-response-psn-{name}",
    requirements=[SEQUENCE, SERVED],
    needs=NEEDS,
    hostile=True,
)
@pytest.mark.parametrize("name", responses.PSN_OFFSETS)
def test_psn(bench, name):
    """The second packet among three has the PSN of another one, once. The server asks for the response again, or
    ends the connection."""
    mtu, handle = path_mtu(bench), bench.file()
    content = bench.random.randbytes(2 * mtu + OCTETS)
    conn = bench.connect(
        bent_response=fabric.BentPacket(index=1, psn_offset=responses.PSN_OFFSETS[name])
    )
    conn.stop_judging()
    start = len(roce.packets(conn))
    call = write_call(conn, handle, content)
    conn.reduce(call)
    conn.send(call)
    outcome = conn.await_outcome(call)
    found = roce.packets(conn)[start:]
    if not any(each.opcode == responses.MIDDLE for each in found):
        bench.not_testable("the server reads a chunk in parts, and none has this packet")
    executed = outcome.kind == kinds.REPLY
    if executed:
        what = "the server asks again for what it lacks"
        expect.true(responses.asked_again(found, mtu), SEQUENCE, what, outcome=outcome)
    else:
        expect(outcome, SEQUENCE, must=kinds.CLOSED)
    expect_served(bench)
    expect.data(bench.read_back(handle), content if executed else b"", SEQUENCE, "content")
