"""Packets of the server with other lengths than their headers say."""

import pytest

from steertag.suite import case, expect
from steertag.suite.client.script import is_read
from steertag.suite.rdma import roce_packets as roce
from ..call_kinds import SPOILER
from ..client_verdicts import survives
from ..memory_use import target
from .roce_script import PacketScript

LENGTHS = "IBA-9.7-6"
NEEDS = ["server-bent-packets"]
WRITE_NEEDS = [*NEEDS, "client-write-chunks"]
OCTETS = 64  # of an RDMA Write in one packet of any path MTU
LARGEST_PATH_MTU = 4096
RETH_BYTES = 16


# What the header of an RDMA Write of OCTETS announces.
SHORT = {"more": OCTETS * 2, "fewer": OCTETS // 2, "none": 0}
# (octets of an RDMA Write in several packets, what its header announces), for a chunk of so many octets.
LONG = {
    "more-packets": lambda chunk: (chunk - LARGEST_PATH_MTU, chunk),
    "last-shorter": lambda chunk: (chunk - OCTETS, chunk),
    "last-longer": lambda chunk: (chunk, chunk - OCTETS),
}


def _large(bench, reply):
    """Octets of the write chunk, which takes several packets; else the end of the case."""
    length = target(reply).length
    if length < 2 * LARGEST_PATH_MTU:
        bench.not_testable("the client's write chunk has room for one packet only")
    return length


def _spoil(reply, length, fault):
    """Posts an RDMA Write of so many octets into the write chunk."""
    segment = target(reply)
    reply.raw.write(SPOILER * length, segment.handle, segment.offset, fault=fault)


def _use(bench, act):
    """Runs the client with a packet that it has to refuse, in place of the reply to a READ."""
    script = PacketScript(
        is_read, lambda each: act(each.reply), lambda each: each.naks(roce.INVALID)
    )
    outcome = bench.use(script)
    refused = script.naks(roce.INVALID)
    expect.at_least(refused, 1, LENGTHS, "NAKs (invalid request)", outcome=outcome)
    survives(bench, outcome, LENGTHS, either_ends=True)


@case("client.roce.write-length.{name}", requirements=[LENGTHS], needs=WRITE_NEEDS, hostile=True)
@pytest.mark.parametrize("name", [*SHORT, *LONG])
def test_write_length(bench, name):
    """An RDMA Write into a write chunk whose packets have other octets than its header announces. The client refuses
    it and ends the connection. Its user gets the right data on another one."""

    def act(reply):
        length, announced = OCTETS, SHORT.get(name)
        if announced is None:
            length, announced = LONG[name](_large(bench, reply))
        patch = (roce.LENGTH_AT, announced.to_bytes(4, "big"))
        _spoil(reply, length, roce.bent(patches=[patch], every_time=True))

    _use(bench, act)


@case("client.roce.first-short.write", requirements=[LENGTHS], needs=WRITE_NEEDS, hostile=True)
def test_short_write(bench):
    """The First packet of an RDMA Write is shorter than the path MTU. The client ends the connection."""

    def act(reply):
        fault = roce.bent(cut=roce.BASE_BYTES + RETH_BYTES + OCTETS, every_time=True)
        _spoil(reply, _large(bench, reply), fault)

    _use(bench, act)


@case("client.roce.first-short.send", requirements=[LENGTHS], needs=NEEDS, hostile=True)
def test_short_send(bench):
    """A reply leaves in a First packet that is shorter than the path MTU. The client ends the connection."""

    def act(reply):
        patch = (roce.OPCODE_AT, bytes([roce.SEND_FIRST]))
        reply.raw.send(reply.message, fault=roce.bent(patches=[patch], every_time=True))

    _use(bench, act)
