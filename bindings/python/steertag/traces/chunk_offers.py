"""The chunks that one connection's headers offer: their references, and whose memory an STag names."""

import dataclasses
import itertools

from .line import ChunkReference

# Offers kept of each STag, and STags kept: a client that registers memory for each call uses an STag again
# after many calls. Beyond that the oldest is evicted.
MOST_OFFERS, MOST_STAGS = 16, 4096


class ChunkOffers:
    """Resolves the ranges of RDMA Writes and Reads."""

    def __init__(self):
        self._by_stag = {}  # (owner, STag): [ChunkReference]

    def offer(self, owner, references):
        """The side `owner` offers these segments."""
        for each in references:
            kept = self._by_stag.setdefault((owner, each.handle), [])
            kept.append(each)
            del kept[:-MOST_OFFERS]
        while len(self._by_stag) > MOST_STAGS:
            del self._by_stag[next(iter(self._by_stag))]

    def find(self, owner, stag, offset, length):
        """(the offered ChunkReference, the same cut to the range); the newest offer that has the range's
        first octet. (None, None) if there is none."""
        for each in reversed(self._by_stag.get((owner, stag), ())):
            inside = offset - each.offset
            if 0 <= inside < each.length or inside == each.length == 0:
                return each, dataclasses.replace(each, offset=offset, length=length)
        return None, None

    def last(self, owner, offer, end):
        """The last segment before `end` that adjoins `offer` through segments of its chunk and STag. A merged run of
        RDMA Writes goes through them."""
        for each in self._by_stag.get((owner, offer.handle), ()):
            follows = (each.xid, each.kind, each.chunk, each.segment) == (
                offer.xid,
                offer.kind,
                offer.chunk,
                offer.segment + 1,
            )
            if follows and each.offset == offer.offset + offer.length < end:
                offer = each
        return offer


def references(header):
    """[ChunkReference] of each segment of a wire.Header, in its order."""
    return [*_read(header), *_write(header), *_reply(header)]


def read_chunks(header):
    """[(position, [Segment])]: consecutive entries of one position are one chunk (RFC 8166 3.4.5)."""
    groups = itertools.groupby(header.read_list, key=lambda each: each.position)
    return [(position, [each.target for each in entries]) for position, entries in groups]


def _read(header):
    for number, (position, segments) in enumerate(read_chunks(header), start=1):
        kind = "read" if position else "position-zero"
        yield from _segments(kind, header.xid, number, segments, position)


def _write(header):
    for number, segments in enumerate(header.write_list, start=1):
        yield from _segments("write", header.xid, number, segments)


def _reply(header):
    yield from _segments("reply", header.xid, 1, header.reply_chunk or ())


def _segments(kind, xid, chunk, segments, position=None):
    for number, each in enumerate(segments, start=1):
        yield ChunkReference(
            kind, xid, chunk, number, each.handle, each.offset, each.length, position
        )
