"""The memory oracle: what it calls a violation, and what RFC 8166 4.3.2.2 lets pass."""

import pytest

from steertag import wire
from steertag.suite.rdma import oracle
from steertag.suite.rdma.memory import MOST_RETURNED, Returned

BASE, STAG = 0x7F0000, 0xAABB


class SeenOffer:
    """An offer whose memory the test writes in place of a target."""

    def __init__(self, length, offered, writable=True):
        self.filled = bytes((7 * i + 1) % 251 + 1 for i in range(length))
        self.memory = bytearray(self.filled)
        self.offered, self.writable, self.sent = offered, writable, True
        self.stag, self.base = STAG, BASE
        self.region = self
        self.guards_intact = True

    def __len__(self):
        return len(self.filled)

    def bytes(self):
        return bytes(self.memory)

    def place(self, offset, octets):
        self.memory[offset : offset + len(octets)] = octets


def returned(length, offset=0):
    return [wire.Segment(handle=STAG, length=length, offset=BASE + offset)]


def ids(found):
    return [requirement_id for requirement_id, _ in found]


def test_untouched_memory_is_in_order():
    offer = SeenOffer(64, [(0, 64)])
    assert oracle.after_answer([offer], [returned(0)], []) == []


def test_data_of_the_returned_length_is_in_order():
    offer = SeenOffer(64, [(0, 64)])
    offer.place(0, b"\xff" * 40)
    assert oracle.after_answer([offer], [returned(40)], []) == []


def test_octets_beyond_the_returned_length_may_change():
    offer = SeenOffer(64, [(0, 64)])
    offer.place(0, b"\xff" * 64)
    assert oracle.after_answer([offer], [returned(40)], []) == []
    assert oracle.after_answer([offer], [returned(0)], []) == []


@pytest.mark.parametrize("place", [0, 15, 48, 63])
def test_octets_that_no_segment_offers(place):
    offer = SeenOffer(64, [(16, 32)])
    offer.place(place, b"\0")
    (found,) = oracle.outside([offer])
    assert found == (
        oracle.OUTSIDE,
        f"octet {place} of the region of 64 octets was written, which no segment offers",
    )


def test_overlapping_and_outlying_segments():
    offer = SeenOffer(64, [(0, 40), (8, 16), (60, 100)])
    offer.place(39, b"\0")
    offer.place(60, b"\0")
    assert oracle.outside([offer]) == []
    offer.place(40, b"\0")
    assert ids(oracle.outside([offer])) == [oracle.OUTSIDE]


def test_memory_offered_for_reading_only_must_not_change():
    offer = SeenOffer(64, [(0, 64)], writable=False)
    offer.place(5, b"\0")
    assert ids(oracle.outside([offer])) == [oracle.OUTSIDE]


def test_guards():
    offer = SeenOffer(64, [(0, 64)])
    offer.guards_intact = False
    assert ids(oracle.outside([offer])) == [oracle.OUTSIDE]


def test_memory_touched_before_the_call():
    offer = SeenOffer(64, [(0, 64)])
    offer.sent = False
    assert oracle.before_send([offer]) == []
    offer.place(3, b"\0")
    assert ids(oracle.before_send([offer])) == [oracle.EARLY]


def test_a_returned_length_without_data():
    offer = SeenOffer(64, [(0, 64)])
    offer.place(0, b"\xff" * 20)
    (found,) = oracle.after_answer([offer], [returned(60)], [])
    assert found[0] == oracle.RETURNED
    assert "returns 60 octets, but nothing was placed from octet 20 on" in found[1]


def test_a_reply_chunk_is_held_to_its_length_too():
    offer = SeenOffer(64, [(0, 64)])
    assert ids(oracle.after_answer([offer], [], returned(64))) == [oracle.RETURNED]


def test_roundup_in_a_write_chunk():
    offer = SeenOffer(64, [(0, 64)])
    offer.place(0, b"\xff" * 41 + bytes(3))
    (found,) = oracle.after_answer([offer], [returned(41)], [])
    assert found == (oracle.PADDING, "3 octets of roundup follow the data in write chunk 0")


def test_other_octets_behind_the_data_are_no_roundup():
    offer = SeenOffer(64, [(0, 64)])
    offer.place(0, b"\xff" * 44)
    assert oracle.after_answer([offer], [returned(41)], []) == []


def test_segments_that_are_not_ours_are_left_to_the_judge():
    offer = SeenOffer(64, [(0, 64)])
    foreign = [wire.Segment(handle=1, length=64, offset=0)]
    enlarged = returned(65)
    assert oracle.after_answer([offer], [foreign, enlarged], []) == []


def test_a_reply_cannot_name_the_same_memory_without_end():
    offer = SeenOffer(1 << 20, [(0, 1 << 20)])
    fitting = returned(len(offer)) * (MOST_RETURNED >> 20)
    assert len(Returned([offer]).octets(fitting)) == MOST_RETURNED
    held = Returned([offer])
    assert held.octets(fitting) is not None and held.octets(returned(1)) is None
