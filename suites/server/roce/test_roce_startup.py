"""Messages of InfiniBand's connection management that break its rules, over RoCE."""

import pytest

from steertag import fabric, trace
from steertag.suite import case, expect, kinds
from steertag.suite.rdma import roce_packets as roce
from ..chunk_checks import read_call
from .packet_checks import SERVED, expect_served

AGAIN, NO_SERVICE, ORDER = "IBA-12-1", "IBA-12-2", "IBA-12-3"
ENDED, FOREIGN, STALE, ADDRESSES = "IBA-12-4", "IBA-12-5", "IBA-12-6", "IBA-A11-1"
REPAIRED, DEPTHS = "IBA-12-7", "IBA-12-8"
NEEDS = ["bent-packets"]
# Octets of a service id in place of the right ones, with their offset in it.
SERVICES = {
    "none": (0, bytes(8)),
    "other-prefix": (0, b"\x10\x00\x00\x00\x00\x00"),
    "other-protocol": (5, b"\x11"),
    "port-zero": (6, bytes(2)),
}
MISPLACED = {"rtu": roce.RTU, "rep": roce.REP, "mra": roce.MRA, "drep": roce.DREP}
REPETITIONS = 4
# A READ that keeps the server sending for a while. Every server takes 256 KiB at once.
BUSY_OCTETS = 1 << 18
# More of them at a time than one look at the socket finds the data of.
MOST_READS = 8


def connect_bent(bench, *patches):
    """An attempt to connect whose REQ has these patches; refused or not."""
    request = fabric.BentPacket(patches=list(patches), every_time=True)
    return bench.connect(bent_startup=request, greet=False, must_open=False)


def messages(conn, kind, start=0):
    """The server's messages of connection management of this kind."""
    return [each for each in roce.of_server(conn, start) if each.message == kind]


@case("server.roce.request-repeated", requirements=[AGAIN], needs=NEEDS, hostile=True)
def test_repeated_request(bench):
    """The REQ of an established connection is sent again, several times. The connection goes on, and no REP accepts
    another one."""
    conn = bench.connect()
    request = next(each for each in roce.of_client(conn) if each.message == roce.REQ)
    for _ in range(REPETITIONS):
        conn.raw.send_raw(request.octets)
        expect(conn.probe(), AGAIN, must=[kinds.REPLY])
    accepted = {each.word(0) for each in messages(conn, roce.REP)}
    expect.equal(len(accepted), 1, AGAIN, "communication ids in the server's REPs")


@case(
    "server.roce.request-same-queue-pair", requirements=[STALE, SERVED], needs=NEEDS, hostile=True
)
def test_stale_request(bench):
    """A second REQ has another communication id and the queue pair of the first. The server may take the first
    connection for lost. Later clients are served."""
    conn = bench.connect()
    request = next(each for each in roce.of_client(conn) if each.message == roce.REQ)
    octets = bytearray(request.octets)
    octets[roce.CM_AT] ^= 0xFF
    conn.raw.send_raw(bytes(octets))
    later = bench.connect(greet=False, must_open=False)
    expect.true(later.open, STALE, "a later client is accepted")
    expect_served(bench)


@case("server.roce.reply-depths", requirements=[DEPTHS], needs=NEEDS)
def test_reply_depths(bench):
    """The REQ allows one RDMA Read at a time in each direction. The REP offers no more."""
    conn = bench.connect(ird=1, ord=1)
    depths = messages(conn, roce.REP)[0].word(roce.DEPTHS_AT)
    expect.at_most(depths >> 24, 1, DEPTHS, "responder resources of the REP")
    expect.at_most(depths >> 16 & 0xFF, 1, DEPTHS, "initiator depth of the REP")


# Of the messages of our startup, REQ and RTU.
READY = 1


def lose_ready(bench):
    """A connection whose first RTU the network has lost."""
    lost = fabric.BentPacket(index=READY, copies=0)
    return bench.connect(bent_startup=lost, greet=False)


@case("server.roce.ready-lost", requirements=[REPAIRED], needs=NEEDS)
def test_lost_ready(bench):
    """The first RTU is lost, and the client calls at once. The call is answered: it stands for the RTU, or the
    server's next REP brings another one."""
    expect(lose_ready(bench).probe(), REPAIRED, must=[kinds.REPLY])


@case("server.roce.ready-behind-call", requirements=[REPAIRED], needs=NEEDS)
def test_late_ready(bench):
    """The network delivers the first call before the RTU. Both are taken, and the connection goes on."""
    conn = lose_ready(bench)
    found = roce.needed_numbers(bench, conn)
    call = conn.null_call()
    conn.send(call)
    conn.raw.send_raw(
        roce.management(roce.RTU, found.transaction, found.client_id, found.server_id)
    )
    expect(conn.await_outcome(call), REPAIRED, must=[kinds.REPLY])
    expect(conn.probe(), REPAIRED, must=[kinds.REPLY])


@case("server.roce.service-{name}", requirements=[NO_SERVICE, SERVED], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", SERVICES)
def test_foreign_service(bench, name):
    """A REQ for a service that the server does not have. It is rejected."""
    offset, octets = SERVICES[name]
    conn = connect_bent(bench, (roce.SERVICE_AT + offset, octets))
    expect.true(not conn.open, NO_SERVICE, "no connection comes up")
    expect.at_least(len(messages(conn, roce.REJ)), 1, NO_SERVICE, "REJs")
    expect_served(bench)


@case("server.roce.without-addresses", requirements=[ADDRESSES, SERVED], needs=NEEDS, hostile=True)
def test_without_addresses(bench):
    """A REQ whose private data begin with zeros in place of the addresses of both ends. It is rejected, or its
    connection works."""
    conn = connect_bent(bench, (roce.PRIVATE_DATA_AT, bytes(36)))
    if conn.open:
        expect(conn.probe(), ADDRESSES, must=[kinds.REPLY])
    later = bench.connect(greet=False, must_open=False)
    expect.true(later.open, ADDRESSES, "a later client is accepted")
    expect_served(bench)


@case("server.roce.misplaced-{name}", requirements=[ORDER], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", MISPLACED)
def test_misplaced(bench, name):
    """A message of connection management that does not fit an established connection. The connection goes
    on."""
    conn = bench.connect()
    found = roce.needed_numbers(bench, conn)
    octets = roce.management(MISPLACED[name], found.transaction, found.client_id, found.server_id)
    for _ in range(REPETITIONS):
        conn.raw.send_raw(octets)
        expect(conn.probe(), ORDER, must=[kinds.REPLY])


@case("server.roce.disconnect-idle", requirements=[ENDED, SERVED], needs=NEEDS, hostile=True)
def test_idle_disconnect(bench):
    """A DREQ on a connection whose calls were all answered. A DREP answers it, and later clients are served."""
    conn = bench.connect()
    found = roce.needed_numbers(bench, conn)
    conn.raw.send_raw(roce.disconnect_request(found, trace.Role.client))
    answered = conn.wait_until(lambda: messages(conn, roce.DREP))
    expect.true(answered, ENDED, "a DREP answers the DREQ")
    expect_served(bench)


@case("server.roce.disconnect-under-way", requirements=[ENDED, SERVED], needs=NEEDS, hostile=True)
def test_disconnect_under_way(bench):
    """A DREQ while the server writes the data of several READs of 256 KiB. A DREP answers it, and later
    clients are served."""
    handle = bench.file(bench.random.randbytes(BUSY_OCTETS))
    conn = bench.connect()
    conn.stop_judging()
    found = roce.needed_numbers(bench, conn)
    reads = min(conn.window, MOST_READS)
    for _ in range(reads):
        call = read_call(conn, handle, BUSY_OCTETS)
        conn.write_chunk(call)
        conn.send(call)
    if not conn.wait_event("rdma_write"):
        bench.not_testable("the server writes nothing of a READ with a write chunk")
    before = written(conn)
    conn.raw.send_raw(roce.disconnect_request(found, trace.Role.client))
    answered = conn.wait_until(lambda: messages(conn, roce.DREP))
    expect.true(answered, ENDED, "a DREP answers the DREQ")
    if before == reads * BUSY_OCTETS:
        bench.not_testable("all data was there before the DREQ")
    expect_served(bench)


def written(conn):
    """Octets that the server has written into memory of this connection."""
    return sum(event.length for event in conn.recorder if event.kind == "rdma_write")


@case("server.roce.disconnect-foreign", requirements=[FOREIGN], needs=NEEDS, hostile=True)
def test_foreign_disconnect(bench):
    """A DREQ that names another queue pair of the server. The connection goes on."""
    conn = bench.connect()
    found = roce.needed_numbers(bench, conn)
    for pair in (found.server_pair ^ 1, 0, 0xFFFFFF):
        conn.raw.send_raw(roce.disconnect_request(found, trace.Role.client, pair))
        expect(conn.probe(), FOREIGN, must=[kinds.REPLY])
