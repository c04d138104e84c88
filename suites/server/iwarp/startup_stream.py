"""A TCP stream to an iWARP target during MPA startup.

It sends what a provider never sends, and shows the reply frame as it arrived."""

import dataclasses
import struct

from steertag import wire

REQUEST_KEY, REPLY_KEY = b"MPA ID Req Frame", b"MPA ID Rep Frame"
# Flags of a startup frame (RFC 5044 7.1.1, RFC 6581 6).
MARKERS, CRC, REJECTED, ENHANCED = 0x80, 0x40, 0x20, 0x10
# Control flags in the IRD word and in the ORD word (RFC 6581 9).
PEER_TO_PEER, RTR_SEND = 0x8000, 0x4000
RTR_WRITE, RTR_READ = 0x8000, 0x4000
DEPTH, NOT_NEGOTIATED = 0x3FFF, 0x3FFF
FRAME = struct.Struct(">16sBBH")
# FPDUs without payload, with their CRC. These are the ready-to-receive indications (RFC 6581 9.2),
# and the Terminate of an initiator that supports none of the offered ones.
WRITE_FPDU = bytes.fromhex("000ec140 00000000 00000000 00000000 a30572ab")
READ_FPDU = bytes.fromhex(
    "002e4141 00000000 00000001 00000001 00000000 00000000"
    "00000000 00000000 00000000 00000000 00000000 00000000 f2c6dd3d"
)
SEND_FPDU = bytes.fromhex("00124143 00000000 00000000 00000001 00000000 587be8c4")
NO_RTR_FPDU = bytes.fromhex("00164147 00000000 00000002 00000001 00000000 20070000 1bd2babe")
# The first FPDU of a stream, up to its CRC: a NULL call of NFSv3 in a Send. One CRC is without a
# marker, the other with the marker in front of the first FPDU (RFC 5044 4.3).
NULL_FPDU = bytes.fromhex(
    "00564143 00000000 00000000 00000001 00000000"
    "5eed0001 00000001 00000008 00000000 00000000 00000000 00000000"
    "5eed0001 00000000 00000002 000186a3 00000003 00000000 00000000 00000000 00000000 00000000"
)
NULL_CRC, MARKED_NULL_CRC = bytes.fromhex("4c9d0354"), bytes.fromhex("041545b2")
FIRST_MARKER = bytes(4)
PLAIN_DATA = wire.encode(wire.PrivateData(send_bytes=4096, receive_bytes=4096))


def request(
    flags=CRC | ENHANCED, revision=2, ird=16, ord=16, data=PLAIN_DATA, length=None, key=REQUEST_KEY
):
    """An MPA request frame. `length` replaces the right PD_Length."""
    words = struct.pack(">HH", ird, ord) if flags & ENHANCED else b""
    data = words + data
    return FRAME.pack(key, flags, revision, len(data) if length is None else length) + data


def ready_to_receive(frame):
    """The first FPDU after this reply, of a peer-to-peer initiator that supports every kind of
    RTR."""
    ird, ord = frame.enhanced or (0, 0)
    if ord & RTR_WRITE:
        return WRITE_FPDU
    if ord & RTR_READ:
        return READ_FPDU
    return SEND_FPDU if ird & RTR_SEND else NO_RTR_FPDU


def null_call(frame):
    """The octets of a first NULL call, with the marker if this reply asks for markers."""
    if frame.flags & MARKERS:
        return FIRST_MARKER + NULL_FPDU + MARKED_NULL_CRC
    return NULL_FPDU + NULL_CRC


@dataclasses.dataclass(frozen=True)
class Frame:
    """An MPA reply frame."""

    key: bytes
    flags: int
    revision: int
    data: bytes  # includes the enhanced words

    @property
    def rejected(self):
        """Whether R is set."""
        return bool(self.flags & REJECTED)

    @property
    def enhanced(self):
        """(IRD word, ORD word), or None if the frame lacks them."""
        if not self.flags & ENHANCED or len(self.data) < 4:
            return None
        return struct.unpack(">HH", self.data[:4])

    @property
    def ird(self):
        """How many RDMA Reads the responder takes at a time. None if the frame does not say."""
        depth = self.enhanced[0] & DEPTH if self.enhanced else NOT_NEGOTIATED
        return None if depth == NOT_NEGOTIATED else depth


def read_frame(octets):
    """The Frame at the start of these octets, and the octets behind it."""
    key, flags, revision, length = FRAME.unpack_from(octets)
    end = FRAME.size + length
    return Frame(key, flags, revision, octets[FRAME.size : end]), octets[end:]


class StartupStream:
    """A TCP stream to the bench's target that speaks MPA startup. It is a context manager like the
    Stream inside it (see steertag.suite.tcp.stream), which knows `narrow`."""

    def __init__(self, bench, narrow=False):
        self._stream = bench.stream(narrow)
        self.send, self.end, self.reset = self._stream.send, self._stream.end, self._stream.reset
        self.hold_little = self._stream.hold_little

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stream.close()

    def reply(self):
        """The MPA reply as a Frame. None if the stream ended or stayed silent instead."""
        head = self._stream.receive(FRAME.size)
        if head is None or len(head) < FRAME.size:
            return None
        key, flags, revision, length = FRAME.unpack(head)
        return Frame(key, flags, revision, self._stream.receive(length) or b"")

    def first_octets(self, length):
        """The first octets that the target sends after its reply frame. None if it stays silent."""
        return self._stream.receive(length)

    def ended(self):
        """Whether the target ended its half of the stream without sending anything."""
        return self._stream.receive(1) == b""
