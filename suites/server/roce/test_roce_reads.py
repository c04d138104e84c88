"""RDMA Reads over RoCE whose request is repeated, whole or in part, and how a responder answers again.

An NFS server has no memory that a client may read. The frames of direct access are such memory.
"""

import pytest

from steertag import fabric
from steertag.suite import case, expect, kinds
from steertag.suite.rdma import roce_packets as roce
from ..direct_user import DirectUser

AGAIN, MISPLACED = "IBA-9.7-4", "IBA-9.7-9"
NEEDS = ["bent-packets"]
SINK_OCTETS = 64
REPEATED_READS = 3
# Octets of a file whose frame takes five packets of the largest path MTU, the last one not full.
FILE_OCTETS = 4 * 4096 + 1001
FEWEST_PACKETS = 3


@case("server.roce.repeated-read", requirements=[AGAIN], needs=NEEDS, hostile=True)
def test_repeated_read(bench):
    """An RDMA Read request for no octets, which every responder answers, is repeated after its response. Each
    repetition is answered too."""
    conn = bench.connect()
    if not conn.raw.most_outbound_reads:
        bench.not_testable("the server takes no RDMA Reads")
    start = len(roce.packets(conn))
    sink = conn.raw.domain.allocate(SINK_OCTETS, fabric.Rights())
    conn.raw.rdma_read(sink, 0, 0, 0, 0)
    for count in range(1, REPEATED_READS + 1):
        came = conn.wait_until(lambda: len(responses(conn, start)) >= count)
        expect.true(came, AGAIN, f"response {count} of one RDMA Read request")
        conn.raw.send_raw(requests(conn, start)[0].octets)
    psns = {each.psn for each in responses(conn, start)}
    expect.equal(len(psns), 1, AGAIN, "PSNs of the responses")
    expect(conn.probe(), AGAIN, must=[kinds.REPLY])


@case(
    "server.roce.repeated-read-{name}",
    requirements=[AGAIN],
    needs=[*NEEDS, "direct-access"],
    hostile=True,
)
@pytest.mark.parametrize("name", roce.BEGINNINGS)
def test_repeated_frame_read(bench, name):
    """The request for the frame of a reference is repeated, twice, from a packet of its response on. Each time
    the server repeats that packet and those behind it, with the same PSNs and octets."""
    content = bench.random.randbytes(FILE_OCTETS)
    handle = bench.file(content)
    user = DirectUser(bench)
    reference = user.reference(handle)
    conn = user.optimistic.conn
    start = len(roce.packets(conn))
    user.expect_frame(reference, AGAIN)
    request = requests(conn, start)[0]
    first = responses(conn, start)
    if len(first) < FEWEST_PACKETS:
        bench.not_testable("the server's blocks are too small for a response of several packets")
    begin = roce.BEGINNINGS[name](len(first))
    before = sum(len(each.read) for each in first[:begin])
    for _ in range(2):
        later = len(roce.packets(conn))
        conn.raw.send_raw(roce.read_later(request, begin, before))
        expect_again(conn, later, first[begin:])
    user.expect_frame(reference, AGAIN)
    user.expect_alive(AGAIN)


@case(
    "server.roce.misplaced-read",
    requirements=[MISPLACED],
    needs=[*NEEDS, "direct-access"],
    hostile=True,
)
def test_misplaced_read(bench):
    """The request for a frame is repeated with the key and the address of another frame. It has no response, and
    the connection goes on."""
    user = DirectUser(bench)
    references = [user.reference(bench.file(bench.random.randbytes(FILE_OCTETS))) for _ in "ab"]
    conn = user.optimistic.conn
    start = len(roce.packets(conn))
    for reference in references:
        user.expect_frame(reference, MISPLACED)
    asked = requests(conn, start)
    first, second = asked[0], asked[-1]
    octets = bytearray(first.octets)
    octets[roce.ADDRESS_AT : roce.LENGTH_AT] = second.octets[roce.ADDRESS_AT : roce.LENGTH_AT]
    later = len(roce.packets(conn))
    conn.raw.send_raw(bytes(octets))
    user.expect_frame(references[0], MISPLACED)
    came = [each for each in responses(conn, later) if each.psn == first.psn]
    expect.equal(len(came), 0, MISPLACED, "READ responses in the place of another READ")


def expect_again(conn, start, wanted):
    """Packets with the PSNs and octets of these responses came behind the first `start` packets."""
    conn.wait_until(lambda: len(responses(conn, start)) >= len(wanted))
    found = responses(conn, start)
    psns = [each.psn for each in found]
    expect.equal(psns, [each.psn for each in wanted], AGAIN, "PSNs of the repeated responses")
    octets, right = (b"".join(each.read for each in packets) for packets in (found, wanted))
    expect.data(octets, right, AGAIN, "octets of the repeated responses")


def requests(conn, start):
    """The READ requests behind the first `start` packets."""
    return [each for each in roce.of_client(conn, start) if each.opcode == roce.READ_REQUEST]


def responses(conn, start):
    """The packets of READ responses behind the first `start` packets."""
    return [each for each in roce.of_server(conn, start) if each.is_read_response]
