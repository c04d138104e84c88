"""FPDUs as octets, read and made without the engine.

They have the fields of MPA, DDP and RDMAP (RFC 5044 4, RFC 5041 4, RFC 5040 4)."""

import dataclasses
import struct

from steertag.suite import expect

FPDU, CRC = "RFC5044-4.1-1", "RFC5044-4.4-2"
SEGMENT, TAGGED, UNTAGGED = "RFC5041-4.1-1", "RFC5041-4.2-1", "RFC5041-4.3-1"
CONTROL = "RFC5040-4.1-1"
# The requirements that expect_fpdus asserts.
FORM = (FPDU, CRC, SEGMENT, TAGGED, UNTAGGED, CONTROL)
WRITE, READ_REQUEST, READ_RESPONSE, TERMINATE = 0, 1, 2, 7
SENDS, INVALIDATING = (3, 4, 5, 6), (4, 6)
SEND_QUEUE, READ_QUEUE, TERMINATE_QUEUE = 0, 1, 2
TAGGED_BIT, LAST_BIT, RESERVED_DDP, DDP_VERSION = 0x80, 0x40, 0x3C, 0x03
RESERVED_RDMAP = 0x30
TAGGED_OCTETS, UNTAGGED_OCTETS = 14, 18
LENGTH_OCTETS, CRC_OCTETS = 2, 4
# An untagged segment: control octets, STag, queue, MSN, offset.
UNTAGGED_FIELDS = struct.Struct(">BBIIII")
# Read Request: sink STag, sink offset, length, source STag, source offset.
READ_FIELDS = struct.Struct(">IQIIQ")


def _table():
    """The table of CRC32c, with the reflected polynomial."""
    found = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        found.append(value)
    return found


_TABLE = _table()


def crc32c(octets):
    """The CRC as an FPDU carries it: least significant octet first."""
    value = 0xFFFFFFFF
    for octet in octets:
        value = _TABLE[(value ^ octet) & 0xFF] ^ value >> 8
    return (value ^ 0xFFFFFFFF).to_bytes(CRC_OCTETS, "little")


def _number(octets, at, size):
    return int.from_bytes(octets[at : at + size], "big")


@dataclasses.dataclass(frozen=True)
class Fpdu:
    """One FPDU."""

    ulpdu: bytes
    pad: bytes
    crc: bytes

    @property
    def right_crc(self):
        return crc32c(len(self.ulpdu).to_bytes(LENGTH_OCTETS, "big") + self.ulpdu + self.pad)

    @property
    def tagged(self):
        return bool(self.ulpdu[0] & TAGGED_BIT)

    @property
    def last(self):
        return bool(self.ulpdu[0] & LAST_BIT)

    @property
    def opcode(self):
        return self.ulpdu[1] & 0x0F

    @property
    def rdmap_version(self):
        return self.ulpdu[1] >> 6

    @property
    def stag(self):
        """In an untagged segment this field is the STag to invalidate."""
        return _number(self.ulpdu, 2, 4)

    @property
    def offset(self):
        return _number(self.ulpdu, 6, 8)

    @property
    def queue(self):
        return _number(self.ulpdu, 6, 4)

    @property
    def msn(self):
        return _number(self.ulpdu, 10, 4)

    @property
    def mo(self):
        return _number(self.ulpdu, 14, 4)

    @property
    def payload(self):
        return self.ulpdu[TAGGED_OCTETS if self.tagged else UNTAGGED_OCTETS :]


def missing(octets):
    """How many octets an incomplete FPDU lacks, or the least that it lacks. `octets` is its
    beginning."""
    if len(octets) < LENGTH_OCTETS:
        return LENGTH_OCTETS - len(octets)
    body = LENGTH_OCTETS + _number(octets, 0, LENGTH_OCTETS)
    return body + -body % 4 + CRC_OCTETS - len(octets)


def read_fpdus(octets):
    """([Fpdu], the octets behind the last whole one) of a stream without markers. The stream starts
    after its startup frame."""
    found, at = [], 0
    while at < len(octets):
        end = at + LENGTH_OCTETS + _number(octets, at, LENGTH_OCTETS)
        crc_at = end + -(end - at) % 4
        if crc_at + CRC_OCTETS > len(octets):
            break
        ulpdu = octets[at + LENGTH_OCTETS : end]
        found.append(Fpdu(ulpdu, octets[end:crc_at], octets[crc_at : crc_at + CRC_OCTETS]))
        at = crc_at + CRC_OCTETS
    return found, octets[at:]


def make_fpdu(ulpdu):
    """The octets of an FPDU with its CRC."""
    body = len(ulpdu).to_bytes(LENGTH_OCTETS, "big") + ulpdu
    body += bytes(-len(body) % 4)
    return body + crc32c(body)


def make_read_request(msn, sink, length, source):
    """The octets of the FPDU with a Read Request. `sink` and `source` are (STag, offset)."""
    head = UNTAGGED_FIELDS.pack(0x41, 0x40 | READ_REQUEST, 0, READ_QUEUE, msn, 0)
    return make_fpdu(head + READ_FIELDS.pack(*sink, length, *source))


def next_fpdu(stream, begun=b""):
    """The next Fpdu of a StartupStream, after its first octets `begun`. None if the stream ends first, or stays silent."""
    found = next_or_silence(stream, begun)
    return None if found is SILENCE else found


SILENCE = object()


def next_or_silence(stream, begun=b""):
    """The next Fpdu as next_fpdu gives it. None if the stream ends first, SILENCE if nothing comes in time."""
    octets = begun
    while lacking := missing(octets):
        more = stream.first_octets(lacking)
        if more is None:
            return SILENCE
        if not more:
            return None
        octets += more
    return read_fpdus(octets)[0][0]


def expect_fpdus(fpdus, outcome=None):
    """Checks each field of the first FPDUs of a stream that uses the CRC."""
    for one in fpdus:
        _expect_frame(one, outcome)
    _expect_untagged([one for one in fpdus if not one.tagged], outcome)
    _expect_tagged([one for one in fpdus if one.tagged], outcome)


def _expect_frame(one, outcome):
    least = TAGGED_OCTETS if one.ulpdu[:1] >= b"\x80" else UNTAGGED_OCTETS
    expect.at_least(len(one.ulpdu), least, FPDU, "octets of a ULPDU", outcome)
    expect.equal(one.pad, bytes(len(one.pad)), FPDU, "octets before the CRC", outcome=outcome)
    expect.true(one.crc == one.right_crc, CRC, "the CRC is right", outcome=outcome)
    reserved = one.ulpdu[0] & RESERVED_DDP
    expect.equal(reserved, 0, SEGMENT, "reserved bits of DDP", outcome=outcome)
    expect.equal(one.ulpdu[0] & DDP_VERSION, 1, SEGMENT, "version of DDP", outcome=outcome)
    reserved = one.ulpdu[1] & RESERVED_RDMAP
    expect.equal(reserved, 0, CONTROL, "reserved bits of RDMAP", outcome=outcome)
    expect.equal(one.rdmap_version, 1, CONTROL, "version of RDMAP", outcome=outcome)
    allowed = (WRITE, READ_RESPONSE) if one.tagged else (READ_REQUEST, *SENDS, TERMINATE)
    expect.one_of(one.opcode, allowed, CONTROL, "opcode", outcome)
    if not one.tagged and one.opcode not in INVALIDATING:
        expect.equal(one.stag, 0, CONTROL, "STag of a Send that invalidates none", outcome=outcome)


def _expect_untagged(fpdus, outcome):
    """MSNs count up in each queue, and offsets advance through each message."""
    due = {}  # {queue: (msn, mo) of the next segment}
    for one in fpdus:
        wanted = due.get(one.queue, (1, 0))
        what = "MSN and offset in a queue"
        expect.equal((one.msn, one.mo), wanted, UNTAGGED, what, outcome=outcome)
        following = (one.msn, one.mo + len(one.payload))
        due[one.queue] = (one.msn + 1, 0) if one.last else following


def _expect_tagged(fpdus, outcome):
    """The segments of a message have one STag and consecutive offsets."""
    before = None
    for one in fpdus:
        if before is not None and not before.last:
            wanted = (before.opcode, before.stag, before.offset + len(before.payload))
            same = (one.opcode, one.stag, one.offset) == wanted
            what = "segments of a message have one STag, and offsets that go on"
            expect.true(same, TAGGED, what, outcome=outcome)
        before = one
