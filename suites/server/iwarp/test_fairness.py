"""Clients that stall in the middle of something: those beside them are served as before.

The stalled ones are TCP streams that speak iWARP, send something, and neither read nor answer."""

import contextlib

import pytest

from steertag import wire
from steertag.suite import case
from ..chunk_checks import READ_RESULT, read_call, write_call
from ..served_beside import DATA, SERVED, ServedClient, STALLED
from .fpdus import (
    CRC_OCTETS,
    LENGTH_OCTETS,
    make_fpdu,
    SEND_QUEUE,
    UNTAGGED_FIELDS,
    UNTAGGED_OCTETS,
)
from .startup_stream import MARKERS, request, StartupStream

# Calls of a window, at most.
MOST_CALLS = 64
# Calls of each stalled client: a new one has one credit, one that was answered has more.
READS_OF_EACH = 4
# With so many, more than TCP holds of one stream whose receiver holds little: over loopback that is 2.5 MiB. No more
# than that: the server reads the data of all stalled clients before it serves the others.
UNTAKEN = 1 << 20
WHOLE, CUT = 0x41, 0x01  # DDP version 1, with and without the Last flag
SEND = 0x43  # RDMAP version 1
STAG = 0x5EED0007  # no memory of ours: what the server asks for is never answered


class Stalled:
    """A client that is connected. `conn` makes its calls, and has no part in them otherwise."""

    def __init__(self, bench, conn, stream):
        self.bench, self.conn, self._stream = bench, conn, stream
        self._msn = 0
        self.window = 1  # calls that may be under way
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

    def greet(self):
        """A NULL call, and its reply, which grants the window."""
        call = self.conn.null_call()
        self.send(call)
        length = int.from_bytes(self._stream.first_octets(LENGTH_OCTETS) or b"", "big")
        padded = -(-(LENGTH_OCTETS + length) // 4) * 4 - LENGTH_OCTETS
        fpdu = self._stream.first_octets(padded + CRC_OCTETS) if length else b""
        words = wire.peek(bytes(fpdu or b"")[UNTAGGED_OCTETS:length])
        if words is None:
            self.bench.not_testable("the server does not answer a first call by a Send")
        self.window = min(words.credit, call.credit, MOST_CALLS)

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
    fetched(client, handle)


def window_full(client, handle):
    """As many such WRITEs as the server grants, behind a call that was answered."""
    for _ in range(client.window):
        fetched(client, handle)


def fetched(client, handle):
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
TRANSFERS = ("reads-unanswered", "writes-untaken", "window-full")
STALLS = {
    "half-an-fpdu": half_an_fpdu,
    "half-a-message": half_a_message,
    "reads-unanswered": reads_unanswered,
    "writes-untaken": writes_untaken,
    "window-full": window_full,
}


@case(
    "server.fairness.{stall}",
    requirements=[SERVED, *READ_RESULT],
    needs=["fault-hooks"],
    hostile=True,
)
@pytest.mark.parametrize("stall", STALLS)
def test_others(bench, stall):
    """Twelve clients stall. One that was there before gets its replies in time, and one
    that comes later. The time is a multiple of what the same calls took just before."""
    large = bench.file(bytes(UNTAKEN))
    served, maker = ServedClient(bench), bench.connect()

    @contextlib.contextmanager
    def stalled():
        with contextlib.ExitStack() as streams:
            # All are connected before the first one stalls: a server may have no turn for a later one.
            clients = [
                Stalled(bench, maker, streams.enter_context(StartupStream(bench)))
                for _ in range(STALLED)
            ]
            if stall == "window-full":
                for client in clients:
                    client.greet()
            for client in clients:
                STALLS[stall](client, large)
            if stall in TRANSFERS:
                clients[0].expect_wait()
            yield

    served.expect_served_beside(stalled)
