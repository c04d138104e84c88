"""RDMA Reads and Writes over RoCE of frames of direct access, which refuse them.

An NFS server has no other memory that a client can name.
"""

import dataclasses

import pytest

from steertag import fabric
from steertag.suite import case, expect
from steertag.suite.rdma import roce_packets as roce
from ..direct_user import DirectUser
from .packet_checks import SERVED, expect_served

LENGTHS, WRITE_CHECKED, READ_CHECKED = "IBA-9.7-6", "IBA-10.6-1", "IBA-10.6-2"
NEEDS = ["bent-packets", "direct-access"]
FILE_OCTETS = 16384
# A file of one block.
SHORT_FILE_OCTETS = 1000
# An RDMA Read or Write of one packet, with any path MTU.
OCTETS = 64
MANY_OCTETS = 2 * 4096 + OCTETS  # three packets at least
# Octets of an RDMA Write, and those that its header announces.
WRITES = {
    "more": (OCTETS, 2 * OCTETS),
    "fewer": (OCTETS, OCTETS // 2),
    "more-of-many": (MANY_OCTETS, MANY_OCTETS + OCTETS),
}


@dataclasses.dataclass
class ForeignFrame:
    """A frame, and a connection to which it is not open. `owner` is a DirectUser who can still read it, or None."""

    reference: object
    conn: object
    owner: object = None


def frame_on_rpc(bench, handle):
    """A frame on the RPC connection of its user."""
    user = DirectUser(bench)
    return ForeignFrame(user.reference(handle), user.conn)


def frame_of_other(bench, handle):
    """A frame on the optimistic connection of another user."""
    owner, user = DirectUser(bench), DirectUser(bench)
    return ForeignFrame(owner.reference(handle), user.optimistic.conn, owner)


def frame_of_ended(bench, handle):
    """A frame of an ended optimistic connection on the next one of its user."""
    user = DirectUser(bench)
    reference = user.reference(handle)
    user.optimistic.conn.close()
    user.hello()
    user.open()
    return ForeignFrame(reference, user.optimistic.conn)


FOREIGN = {"rpc": frame_on_rpc, "other": frame_of_other, "ended": frame_of_ended}


def expect_refused(conn, work, requirement_id, what):
    """The operation does not complete: it has ended the connection."""
    completed = work is not None and conn.wait_until(lambda: work in conn.completed)
    expect.true(not completed, requirement_id, f"{what} does not complete")
    expect.true(not conn.open or conn.wait_closed(), requirement_id, f"{what} ends the connection")


@case("server.roce.write-length-{name}", requirements=[LENGTHS, SERVED], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", WRITES)
def test_frame_write_length(bench, name):
    """An RDMA Write to a frame, whose header announces more or fewer octets than its packets have. The
    connection ends."""
    handle = bench.file(bench.random.randbytes(FILE_OCTETS))
    user = DirectUser(bench)
    reference = user.reference(handle)
    octets, announced = WRITES[name]
    conn = user.optimistic.conn
    conn.stop_judging()
    fault = roce.bent(patches=[(roce.LENGTH_AT, announced.to_bytes(4, "big"))], every_time=True)
    work = conn.raw.rdma_write(bytes(octets), reference.stag, reference.base, fault=fault)
    expect_refused(conn, work, LENGTHS, "an RDMA Write of another length than its header says")
    expect_served(bench)


@case(
    "server.roce.read-frame-{name}", requirements=[READ_CHECKED, SERVED], needs=NEEDS, hostile=True
)
@pytest.mark.parametrize("name", FOREIGN)
def test_read_frame(bench, name):
    """An RDMA Read of a frame that is not open to this connection, or is no more. The connection ends, and no
    octets come."""
    frame = FOREIGN[name](bench, bench.file(bench.random.randbytes(FILE_OCTETS)))
    conn, reference = frame.conn, frame.reference
    if not conn.raw.most_outbound_reads:
        bench.not_testable("the server takes no RDMA Reads")
    conn.stop_judging()
    start = len(roce.packets(conn))
    sink = conn.raw.domain.allocate(OCTETS, fabric.Rights())
    work = conn.raw.rdma_read(sink, 0, OCTETS, reference.stag, reference.base)
    expect_refused(conn, work, READ_CHECKED, "an RDMA Read of another connection's memory")
    came = [each for each in roce.of_server(conn, start) if each.is_read_response]
    expect.equal(len(came), 0, READ_CHECKED, "READ responses")
    expect_served(bench)


@case(
    "server.roce.write-frame-{name}",
    requirements=[WRITE_CHECKED, SERVED],
    needs=NEEDS,
    hostile=True,
)
@pytest.mark.parametrize("name", FOREIGN)
def test_write_frame(bench, name):
    """An RDMA Write to a frame that is not open to this connection, or is no more. The connection ends."""
    content = bench.random.randbytes(SHORT_FILE_OCTETS)
    frame = FOREIGN[name](bench, bench.file(content))
    conn, reference = frame.conn, frame.reference
    conn.stop_judging()
    work = conn.raw.rdma_write(b"\xa5" * OCTETS, reference.stag, reference.base)
    expect_refused(conn, work, WRITE_CHECKED, "an RDMA Write to another connection's memory")
    if frame.owner:
        frame.owner.expect_block(reference, content, WRITE_CHECKED)
    expect_served(bench)
