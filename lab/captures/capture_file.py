"""A pcap of qemu's, turned into a pcapng that says what it is."""

from __future__ import annotations

import pathlib
import struct
from collections.abc import Iterator

from lab.failure import LabFailure

PCAP_MAGIC = 0xA1B2C3D4  # microseconds, in the order of the machine that wrote it
PCAP_HEADER = struct.Struct("<IHHiIII")
PCAP_RECORD = struct.Struct("<IIII")
LINKTYPE_ETHERNET = 1
MICROSECONDS = 1_000_000

SECTION_HEADER, INTERFACE, ENHANCED_PACKET = 0x0A0D0D0A, 1, 6
BYTE_ORDER_MAGIC = 0x1A2B3C4D
END_OF_OPTIONS, COMMENT = 0, 1
UNKNOWN_LENGTH = 0xFFFFFFFFFFFFFFFF
WHOLE_PACKETS = 0  # the snapshot length of an interface without any


def packets(pcap: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Each packet as microseconds, length on the wire and octets; LabFailure if the file is none of qemu's."""
    if len(pcap) < PCAP_HEADER.size:
        raise LabFailure("the machine's network was not recorded")
    magic, *_, linktype = PCAP_HEADER.unpack_from(pcap)
    if (magic, linktype) != (PCAP_MAGIC, LINKTYPE_ETHERNET):
        raise LabFailure(f"qemu wrote a capture of another kind: {magic:#x}, link type {linktype}")
    offset = PCAP_HEADER.size
    while offset < len(pcap):
        header = pcap[offset : offset + PCAP_RECORD.size]
        if len(header) < PCAP_RECORD.size:
            raise LabFailure(f"the recording ends within a packet, at octet {offset}")
        seconds, microseconds, captured, length = PCAP_RECORD.unpack(header)
        offset += PCAP_RECORD.size
        data = pcap[offset : offset + captured]
        if len(data) < captured:
            raise LabFailure(f"the recording ends within a packet, at octet {offset}")
        yield seconds * MICROSECONDS + microseconds, length, data
        offset += captured


def pcapng(comment: str, recorded: Iterator[tuple[int, int, bytes]]) -> bytes:
    """A section with the comment, one interface and the packets."""
    text = comment.encode()
    options = struct.pack("<HH", COMMENT, len(text)) + _padded(text)
    options += struct.pack("<HH", END_OF_OPTIONS, 0)
    section = struct.pack("<IHHQ", BYTE_ORDER_MAGIC, 1, 0, UNKNOWN_LENGTH) + options
    interface = struct.pack("<HHI", LINKTYPE_ETHERNET, 0, WHOLE_PACKETS)
    blocks = [_block(SECTION_HEADER, section), _block(INTERFACE, interface)]
    for time, length, data in recorded:
        head = struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(data), length)
        blocks.append(_block(ENHANCED_PACKET, head + _padded(data)))
    return b"".join(blocks)


def convert(pcap: pathlib.Path, comment: str, made: pathlib.Path) -> int:
    """Writes the pcapng; returns how many octets it has."""
    data = pcapng(comment, packets(pcap.read_bytes()))
    made.parent.mkdir(parents=True, exist_ok=True)
    made.write_bytes(data)
    return len(data)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length
