"""Tickets and optimistic connections of direct access: what opens one, what ends it, what its end frees
(docs/direct-access.md)."""

import pytest

from steertag import fabric
from steertag.nfs import direct
from steertag.suite import case, expect
from ..direct_user import DirectUser, MOST_INLINE, OptimisticConnection

FREED, TICKET, ALONE, DEPTH = "ODAFS-13", "ODAFS-29", "ODAFS-30", "ODAFS-31"
NEEDS = ["direct-access"]
OCTETS = 1000
# More Reads in flight than a connection may have.
READS_BEYOND = 8
MOST_READS = 64
# Users after each other who take all that one may have, up to MOST_LENT. The page allows a server four times 512.
USERS, MOST_LENT = 6, 1024
# Private data made of that with a good ticket.
BENT = {
    "first-bit": lambda data: _flipped(data, 8, 0x80),
    "last-bit": lambda data: _flipped(data, 23, 0x01),
    "zeros": lambda data: data[:8] + bytes(16),
    "version": lambda data: _flipped(data, 4, 0x03),
    "cut": lambda data: data[:23],
    "header-alone": lambda data: data[:8],
}


def _flipped(octets, at, bits):
    return octets[:at] + bytes([octets[at] ^ bits]) + octets[at + 1 :]


def expect_no_connection(conn, what):
    """The server rejected the request for an optimistic connection."""
    expect.true(not conn.open, TICKET, f"{what} opens no connection")


@case("server.direct.ticket-twice-{when}", requirements=[TICKET], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("when", ["open", "ended"])
def test_ticket_twice(bench, when):
    """A ticket that has opened a connection, once more, while that is open or after its end. It is refused, and an open
    connection lives on."""
    handle, content = _file(bench)
    user = DirectUser(bench)
    reference = user.reference(handle)
    if when == "ended":
        user.optimistic.conn.close()
    expect_no_connection(user.try_ticket(user.terms.ticket), "a ticket that was used")
    if when == "open":
        user.expect_block(reference, content, TICKET)


@case("server.direct.ticket-bent-{name}", requirements=[TICKET], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", BENT)
def test_bent_ticket(bench, name):
    """A ticket with a changed bit, or private data that lack a part. The connection is refused; the ticket as it was
    opens one."""
    user = DirectUser(bench, opens=False)
    bent = BENT[name](direct.private_data(user.terms.ticket))
    expect_no_connection(OptimisticConnection(bench, bent), f"a ticket that is bent ({name})")
    good = user.try_ticket(user.terms.ticket)
    expect.true(good.open, TICKET, "the ticket opens a connection")


@case("server.direct.ticket-foreign", requirements=[TICKET], needs=NEEDS, hostile=True)
def test_foreign_ticket(bench):
    """A ticket from another address than that of the RPC connection. The connection is refused; from its own address
    the ticket opens one."""
    user = DirectUser(bench, opens=False)
    foreign = user.try_ticket(user.terms.ticket, elsewhere=True)
    expect_no_connection(foreign, "a ticket from another host")
    good = user.try_ticket(user.terms.ticket)
    expect.true(good.open, TICKET, "the ticket opens a connection from its own host")


@case("server.direct.ticket-void-{name}", requirements=[TICKET], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", ["hello", "connection"])
def test_void_ticket(bench, name):
    """A ticket after another HELLO on its RPC connection, or after the end of that. The connection is refused."""
    user = DirectUser(bench, opens=False)
    ticket = user.terms.ticket
    if name == "hello":
        user.hello()
    else:
        user.conn.close()
        # The server has seen the end once it has answered a later call.
        expect(bench.connect(greet=False).probe(), TICKET, must=["reply"])
    expect_no_connection(user.try_ticket(ticket), "a ticket whose user is gone")


@case("server.direct.send-{octets}", requirements=[ALONE], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("octets", [0, OCTETS])
def test_send(bench, octets):
    """A Send on the optimistic connection ends it. Its RPC connection and other users see nothing of that."""
    handle, content = _file(bench)
    user, other = DirectUser(bench), DirectUser(bench)
    mine, reference = other.reference(handle), user.reference(handle)
    conn = user.optimistic.conn
    conn.raw.send(bytes(octets))
    user.expect_refused(user.optimistic.frame(reference), ALONE, "a Send")
    user.expect_alive()
    other.expect_block(mine, content, ALONE)


@case("server.direct.rpc-on-optimistic", requirements=[ALONE], needs=NEEDS, hostile=True)
def test_rpc_on_optimistic(bench):
    """An RPC call on the optimistic connection gets no answer: the connection ends."""
    user = DirectUser(bench)
    conn = user.optimistic.conn
    conn.send(conn.null_call())
    expect.true(user.optimistic.is_over(), ALONE, "an RPC call ends the optimistic connection")
    user.expect_alive()


@case("server.direct.reads-beyond-depth", requirements=[DEPTH], needs=NEEDS, hostile=True)
def test_reads_beyond_depth(bench):
    """More RDMA Reads at a time than the server takes. It answers them all, or ends this connection; other users and
    the RPC connection see nothing of it."""
    handle, content = _file(bench)
    user, other = DirectUser(bench, opens=False), DirectUser(bench)
    mine = other.reference(handle)
    packets = bench.capabilities.bent_packets
    if packets:
        fault = fabric.Fault(packet=fabric.BentPacket(beyond_depth=True))
        user.open()
    else:
        # MPA revision 1 agrees upon no depth.
        bench.need("fault-hooks")
        fault = None
        user.open(mpa_revision=1, ord=MOST_READS)
    reference = user.reference(handle)
    connection = user.optimistic
    length = reference.length + direct.FRAME_OCTETS
    depth = connection.conn.raw.most_outbound_reads if packets else MOST_READS - READS_BEYOND
    asked = reference.stag, reference.base, length, fault
    started = [connection.start(*asked) for _ in range(depth + READS_BEYOND)]
    frames = [connection.finish(each) for each in started]
    if connection.open:
        came = [direct.open_frame(each, reference.generation) for each in frames if each]
        expect.equal(len(came), len(started), DEPTH, "Reads that were answered")
        expect.true(all(each == content for each in came), DEPTH, "each has its own octets")
    other.expect_block(mine, content, DEPTH)
    user.expect_alive(DEPTH)


@case("server.direct.end-voids-{name}", requirements=[FREED], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", ["optimistic", "hello", "rpc"])
def test_end_voids(bench, name):
    """The optimistic connection ends, by itself, by another HELLO, or with the RPC connection. References lead nowhere
    on the next one of the same client."""
    handle, _ = _file(bench)
    user = DirectUser(bench)
    reference = user.reference(handle)
    before = user.optimistic
    if name == "optimistic":
        before.conn.close()
        user.hello()
    elif name == "hello":
        user.hello()
    else:
        user.conn.close()
        user = DirectUser(bench, opens=False)
    expect.true(before.is_over(), FREED, "the optimistic connection ends")
    user.open()
    octets = user.optimistic.frame(reference)
    user.expect_refused(octets, FREED, "a Read by a reference of an ended connection")


@case("server.direct.end-frees", requirements=[FREED], needs=NEEDS)
def test_end_frees(bench):
    """Users come one after the other, take all references that one may have, and leave. The last one gets as many as
    the first one."""
    most = first = None
    handle = None
    for number in range(USERS):
        user = DirectUser(bench)
        if handle is None:
            most = min(user.terms.most_references, MOST_LENT)
            handle = bench.sparse_file(most * user.terms.block_bytes)
        count = _take_all(user, handle, most)
        first = count if first is None else first
        what = f"references of user {number + 1}, as many as of the first one"
        expect.equal(count, first, FREED, what)
        user.optimistic.conn.close()
        user.conn.close()


def _take_all(user, handle, most):
    """How many references the user gets to the first blocks of the file."""
    count = 0
    while count < most:
        found = user.references(handle, MOST_INLINE, count * user.terms.block_bytes)
        if not found:
            break
        count += len(found)
    return count


def _file(bench):
    """(handle, content) of a new file."""
    content = bench.random.randbytes(OCTETS)
    return bench.file(content), content
