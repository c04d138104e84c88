"""Packets of RoCEv2 in a capture: what is read of them, and what is forged."""

import struct
from types import SimpleNamespace

import pytest

from steertag import trace
from steertag.suite.rdma import roce_packets as roce

CLIENT, SERVER = trace.Role.client, trace.Role.server
CRC = bytes(roce.CRC_BYTES)


def connection(*sent):
    """A connection whose capture has these (sender, octets without CRC)."""
    capture = SimpleNamespace(datagrams=lambda: [(who, octets + CRC) for who, octets in sent])
    return SimpleNamespace(watch=SimpleNamespace(capture=capture))


def acknowledgement(syndrome):
    base = bytes([roce.ACKNOWLEDGE, 0x40, 0xFF, 0xFF, 0, 0, 0, 0x12, 0, 0, 0, 7])
    return base + bytes([syndrome, 0, 0, 1])


def test_what_is_forged_is_read():
    (packet,) = roce.packets(connection((CLIENT, roce.management(roce.DREQ, 5, 6, 7))))
    assert packet.message == roce.DREQ and packet.queue_pair == roce.MANAGEMENT_PAIR
    assert (packet.word(0), packet.word(4)) == (6, 7)
    assert len(packet.octets) == roce.BASE_BYTES + roce.DATAGRAM_BYTES + roce.MAD_BYTES
    assert not packet.is_send and not packet.is_nak and packet.syndrome is None


def test_a_nak_is_no_acknowledgement():
    kinds = {0x1F: (False, False), 0x3C: (False, True), roce.SEQUENCE: (True, False)}
    for syndrome, kind in kinds.items():
        (packet,) = roce.packets(connection((SERVER, acknowledgement(syndrome))))
        assert (packet.is_nak, packet.is_rnr) == kind
        assert packet.psn == 7 and packet.queue_pair == 0x12


def test_the_payload_of_a_send_is_behind_the_key_that_it_invalidates():
    head = bytes([0x40, 0xFF, 0xFF, 0, 0, 0, 0x12, 0, 0, 0, 7])
    plain, closing = (bytes([opcode]) + head for opcode in (0x04, 0x17))
    sent = roce.packets(connection((SERVER, plain + b"reply"), (SERVER, closing + b"key!reply")))
    assert [packet.sent for packet in sent] == [b"reply", b"reply"]
    assert all(packet.is_send and packet.is_of_server for packet in sent)


def test_the_numbers_are_those_of_request_and_reply():
    request = roce.management(roce.REQ, 9, 1, fields=bytes(24) + b"\0\0\x11\0")
    reply = roce.management(roce.REP, 9, 2, 1, fields=bytes(4) + b"\0\0\x22\0")
    found = roce.numbers(connection((CLIENT, request), (SERVER, reply)))
    assert found == roce.Numbers(9, 1, 2, 0x11, 0x22)
    assert roce.numbers(connection((CLIENT, request))) is None


@pytest.mark.parametrize(
    "sender, ids, pair", [(CLIENT, (1, 2), 0x22), (SERVER, (2, 1), 0x11)], ids=["client", "server"]
)
def test_a_disconnect_request_names_the_other_sides_queue_pair(sender, ids, pair):
    found = roce.Numbers(9, 1, 2, 0x11, 0x22)
    for wanted, options in ((pair, ()), (0x33, (0x33,))):
        octets = roce.disconnect_request(found, sender, *options)
        (packet,) = roce.packets(connection((sender, octets)))
        assert packet.message == roce.DREQ
        assert (packet.word(0), packet.word(4)) == ids
        assert packet.word(8) >> 8 == wanted


def test_a_read_request_has_a_length_and_a_setup_a_path_mtu():
    read = bytes([roce.READ_REQUEST]) + bytes(roce.LENGTH_AT - 1) + b"\0\0\x10\1"
    request = roce.management(roce.REQ, 9, 1, fields=bytes(50 - 8) + b"\x30")
    found = roce.packets(connection((SERVER, read), (CLIENT, request)))
    assert found[0].rdma[2] == 0x1001
    assert roce.path_mtu(found[1]) == 1024


def test_what_is_too_short_is_left_out():
    assert roce.packets(connection((CLIENT, bytes(3)))) == []


def test_an_acknowledgement_has_the_count_of_messages():
    (packet,) = roce.packets(connection((CLIENT, acknowledgement(0x1F))))
    assert packet.msn == 1
    (message,) = roce.packets(connection((CLIENT, roce.management(roce.DREQ, 5, 6, 7))))
    assert message.msn is None


def test_the_rdma_header_is_read_and_replaced():
    request = bytearray([roce.READ_REQUEST, 0x40] + [0] * 10) + struct.pack(">QII", 7, 8, 9)
    roce.put_rdma(request, 1 << 64, 3)
    (packet,) = roce.packets(connection((SERVER, bytes(request))))
    assert packet.rdma == (0, 8, 3)


@pytest.mark.parametrize("opcode", [roce.READ_FIRST, roce.READ_MIDDLE, roce.READ_ONLY])
def test_a_response_has_octets_without_header_and_pad(opcode):
    header = b"" if opcode == roce.READ_MIDDLE else b"\x1f\0\0\1"
    response = bytes([opcode, 0x40 | 3 << 4]) + bytes(10) + header + b"octet\0\0\0"
    (packet,) = roce.packets(connection((CLIENT, response)))
    assert packet.is_read_response and packet.read == b"octet"


def test_a_client_says_how_many_reads_it_takes():
    request = roce.management(roce.REQ, 9, 1, fields=bytes(24) + b"\0\0\x11\x10")
    assert roce.reads_taken(connection((CLIENT, request))) == 16


def test_a_repeated_message_is_counted_once():
    send = bytes([roce.SEND_ONLY, 0x40, 0xFF, 0xFF, 0, 0, 0, 0x12, 0, 0, 0, 7]) + b"call"
    once = acknowledgement(0x1F)
    twice = once[:-1] + b"\2"
    repeated = (SERVER, send), (CLIENT, once), (SERVER, send)
    found = roce.packets(connection(*repeated, (CLIENT, once)))
    assert roce.counted_too_often(found) == 0
    found = roce.packets(connection(*repeated, (CLIENT, twice)))
    assert roce.counted_too_often(found) == 1
