"""Packets in plain values, as a recording keeps them."""

from steertag import fabric
from steertag.suite.recording.fabric_tap import kept_packet, packet_of, PACKET_FIELDS


def test_packet_is_made_again_of_what_is_kept():
    packet = fabric.BentPacket(index=2, patches=[(0, b"\x0e")], cut=40, extended_headers=b"")
    kept = kept_packet(packet)
    assert kept["extended_headers"] == b"" and kept["cut"] == 40
    assert kept_packet(packet_of(kept)) == kept


def test_packet_of_an_earlier_recording_keeps_its_headers():
    kept = kept_packet(fabric.BentPacket(psn_offset=1))
    assert set(kept) == {*PACKET_FIELDS, "patches"}
    del kept["extended_headers"]
    made = packet_of(kept)
    assert made.extended_headers is None and made.psn_offset == 1
