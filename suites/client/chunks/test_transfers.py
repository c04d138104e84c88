"""Transfers of 64 KiB and 1 MiB with an octet more or less, and chunks that are moved in other parts than offered."""

import random

import pytest

from steertag import peer, wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.client_bench import make_source
from steertag.suite.client.script import is_read, Script
from ..short_read import cut, parted, shortened
from .chunk_lists import rooms

SAME, PUT_TOGETHER = "RFC8166-1-1", "RFC8166-3.4.6.1-1"
ROOM = "RFC8166-3.4.6-2"
KIB, MIB = 1 << 10, 1 << 20
# Octets of one READ or WRITE, at most. No server of ours has more than the last.
SIZES = (64 * KIB - 1, 64 * KIB, 64 * KIB + 1, MIB - 1, MIB)
# Behind the last whole transfer: an odd number that would fit inline.
END = 1027
# Trials with other numbers each, the same in every run with the same --seed.
TRIALS = 16
EDGES = (1, 4, KIB, 4 * KIB, 8 * KIB, 64 * KIB, MIB)
INLINE = (KIB, 4 * KIB, 64 * KIB)
OWN = ([], ["--reply-chunks"], ["--long-calls"], ["--chunk-from", "1"])
MOST_TRANSFERS, MOST_CUTS = 4, 4


class Source(Script):
    """A source of so many octets."""

    def __init__(self, length):
        self.length = length

    def source(self, octets):
        return make_source(self.length, self.length)


@case(
    "client.chunks.transfer-{octets}",
    requirements=[SAME, ROOM],
    needs=["client-write-chunks"],
)
@pytest.mark.parametrize("octets", SIZES)
def test_transfer(bench, octets):
    """READs and WRITEs may have so many octets. The write chunks have room for what the READs ask for, and the copy
    is right."""
    outcome = bench.use(Source(2 * octets + END), server={"transfer_bytes": octets})
    asked = rooms(outcome)
    for room, largest in asked:
        expect.at_least(room, largest, ROOM, "octets of a write chunk", outcome)
    expect(outcome, SAME, must=[kinds.COMPLETED])
    most = max((largest for _, largest in asked), default=0)
    if most < octets:
        bench.not_testable(f"the client asks for no more than {most} octets in a READ")


def near_edges(numbers, most):
    """A number from 1 to `most`: at an edge, an octet beside it, or any other."""
    beside = numbers.choice(EDGES) + numbers.choice((-1, 0, 1))
    return min(max(1, numbers.choice((beside, numbers.randint(1, most)))), most)


class Parts(Source):
    """Places the data of each READ by several RDMA Writes in any order, and of some READs fewer data than fit."""

    def __init__(self, numbers, length):
        super().__init__(length)
        self._numbers = numbers

    def on_departure(self, reply):
        if not is_read(reply) or not reply.writes:
            return False
        writes, draft = reply.writes, None
        octets = sum(len(write.octets) for write in writes)
        if self._numbers.random() < 0.5:
            most = near_edges(self._numbers, octets)
            short = shortened(reply, most)
            if short is not None and most < octets:
                writes, draft = cut(writes, most), reply.draft()
                draft.payload = short[0]
                filled = parted(draft.write_list[0].segments, most)[0]
                draft.write_list = [wire.DraftChunk(segments=filled), *draft.write_list[1:]]
        parts = [part for write in writes for part in self._parts(write)]
        self._numbers.shuffle(parts)
        reply.push(parts)
        reply.send(draft, invalidate=reply.invalidate)
        return True

    def _parts(self, write):
        """The RDMA Write in up to MOST_CUTS + 1 others."""
        length = len(write.octets)
        cuts = {
            near_edges(self._numbers, length) for _ in range(self._numbers.randint(0, MOST_CUTS))
        }
        ends = sorted(cuts | {length})
        for start, end in zip([0, *ends], ends):
            octets = write.octets[start:end]
            yield peer.RemoteWrite(write.stag, write.offset + start, octets)


@case(
    "client.chunks.parts-{trial}",
    requirements=[PUT_TOGETHER],
    needs=["client-write-chunks"],
)
@pytest.mark.parametrize("trial", range(TRIALS))
def test_parts(bench, trial):
    """A file, transfers, thresholds, RDMA Writes and READs that come short, whose lengths are around words, pages,
    64 KiB and 1 MiB. The copy is right. Each trial has other lengths, and each --seed. Our own client has the server's
    thresholds, so that up to 64 KiB go inline; another one may have smaller ones."""
    numbers = random.Random(TRIALS * bench.seed + trial)
    transfer = max(KIB, near_edges(numbers, MIB))
    length = numbers.randint(0, MOST_TRANSFERS - 1) * transfer + near_edges(numbers, transfer)
    inline = numbers.choice(INLINE)
    server = {"transfer_bytes": transfer, "inline_bytes": inline}
    script = Parts(numbers, min(length, 3 * MIB))
    own = [*numbers.choice(OWN), f"--inline-bytes={inline}"]
    outcome = bench.use(script, server=server, own=own)
    expect(outcome, PUT_TOGETHER, must=[kinds.COMPLETED])
