"""What a client offers in transfers of drawn sizes: its chunk lists against what its calls ask for."""

import random

import pytest

from steertag.suite import case, client_kinds as kinds, expect
from .chunk_lists import lengths, reduced, rooms
from .test_offers import item_positions
from .test_transfers import KIB, MIB, near_edges, Source

# Trials with other numbers each, the same in every run.
TRIALS = 8
THRESHOLDS = (KIB, 4 * KIB, 16 * KIB)
MOST_TRANSFERS = 2
# Not long calls: what they leave out of the Send is not seen there.
OWN = ([], ["--reply-chunks"], ["--chunk-from", "1"])
ALIGNED, ITEM = "RFC8166-3.4.5-3", "RFC8166-3.4.5-2"
WHOLE, ROUNDUP = "RFC8166-3.4.5.2-4", "RFC8166-3.4.5.2-2"
ROOM = "RFC8166-3.4.6-2"


@case(
    "client.offers.drawn-{trial}",
    requirements=[ALIGNED, ITEM, WHOLE, ROUNDUP, ROOM],
)
@pytest.mark.parametrize("trial", range(TRIALS))
def test_drawn(bench, trial):
    """Thresholds, and lengths of a file and of its transfers, are drawn around words, pages, 64 KiB and 1 MiB. Each read
    chunk holds one item, whole, with all of its roundup or none. Each write chunk has room for what its READ asks for.
    """
    numbers = random.Random(trial)
    threshold = numbers.choice(THRESHOLDS)
    # More than fits inline, so that there are chunks.
    transfer = max(2 * threshold, near_edges(numbers, MIB))
    length = numbers.randint(1, MOST_TRANSFERS) * transfer + near_edges(numbers, transfer)
    server = {"transfer_bytes": transfer, "inline_bytes": threshold}
    outcome = bench.use(Source(length), server=server, own=numbers.choice(OWN))
    expect_read_chunks(outcome)
    for room, largest in rooms(outcome):
        expect.at_least(room, largest, ROOM, "octets of a write chunk", outcome)
    expect(outcome, ROOM, must=[kinds.COMPLETED])
    if not reduced(outcome) and not rooms(outcome):
        bench.not_testable("the client offers no chunks for transfers that do not fit inline")


def expect_read_chunks(outcome):
    """The place and the length of each read chunk fit an item that is not in the Send."""
    for sent, chunks in reduced(outcome):
        aligned = all(position % 4 == 0 for position in chunks)
        expect.true(aligned, ALIGNED, "positions are multiples of four", outcome=outcome)
        there = set(chunks) <= item_positions(sent.payload, list(chunks))
        what = "each position is that of an item that is not in the Send"
        expect.true(there, ITEM, what, outcome=outcome)
        for octets, length in lengths(sent, chunks):
            expect.at_least(octets, length, WHOLE, "octets of a read chunk", outcome)
            legal = (length, -(-length // 4) * 4)
            what = "octets of a read chunk that is longer than its item"
            expect.one_of(octets, legal, ROUNDUP, what, outcome=outcome)
