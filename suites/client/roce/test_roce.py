"""Packets of the server that break the rules of InfiniBand's reliable connection."""

import pytest

from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import is_read
from steertag.suite.rdma import roce_packets as roce
from steertag.suite.rdma.roce_alterations import CRC, DROPPED, OPCODES, PARTITION, PSNS
from ..client_verdicts import survives

ORDER, REPORTED, SEQUENCE = "IBA-9.7-1", "IBA-9.7-2", "IBA-9.7-5"
NEEDS = ["server-bent-packets"]


class BentReply:
    """The reply to a READ in a packet with these alterations. Its repetitions are right."""

    def __init__(self, **alterations):
        self._fault = roce.bent(**alterations)
        self.reply = None

    def __call__(self, reply):
        self.reply = reply
        reply.push()
        reply.raw.send(reply.message, invalidate=reply.invalidate, fault=self._fault)

    def packets(self):
        """Every packet of the connection."""
        return roce.packets_of(self.reply.conn.watch.capture)

    def sends(self):
        """The packets in which the reply left."""
        xid = self.reply.xid.to_bytes(4, "big")
        sends = (each for each in self.packets() if each.is_of_server and each.is_send)
        return [each for each in sends if each.sent.startswith(xid)]


def expect_repeated(bent, outcome, requirement_id):
    """The client has not acknowledged the bent packet, so that it left again, as it should be."""
    what = "packets with the reply; the first is bent"
    expect.at_least(len(bent.sends()), 2, requirement_id, what, outcome=outcome)


@case("client.roce.psn.{name}", requirements=[ORDER, REPORTED], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", PSNS)
def test_psn(bench, name):
    """The reply to a READ in a packet with a wrong PSN. The client waits for the packet with the right one, and
    completes. One NAK reports a gap. Behind a duplicate that is what the server sends next, if it sends anything.
    """
    bent = BentReply(psn_offset=PSNS[name])
    outcome = bench.use(reply=bent, when=is_read)
    expect(outcome, ORDER, must=[kinds.COMPLETED])
    expect_repeated(bent, outcome, ORDER)
    own = [each for each in bent.packets() if not each.is_of_server]
    reports, what = len(roce.naks(own, roce.SEQUENCE)), "NAKs (PSN sequence error)"
    expect.at_most(reports, 1, REPORTED, what, outcome=outcome)
    if PSNS[name] > 0:
        expect.at_least(reports, 1, REPORTED, what, outcome=outcome)


@case("client.roce.dropped.{name}", requirements=[CRC, PARTITION], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", DROPPED)
def test_dropped(bench, name):
    """The reply to a READ in a packet that is not for the client, or is damaged. The client refuses nothing, and
    takes the same packet once that is right. It may report the gap, if another packet shows one."""
    alterations, requirement_id = DROPPED[name]
    bent = BentReply(**alterations)
    outcome = bench.use(reply=bent, when=is_read)
    expect(outcome, requirement_id, must=[kinds.COMPLETED])
    expect_repeated(bent, outcome, requirement_id)
    # The next reply shows a gap, which a NAK may report.
    own = [each for each in bent.packets() if not each.is_of_server and each.is_nak]
    refusals = len(own) - len(roce.naks(own, roce.SEQUENCE))
    expect.equal(refusals, 0, requirement_id, "NAKs that refuse a packet", outcome=outcome)


@case("client.roce.opcode.{name}", requirements=[SEQUENCE], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", OPCODES)
def test_opcode(bench, name):
    """The reply to a READ in a packet that continues a message, although none has begun. The client refuses it
    and ends the connection; it completes on another."""
    bent = BentReply(patches=[(roce.OPCODE_AT, bytes([OPCODES[name]]))], every_time=True)
    outcome = bench.use(reply=bent, when=is_read)
    own = [each for each in bent.packets() if not each.is_of_server]
    refused = len(roce.naks(own, roce.INVALID))
    expect.at_least(refused, 1, SEQUENCE, "NAKs (invalid request)", outcome=outcome)
    survives(bench, outcome, SEQUENCE, either_ends=True)
