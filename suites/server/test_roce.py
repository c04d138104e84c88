"""Packets that break the rules of InfiniBand's reliable connection, and how a responder takes them."""

from steertag import fabric
from steertag.suite import case, expect, kinds
from steertag.suite.rdma import roce_packets as roce
from .chunk_checks import write_call

SERVED = "RFC8166-4.5.5-1"
ORDER = "IBA-9.7-1"
REPORTED = "IBA-9.7-2"
NEEDS = ["bent-packets"]


def bent(**alterations):
    """The fabric.Fault of a packet with these alterations."""
    return fabric.Fault(packet=fabric.BentPacket(**alterations))


@case("server.roce.psn-gap", requirements=[ORDER, REPORTED], needs=NEEDS, hostile=True)
def test_gap(bench):
    """A WRITE in a packet whose PSN is one too high. It is not executed before the packet with the right PSN
    has come. One NAK reports the gap."""
    content = bench.random.randbytes(64)
    handle = bench.file()
    conn = bench.connect()
    start = len(roce.packets(conn))
    call = write_call(conn, handle, content)
    conn.send(call, fault=bent(psn_offset=1))
    expect(conn.await_outcome(call), ORDER, must=[kinds.REPLY])
    expect(conn.probe(), ORDER, must=[kinds.REPLY])
    expect.data(bench.read_back(handle), content, ORDER, "content of the file")
    sent = roce.of_client(conn, start)
    executed = [each for each in sent if each.opcode == roce.SEND_ONLY]
    expect.at_least(len(executed), 3, ORDER, "Sends, of which the first has a wrong PSN")
    reports = roce.naks(roce.of_server(conn, start), roce.SEQUENCE)
    expect.equal(len(reports), 1, REPORTED, "NAKs (PSN sequence error)")
