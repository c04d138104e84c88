"""READ responses of RoCEv2 that break the rules of a reliable connection."""

from ... import fabric
from . import roce_packets as roce

FIRST, MIDDLE, LAST, ONLY = roce.READ_RESPONSES
# The number of a packet among three, and its opcode in place of the right one.
OPCODES = {
    "first-as-middle": (0, MIDDLE),
    "first-as-last": (0, LAST),
    "first-as-only": (0, ONLY),
    "middle-as-first": (1, FIRST),
    "middle-as-last": (1, LAST),
    "middle-as-only": (1, ONLY),
    "last-as-first": (2, FIRST),
    "last-as-middle": (2, MIDDLE),
    "last-as-only": (2, ONLY),
}
SINGLE_OPCODES = {"only-as-first": FIRST, "only-as-middle": MIDDLE, "only-as-last": LAST}
ACK = 0x1F
ACK_HEADER = bytes([ACK, 0, 0, 1])
SYNDROMES = {
    "rnr": roce.RNR | 1,
    "sequence": roce.SEQUENCE,
    "access": roce.ACCESS,
    "reserved": 0x40,
}
# Octets in place of the acknowledge header.
HEADERS = {"none": b"", "double": ACK_HEADER * 2}
# What is added to the PSN of the second packet.
PSN_OFFSETS = {"ahead": 1, "behind": -1, "far": 1 << 22}
# The number of a packet among three or more. The one in the middle has no acknowledge header.
PLACES = {"first": 0, "middle": 1, "last": 2}
HEADERS_BYTES = roce.BASE_BYTES + roce.ACK_BYTES
WORD = bytes(4)  # a payload has whole ones


def bent_response(*patches, **alterations):
    """The fabric.BentPacket of a READ response with these patches, whenever it leaves."""
    return fabric.BentPacket(patches=list(patches), every_time=True, **alterations)


def with_opcode(opcode, index=0):
    """The fabric.BentPacket with this opcode, the acknowledge header that belongs to it, and the right octets."""
    headers = b"" if opcode == MIDDLE else ACK_HEADER
    patch = roce.OPCODE_AT, bytes([opcode])
    return bent_response(patch, index=index, extended_headers=headers)


def with_syndrome(syndrome, index=0):
    """The fabric.BentPacket with this syndrome in its acknowledge header."""
    return bent_response((roce.BASE_BYTES, bytes([syndrome])), index=index)


def payload_at(number):
    """Where the payload begins in the packet of this number in PLACES."""
    return roce.BASE_BYTES if number == PLACES["middle"] else HEADERS_BYTES


def shorter(end, index=0):
    """The fabric.BentPacket whose payload ends a word before `end`."""
    return bent_response(index=index, cut=end - len(WORD))


def longer(end, index=0):
    """The fabric.BentPacket with a word behind the `end` of its payload."""
    return bent_response((end, WORD), index=index)


LENGTHS = {"fewer": shorter, "more": longer}


def packet_count(octets, path_mtu):
    """Packets of a response with so many octets."""
    return -(-octets // path_mtu)


def asked_again(found, path_mtu):
    """Whether these packets have a READ request for the second packet of the first response, behind its first one."""
    start = next((i for i, each in enumerate(found) if each.is_read_response), len(found))
    later = [each for each in found[start:] if each.opcode == roce.READ_REQUEST]
    return any(
        (found[start].psn + 1 - each.psn) & roce.PSN_MASK < packet_count(each.rdma[2], path_mtu)
        for each in later
    )
