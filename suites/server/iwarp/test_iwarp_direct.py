"""Direct access on a stream whose octets the client does not take (docs/direct-access.md)."""

from steertag.nfs import direct
from steertag.suite import case, expect, kinds
from ..direct_user import DirectUser, expect_nothing_of
from .fpdus import LENGTH_OCTETS, make_read_request, next_or_silence, READ_RESPONSE, SILENCE
from .startup_stream import MARKERS, request, StartupStream

CLOSED, COPIED = "ODAFS-33", "RFC5040-4.4-2"
# Of a whole block each: together more than TCP and the server hold of a narrow stream.
MOST_READS = 16
SINK_STAG = 0x5EED0042


def start_optimistic(bench, stream, user):
    """Opens the user's optimistic connection on a stream; returns how many RDMA Reads the server takes at a time."""
    stream.send(request(data=direct.private_data(user.terms.ticket)))
    frame = stream.reply()
    if frame is None or frame.rejected or frame.flags & MARKERS:
        bench.not_testable("the server rejects clients of enhanced startup, or asks for markers")
    return frame.ird or 1


def take_responses(stream, begun, sinks):
    """Places the octets of Read Responses in their sinks, one behind the other. It ends when all are full, or with the
    stream, by a Terminate or without. False if the server stays silent instead."""
    length, left = len(sinks[0]), sum(map(len, sinks))
    while left > 0:
        fpdu = next_or_silence(stream, begun)
        begun = b""
        if fpdu is SILENCE:
            return False
        if fpdu is None or fpdu.opcode != READ_RESPONSE:
            return True
        number, at = divmod(fpdu.offset, length)
        known = fpdu.stag == SINK_STAG and number < len(sinks)
        expect.true(known, COPIED, "sink of a Read Response")
        sinks[number][at : at + len(fpdu.payload)] = fpdu.payload
        left -= len(fpdu.payload)
    return True


@case(
    "server.direct.returned-untaken",
    requirements=[CLOSED, COPIED],
    needs=["direct-access", "fault-hooks"],
    hostile=True,
)
def test_returned_untaken(bench):
    """A client takes nothing of its Read Responses from TCP. It gives the reference back, and another file of the same
    length gets references. A response gives the octets of its own file, or the stream ends."""
    user = DirectUser(bench, opens=False)
    block = user.terms.block_bytes
    handle, content = bench.sparse_file(block), bench.random.randbytes(block)
    other = bench.file(content)
    with StartupStream(bench, narrow=True) as stream:
        reads = min(start_optimistic(bench, stream, user), MOST_READS)
        old = user.reference(handle)
        length = old.length + direct.FRAME_OCTETS
        source = (old.stag, old.base)
        for number in range(reads):
            sink = (SINK_STAG, number * length)
            stream.send(make_read_request(number + 1, sink, length, source))
        begun = stream.first_octets(LENGTH_OCTETS)
        expect.true(bool(begun), CLOSED, "the first RDMA Read is answered")
        user.result("RETURN", direct.ReturnArgs(refs=[old]))
        expect(user.exchange("REFS", user.refs_args(other, 1)), CLOSED, must=[kinds.REPLY])
        sinks = [bytearray(length) for _ in range(reads)]
        ended = take_responses(stream, begun, sinks)
    expect.true(ended, CLOSED, "all octets come, or the end of the stream")
    for sink in sinks:
        expect_nothing_of(content, bytes(sink), CLOSED)
        data = direct.open_frame(bytes(sink), old.generation)
        expect.true(data in (None, bytes(block)), CLOSED, "a valid frame has its own octets")
