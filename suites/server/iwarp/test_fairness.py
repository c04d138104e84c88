"""Clients that stall in the middle of something: those beside them are served as before.

The stalled ones are TCP streams that speak iWARP, send something, and neither read nor answer."""

import contextlib

import pytest

from steertag import wire
from steertag.suite import case
from ..chunk_checks import READ_RESULT, read_call, write_call
from ..served_beside import expect_transfers, SERVED
from .fpdus import make_fpdu, SEND_QUEUE, UNTAGGED_FIELDS
from .startup_stream import MARKERS, request, StartupStream

# As many as a default nfsd has threads.
STALLED = 8
# Calls of each stalled client: a new one has one credit, one that was answered has more.
READS_OF_EACH = 4
# With so many, more than TCP holds of one stream whose receiver holds little. No more than that: the server reads the
# data of all stalled clients before it serves the others.
UNTAKEN = 1 << 18
# Rounds of a client beside them, with a call of each kind.
ROUNDS = 4
DATA = 9001
WHOLE, CUT = 0x41, 0x01  # DDP version 1, with and without the Last flag
SEND = 0x43  # RDMAP version 1
STAG = 0x5EED0007  # no memory of ours: what the server asks for is never answered


class Stalled:
    """A client that is connected. `conn` makes its calls, and has no part in them otherwise."""

    def __init__(self, bench, conn, stream):
        self.bench, self.conn, self._stream = bench, conn, stream
        self._msn = 0
        stream.hold_little()
        stream.send(request())
        frame = stream.reply()
        if frame is None or frame.rejected or frame.flags & MARKERS:
            bench.not_testable(
                "the server rejects clients of enhanced startup, or asks for markers"
            )

    def segment(self, octets, control=WHOLE):
        """The FPDU of a Send."""
        self._msn += 1
        head = UNTAGGED_FIELDS.pack(control, SEND, 0, SEND_QUEUE, self._msn, 0)
        return make_fpdu(head + octets)

    def send(self, call):
        self._stream.send(self.segment(wire.encode(call)))

    def send_octets(self, octets):
        self._stream.send(octets)

    def expect_wait(self):
        """The server waits for what this client does not do: it has sent something that awaits that."""
        if not self._stream.first_octets(1):
            self.bench.not_testable("the server refuses a transfer that does not end")


def half_an_fpdu(client, handle):
    octets = client.segment(wire.encode(client.conn.null_call()))
    client.send_octets(octets[: len(octets) // 2])


def half_a_message(client, handle):
    octets = wire.encode(client.conn.null_call())
    client.send_octets(client.segment(octets[: len(octets) // 2], CUT))


def reads_unanswered(client, handle):
    """A WRITE whose data the server has to fetch."""
    call = write_call(client.conn, handle, bytes(DATA))
    position, _ = call.take_eligible()
    call.add_read_chunk(position, [wire.Segment(handle=STAG, length=DATA, offset=0)])
    client.send(call)


def writes_untaken(client, handle):
    """READs whose data the client does not take from TCP."""
    for _ in range(READS_OF_EACH):
        call = read_call(client.conn, handle, UNTAKEN)
        call.add_write_chunk([wire.Segment(handle=STAG, length=UNTAKEN, offset=0)])
        client.send(call)


# Those in which the server has begun a transfer.
TRANSFERS = ("reads-unanswered", "writes-untaken")
STALLS = {
    "half-an-fpdu": half_an_fpdu,
    "half-a-message": half_a_message,
    "reads-unanswered": reads_unanswered,
    "writes-untaken": writes_untaken,
}


@case(
    "server.fairness.{stall}",
    requirements=[SERVED, *READ_RESULT],
    needs=["fault-hooks"],
    hostile=True,
)
@pytest.mark.parametrize("stall", STALLS)
def test_others(bench, stall):
    """Eight clients stall. One that was there before gets its replies in time, and one that comes later. The time
    is a multiple of the round trip that was measured before."""
    content = bench.random.randbytes(DATA)
    # All files are there before the first client stalls.
    handle, written, large = bench.file(content), bench.file(), bench.file(bytes(UNTAKEN))
    conn, maker = bench.connect(), bench.connect()
    expect_transfers(bench, conn, handle, written, content)
    with contextlib.ExitStack() as streams:
        # All are connected before the first one stalls: a server may have no turn for a later one.
        clients = [
            Stalled(bench, maker, streams.enter_context(StartupStream(bench)))
            for _ in range(STALLED)
        ]
        for client in clients:
            STALLS[stall](client, large)
        if stall in TRANSFERS:
            clients[0].expect_wait()
        for _ in range(ROUNDS):
            expect_transfers(bench, conn, handle, written, content)
        expect_transfers(bench, bench.connect(), handle, written, content)
