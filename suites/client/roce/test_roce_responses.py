"""Responses to the client's RDMA Reads, over RoCE, in packets that break the rules of a reliable connection.

A client reads memory of the server by direct access alone (docs/direct-access.md), on its optimistic connection.
"""

import pytest

from steertag import fabric
from steertag.nfs import direct, nfs3
from steertag.suite import case, expect
from steertag.suite.client.client_bench import SOURCE_BYTES
from steertag.suite.client.script import NFS, operations_of
from steertag.suite.rdma import roce_packets as roce, roce_responses as responses
from ..direct_server import BLOCK, DirectServer, expect_copied, OWED, use_direct

SEQUENCE, LENGTHS = "IBA-9.7-5", "IBA-9.7-6"
NEEDS = ["server-bent-packets"]
# The last block of the file makes a response of one packet; a large block one of three or more.
LARGE_BLOCK = 2 * BLOCK
ONE_PACKET = SOURCE_BYTES % BLOCK + direct.FRAME_OCTETS
SEVERAL_PACKETS = LARGE_BLOCK + direct.FRAME_OCTETS
WORD, PLACES, HEADERS_BYTES = responses.WORD, responses.PLACES, responses.HEADERS_BYTES
NO_PAD = 0x40  # the octet of a base header with the length of the pad


class BentReads(DirectServer):
    """Bends responses to RDMA Reads on the first optimistic connection. The client gets references to those frames
    alone whose Read gives `octets`.

    bend(path_mtu)   the fabric.BentPacket.
    """

    def __init__(self, bend, octets, frame=None):
        super().__init__(references=self._those_bent, frame=frame)
        self.path_mtu = None  # once a client has opened the connection
        self.ended_in_use = False  # the client has ended it before the reply to its last WRITE
        self._bend_response, self._octets = bend, octets

    def _those_bent(self, references, _):
        return [each for each in references if each.length + direct.FRAME_OCTETS == self._octets]

    def on_optimistic(self, conn, step):
        super().on_optimistic(conn, step)
        if self.path_mtu is None:
            sent = roce.of_client(self.bench.connections[0])
            self.path_mtu = roce.path_mtu(next(each for each in sent if each.message == roce.REQ))
            step.bent_response = self._bend_response(self.path_mtu)

    def on_departure(self, reply):
        if self.optimistic and writes_file(reply):
            sent = roce.of_client(self.optimistic[0])
            self.ended_in_use = any(each.message == roce.DREQ for each in sent)
        return super().on_departure(reply)

    def asked_again(self):
        """Whether the client asks for the second packet of the first response again, once that has begun."""
        return responses.asked_again(roce.packets(self.optimistic[0]), self.path_mtu)


def writes_file(reply):
    """Whether the call is a WRITE."""
    if reply.kind != "reply" or reply.procedure is None:
        return False
    if reply.procedure == (NFS, 3, int(nfs3.Procedure.WRITE)):
        return True
    return any(number.name == "WRITE" for number, _ in operations_of(reply.rpc_call))


def use_single(bench, packet, frame=None):
    """The BentReads, and the ClientOutcome, of a client that reads a frame in a response of one packet."""
    script = BentReads(lambda _: packet, ONE_PACKET, frame)
    outcome = use_direct(bench, script)
    need_reads(bench, script)
    if responses.packet_count(ONE_PACKET, script.path_mtu) > 1:
        bench.not_testable("the path MTU is too small for a frame in one packet")
    return script, outcome


def use_several(bench, bend):
    """The same for a response of three or more packets: bend(path_mtu) makes the packet."""
    script = BentReads(bend, SEVERAL_PACKETS)
    outcome = use_direct(bench, script, block=LARGE_BLOCK)
    need_reads(bench, script)
    return script, outcome


def need_reads(bench, script):
    """Ends the case unless an RDMA Read has come."""
    if not script.frame_reads:
        bench.not_testable("the client starts no RDMA Read")


def expect_ended(bench, script, outcome, requirement_id):
    """The client ends the connection, and its user gets the right octets by RPC."""
    what = "the client ends the connection while it has use for it"
    expect.true(script.ended_in_use, requirement_id, what, outcome=outcome)
    expect_copied(bench, script, outcome, requirement_id)


def place(number, path_mtu):
    """The index of the packet in one of PLACES."""
    return number if number < 2 else responses.packet_count(SEVERAL_PACKETS, path_mtu) - 1


@case("client.roce.read-response.{name}", requirements=[SEQUENCE, *OWED], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", responses.SINGLE_OPCODES)
def test_single_opcode(bench, name):
    """A response of one packet with the opcode of another one. It belongs to no whole response."""
    packet = responses.with_opcode(responses.SINGLE_OPCODES[name])
    expect_ended(bench, *use_single(bench, packet), SEQUENCE)


@case("client.roce.read-response.{name}", requirements=[SEQUENCE, *OWED], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", responses.OPCODES)
def test_opcode(bench, name):
    """A response of three packets or more. One of them has the opcode of another one, and the right octets."""
    number, opcode = responses.OPCODES[name]
    used = use_several(bench, lambda mtu: responses.with_opcode(opcode, place(number, mtu)))
    expect_ended(bench, *used, SEQUENCE)


@case(
    "client.roce.read-response.syndrome-{name}",
    requirements=[SEQUENCE, *OWED],
    needs=NEEDS,
    hostile=True,
)
@pytest.mark.parametrize("name", responses.SYNDROMES)
def test_syndrome(bench, name):
    """A response of one packet with the right octets, whose acknowledge header does not say ACK."""
    packet = responses.with_syndrome(responses.SYNDROMES[name])
    expect_ended(bench, *use_single(bench, packet), SEQUENCE)


@case(
    "client.roce.read-response.syndrome-access-{name}",
    requirements=[SEQUENCE, *OWED],
    needs=NEEDS,
    hostile=True,
)
@pytest.mark.parametrize("name", ["first", "last"])  # a middle one has no acknowledge header
def test_syndrome_of_several(bench, name):
    """A response of three packets or more. The acknowledge header of the first or of the last one is a NAK."""
    used = use_several(
        bench, lambda mtu: responses.with_syndrome(roce.ACCESS, place(PLACES[name], mtu))
    )
    expect_ended(bench, *used, SEQUENCE)


@case(
    "client.roce.read-response.header-{name}",
    requirements=[LENGTHS, *OWED],
    needs=NEEDS,
    hostile=True,
)
@pytest.mark.parametrize("name", responses.HEADERS)
def test_header(bench, name):
    """A response of one packet without its acknowledge header, or with two. So the octets are too few or too
    many."""

    def like_an_ack(frame, _):
        return bytes([responses.ACK]) + frame[1:]

    packet = responses.bent_response(extended_headers=responses.HEADERS[name])
    expect_ended(bench, *use_single(bench, packet, like_an_ack), LENGTHS)


def of_length(octets):
    """The fabric.BentPacket with so many octets, a multiple of four. Those behind the frame are zeros."""
    pad = roce.PAD_AT, bytes([NO_PAD])
    tail = HEADERS_BYTES + ONE_PACKET, bytes(len(WORD) * 2)
    return responses.bent_response(pad, tail, cut=HEADERS_BYTES + octets)


PADDED = -(-ONE_PACKET // len(WORD)) * len(WORD)
SINGLE_LENGTHS = {
    "none": of_length(0),
    "fewer": of_length(PADDED - len(WORD)),
    "more": of_length(PADDED + len(WORD)),
}


@case(
    "client.roce.read-response.length-{name}",
    requirements=[LENGTHS, *OWED],
    needs=NEEDS,
    hostile=True,
)
@pytest.mark.parametrize("name", SINGLE_LENGTHS)
def test_length(bench, name):
    """A response of one packet has fewer or more octets than the RDMA Read asked for."""
    expect_ended(bench, *use_single(bench, SINGLE_LENGTHS[name]), LENGTHS)


def end_of(number, path_mtu):
    """(index, octets) of the packet in this place, and of what is in front of its CRC."""
    index = place(number, path_mtu)
    octets = min(path_mtu, SEVERAL_PACKETS - index * path_mtu)
    return index, responses.payload_at(number) + octets


@case(
    "client.roce.read-response.length-{change}.{name}",
    requirements=[LENGTHS, *OWED],
    needs=NEEDS,
    hostile=True,
)
@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("change", responses.LENGTHS)
def test_length_of_several(bench, change, name):
    """A packet among three or more has fewer or more octets than its place in the response says."""

    def bend(path_mtu):
        index, end = end_of(PLACES[name], path_mtu)
        return responses.LENGTHS[change](end, index)

    expect_ended(bench, *use_several(bench, bend), LENGTHS)


@case(
    "client.roce.read-response.psn-{name}",
    requirements=[SEQUENCE, *OWED],
    needs=NEEDS,
    hostile=True,
)
@pytest.mark.parametrize("name", responses.PSN_OFFSETS)
def test_psn(bench, name):
    """The second packet among three or more has the PSN of another one, once. The client asks for the response
    again, or ends the connection."""
    packet = fabric.BentPacket(index=1, psn_offset=responses.PSN_OFFSETS[name])
    script, outcome = use_several(bench, lambda _: packet)
    what = "the client asks again for what it lacks, or ends the connection"
    found = script.ended_in_use or script.asked_again()
    expect.true(found, SEQUENCE, what, outcome=outcome)
    expect_copied(bench, script, outcome, SEQUENCE)
