"""Packets of RoCEv2, as cases see them in a capture and as they forge them."""

import dataclasses
import struct

from ... import fabric, trace

# Octets in front of the payload: base header, then datagram header, management header and fields of
# a message of connection management.
BASE_BYTES, DATAGRAM_BYTES, MAD_HEADER_BYTES, MAD_BYTES = 12, 8, 24, 256
CM_AT = BASE_BYTES + DATAGRAM_BYTES + MAD_HEADER_BYTES
# Fields of packets, as offsets of a patch: of the base header, of the RDMA header, and of a REQ.
OPCODE_AT, PAD_AT, PARTITION_AT, QUEUE_PAIR_AT, PSN_AT = 0, 1, 2, 5, 9
ADDRESS_AT, KEY_AT, LENGTH_AT = BASE_BYTES, BASE_BYTES + 8, BASE_BYTES + 12
SERVICE_AT, PATH_MTU_AT, PRIVATE_DATA_AT = CM_AT + 8, CM_AT + 50, CM_AT + 140
# Words of the fields of a REQ and of a REP. The first ends with the time for an answer. The second begins with the
# responder resources and the initiator depth.
RESPONSE_TIME_AT, DEPTHS_AT = 40, 24
CRC_BYTES = 4
PAD_BITS = 0x30  # of the octet at PAD_AT
PSN_MASK = 0xFFFFFF
# Opcodes of a reliable connection.
SEND_FIRST, SEND_ONLY, WRITE_FIRST, WRITE_ONLY = 0x00, 0x04, 0x06, 0x0A
INVALIDATING_SENDS = (0x16, 0x17)
# Of packets that end a message: Sends and RDMA Writes, each Last and Only; and RDMA Read requests.
MESSAGE_ENDS = (0x02, 0x03, 0x04, 0x05, 0x08, 0x09, 0x0A, 0x0B, 0x0C, *INVALIDATING_SENDS)
SENDS = (*range(0x00, 0x06), *INVALIDATING_SENDS)
INVALIDATED_KEY_BYTES = 4
READ_REQUEST, READ_FIRST, READ_MIDDLE, READ_ONLY, ACKNOWLEDGE = 0x0C, 0x0D, 0x0E, 0x10, 0x11
ACK_BYTES = 4  # of the header in acknowledgements, and in READ responses but those in the middle
DATAGRAM_SEND = 0x64
READ_RESPONSES = range(READ_FIRST, READ_ONLY + 1)
# Syndromes: the upper three bits say the kind, and of a NAK all bits do.
RNR, NAK = 0x20, 0x60
SEQUENCE, INVALID, ACCESS, OPERATIONAL = 0x60, 0x61, 0x62, 0x63
# Messages of connection management.
REQ, MRA, REJ, REP, RTU, DREQ, DREP = range(0x10, 0x17)
MANAGEMENT_KEY, MANAGEMENT_PAIR = 0x80010000, 1
# Reason of a REJ: there is no such service.
NO_SERVICE = 8
# The packet of a READ's response, of so many, from which a repeated request asks for it.
BEGINNINGS = {
    "whole": lambda packets: 0,
    "second": lambda packets: 1,
    "middle": lambda packets: packets // 2,
    "last": lambda packets: packets - 1,
}


@dataclasses.dataclass(frozen=True)
class Packet:
    """A packet of a capture: who sent it, the fields of its base header, and what is behind it."""

    sender: object
    opcode: int
    queue_pair: int
    psn: int
    octets: bytes  # from the base header on, without the CRC

    @property
    def is_of_server(self):
        """Whether the server sent it."""
        return self.sender == trace.Role.server

    @property
    def is_send(self):
        """Whether it is a packet of a Send, with Invalidate or without."""
        return self.opcode in SENDS

    @property
    def sent(self):
        """Of a packet of a Send: its octets of the message, with the pad."""
        key = INVALIDATED_KEY_BYTES if self.opcode in INVALIDATING_SENDS else 0
        return self.octets[BASE_BYTES + key :]

    @property
    def is_read_response(self):
        """Whether it is a packet of the response to an RDMA Read."""
        return self.opcode in READ_RESPONSES

    @property
    def is_nak(self):
        """Whether it is a NAK, other than for a missing receive."""
        return self.syndrome is not None and self.syndrome & 0x60 == NAK

    @property
    def is_rnr(self):
        """Whether it is a NAK for a missing receive."""
        return self.syndrome is not None and self.syndrome & 0x60 == RNR

    @property
    def syndrome(self):
        """Of an acknowledgement or a NAK; else None."""
        return self.octets[BASE_BYTES] if self.opcode == ACKNOWLEDGE else None

    @property
    def msn(self):
        """Of an acknowledgement or a NAK: how many messages the responder has completed; else None."""
        if self.opcode != ACKNOWLEDGE:
            return None
        return int.from_bytes(self.octets[BASE_BYTES + 1 : BASE_BYTES + 4], "big")

    @property
    def rdma(self):
        """(address, R_Key, length) of an RDMA Read request, or of the first packet of an RDMA Write."""
        return struct.unpack_from(">QII", self.octets, ADDRESS_AT)

    @property
    def read(self):
        """Of a READ response: its octets of the memory."""
        header = 0 if self.opcode == READ_MIDDLE else ACK_BYTES
        pad = (self.octets[PAD_AT] & PAD_BITS) >> 4
        return self.octets[BASE_BYTES + header : len(self.octets) - pad]

    @property
    def message(self):
        """The kind of a message of connection management, such as REQ; else None."""
        if self.opcode != DATAGRAM_SEND:
            return None
        return struct.unpack_from(">H", self.octets, BASE_BYTES + DATAGRAM_BYTES + 16)[0]

    def word(self, at):
        """32 bits of the fields of a message of connection management."""
        return struct.unpack_from(">I", self.octets, CM_AT + at)[0]


def packet_of(sender, octets):
    """The Packet of a datagram; None if it is too short for one."""
    if len(octets) < BASE_BYTES + CRC_BYTES:
        return None
    pair, psn = (int.from_bytes(octets[at : at + 3], "big") for at in (QUEUE_PAIR_AT, PSN_AT))
    return Packet(sender, octets[OPCODE_AT], pair, psn, bytes(octets[:-CRC_BYTES]))


def packets(conn):
    """Every packet of a connection so far, in order."""
    return packets_of(conn.watch.capture)


def packets_of(capture):
    """Every packet of a trace.DatagramCapture."""
    made = (packet_of(sender, octets) for sender, octets in capture.datagrams())
    return [each for each in made if each is not None]


def of_server(conn, start=0):
    """The packets of the server behind the first `start` of both sides."""
    return [each for each in packets(conn)[start:] if each.sender == trace.Role.server]


def of_client(conn, start=0):
    """The packets of the client behind the first `start` of both sides."""
    return [each for each in packets(conn)[start:] if each.sender == trace.Role.client]


def bent(**alterations):
    """The fabric.Fault of a packet with these alterations."""
    return fabric.Fault(packet=fabric.BentPacket(**alterations))


def naks(found, syndrome):
    """The NAKs of this syndrome among packets."""
    return [each for each in found if each.syndrome == syndrome]


def read_later(request, packets_later, octets_later):
    """The octets of a READ request for the rest of this one, from a packet of its response on."""
    octets = bytearray(request.octets)
    psn = (request.psn + packets_later) & PSN_MASK
    address, _, length = request.rdma
    octets[PSN_AT : PSN_AT + 3] = psn.to_bytes(3, "big")
    put_rdma(octets, address + octets_later, length - octets_later)
    return bytes(octets)


def path_mtu(request):
    """The path MTU of a REQ, in octets of payload."""
    return 128 << (request.octets[PATH_MTU_AT] >> 4)


def response_s(request):
    """How many seconds a REQ gives the server to answer it."""
    exponent = request.word(RESPONSE_TIME_AT) >> 3 & 0x1F
    return 4.096e-6 * 2**exponent


def counted_too_often(found):
    """By how many messages at most the client's counts (MSN) exceed what the server had sent by then, among all
    packets of a connection. Packets of the same PSN are one."""
    sent, surplus = set(), 0
    for each in found:
        if each.is_of_server and each.opcode in MESSAGE_ENDS:
            sent.add(each.psn)
        elif not each.is_of_server and each.msn is not None:
            surplus = max(surplus, each.msn - len(sent))
    return surplus


def management(kind, transaction, local_id, remote_id=0, fields=b""):
    """A message of connection management as a packet of its own, without its CRC. `fields` follow both ids."""
    base = struct.pack(">BBHII", DATAGRAM_SEND, 0x40, 0xFFFF, MANAGEMENT_PAIR, 0)
    datagram = struct.pack(">II", MANAGEMENT_KEY, MANAGEMENT_PAIR)
    head = struct.pack(">BBBBHHQHHI", 1, 7, 2, 3, 0, 0, transaction, kind, 0, 0)
    body = struct.pack(">II", local_id, remote_id) + fields
    return base + datagram + (head + body).ljust(MAD_BYTES, b"\0")


def disconnect_request(found, sender, pair=None):
    """A DREQ of one side for this queue pair of the other side, by default its own one. `found` are the Numbers."""
    ids, own = (found.client_id, found.server_id), found.server_pair
    if sender == trace.Role.server:
        ids, own = (found.server_id, found.client_id), found.client_pair
    fields = ((own if pair is None else pair) << 8).to_bytes(4, "big")
    return management(DREQ, found.transaction, *ids, fields)


def put_rdma(octets, address, length):
    """Puts another address and length into the RDMA header of a packet, a bytearray."""
    octets[ADDRESS_AT:KEY_AT] = struct.pack(">Q", address % (1 << 64))
    octets[LENGTH_AT : LENGTH_AT + 4] = struct.pack(">I", length)


@dataclasses.dataclass(frozen=True)
class Numbers:
    """The numbers of an established connection, from its REQ and its REP."""

    transaction: int
    client_id: int
    server_id: int
    client_pair: int
    server_pair: int


def numbers(conn):
    """The Numbers of a connection; None if its capture has no REQ or no REP."""
    first = {each.message: each for each in reversed(packets(conn))}
    if REQ not in first or REP not in first:
        return None
    request, reply = first[REQ], first[REP]
    transaction = struct.unpack_from(">Q", request.octets, BASE_BYTES + DATAGRAM_BYTES + 8)[0]
    pairs = request.word(32) >> 8, reply.word(12) >> 8
    return Numbers(transaction, request.word(0), reply.word(0), *pairs)


def needed_numbers(bench, conn):
    """The same, or the end of the case."""
    found = numbers(conn)
    if found is None:
        bench.not_testable("the capture has no startup of the connection")
    return found


def reads_taken(conn):
    """How many RDMA Reads at a time the client takes, by its REQ (responder resources)."""
    request = next(each for each in of_client(conn) if each.message == REQ)
    return request.word(32) & 0xFF
