"""Packets of the server with other lengths than their headers say."""

import pytest

from steertag.suite import case, expect
from steertag.suite.client.script import is_read
from steertag.suite.rdma import roce_packets as roce
from .call_kinds import SPOILER
from .client_verdicts import survives
from .memory_use import target
from .roce_script import bent, PacketScript

LENGTHS = "IBA-9.7-6"
NEEDS = ["server-bent-packets"]
WRITE_NEEDS = [*NEEDS, "client-write-chunks"]
OCTETS = 64  # of an RDMA Write in one packet of any path MTU
LARGEST_PATH_MTU = 4096
RETH_BYTES = 16


def _one(announced):
    """An RDMA Write of one packet, whose header announces so many octets."""
    return lambda segment: (OCTETS, announced)


# (octets of an RDMA Write, what its header announces) for a segment.
LIES = {
    "more": _one(OCTETS * 2),
    "fewer": _one(OCTETS // 2),
    "none": _one(0),
    "more-packets": lambda segment: (segment.length - LARGEST_PATH_MTU, segment.length),
    "last-shorter": lambda segment: (segment.length - OCTETS, segment.length),
    "last-longer": lambda segment: (segment.length, segment.length - OCTETS),
}


def _use(bench, act):
    """Runs the client with a packet that it has to refuse, in place of the reply to a READ."""

    def in_place(script):
        if target(script.reply).length < 2 * LARGEST_PATH_MTU:
            bench.not_testable("the client's write chunk has room for one packet only")
        act(script.reply)

    script = PacketScript(is_read, in_place, lambda each: each.naks(roce.INVALID))
    outcome = bench.use(script)
    refused = script.naks(roce.INVALID)
    expect.at_least(refused, 1, LENGTHS, "NAKs (invalid request)", outcome=outcome)
    survives(bench, outcome, LENGTHS)


@case("client.roce.write-length.{name}", requirements=[LENGTHS], needs=WRITE_NEEDS, hostile=True)
@pytest.mark.parametrize("name", LIES)
def test_write_length(bench, name):
    """An RDMA Write into a write chunk whose packets have other octets than its header announces. The client refuses
    it and ends the connection. Its user gets the right data on another one."""

    def act(reply):
        segment = target(reply)
        length, announced = LIES[name](segment)
        patch = (roce.LENGTH_AT, announced.to_bytes(4, "big"))
        fault = bent(patches=[patch], every_time=True)
        reply.raw.write(SPOILER * length, segment.handle, segment.offset, fault=fault)

    _use(bench, act)


@case("client.roce.first-short.write", requirements=[LENGTHS], needs=WRITE_NEEDS, hostile=True)
def test_short_write(bench):
    """The First packet of an RDMA Write is shorter than the path MTU. The client ends the connection."""

    def act(reply):
        segment = target(reply)
        fault = bent(cut=roce.BASE_BYTES + RETH_BYTES + OCTETS, every_time=True)
        reply.raw.write(SPOILER * segment.length, segment.handle, segment.offset, fault=fault)

    _use(bench, act)


@case("client.roce.first-short.send", requirements=[LENGTHS], needs=NEEDS, hostile=True)
def test_short_send(bench):
    """A reply leaves in a First packet that is shorter than the path MTU. The client ends the connection."""

    def act(reply):
        patch = (roce.OPCODE_AT, bytes([roce.SEND_FIRST]))
        reply.raw.send(reply.message, fault=bent(patches=[patch], every_time=True))

    _use(bench, act)
