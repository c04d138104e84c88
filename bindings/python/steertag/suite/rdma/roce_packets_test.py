"""Packets of RoCEv2 in a capture: what is read of them, and what is forged."""

from types import SimpleNamespace

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


def test_a_read_request_has_a_length_and_a_setup_a_path_mtu():
    read = bytes([roce.READ_REQUEST]) + bytes(roce.LENGTH_AT - 1) + b"\0\0\x10\1"
    request = roce.management(roce.REQ, 9, 1, fields=bytes(50 - 8) + b"\x30")
    found = roce.packets(connection((SERVER, read), (CLIENT, request)))
    assert roce.read_length(found[0]) == 0x1001
    assert roce.path_mtu(found[1]) == 1024


def test_what_is_too_short_is_left_out():
    assert roce.packets(connection((CLIENT, bytes(3)))) == []
