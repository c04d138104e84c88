"""The chunk lists of a reply, and the item in its write chunk (RFC 8166 4.1.2, 4.3)."""

from steertag import wire
from steertag.suite import expect, kinds
from .chunk_checks import chunk_length
from .message_words import words

SEGMENT = "RFC8166-4.1.2-1"
ONE_ITEM = "RFC8166-3.4.4.4-1"
NO_ROUNDUP = "RFC8166-3.4.4.4-2"


def segment_words(segment, length):
    return [segment.handle, length, segment.offset >> 32, segment.offset & 0xFFFFFFFF]


def chunk_words(segments, lengths):
    """A chunk as XDR: its count, and its segments with these lengths."""
    found = [len(segments)]
    for segment, length in zip(segments, lengths):
        found += segment_words(segment, length)
    return found


def filled(segments, length):
    """The lengths of segments that hold `length` octets, filled in order."""
    lengths = []
    for segment in segments:
        lengths.append(min(length, segment.length))
        length -= lengths[-1]
    return lengths


def header_words(outcome, requirement_id):
    """The words of any message that arrived. The case fails if it has no whole header."""
    if len(outcome.raw) < wire.SMALLEST_HEADER_BYTES:
        expect(outcome, requirement_id, must=[kinds.REPLY])
    return words(outcome.raw)


def expect_lists(outcome, call):
    """Checks each word of the reply's lists. The call offered a write list and a reply chunk. The
    returned lists have the shape of the call's, whatever their lengths."""
    if not hasattr(outcome.header, "write_list"):
        return
    found = list(header_words(outcome, SEGMENT)[4:])
    write, reply = call.write_list[0].segments, call.reply_chunk.segments
    show = {"show": False, "outcome": outcome}
    expect.equal(found[:1], [0], "RFC8166-4.3-1", "word of the read list", **show)
    expect.equal(found[1:2], [1], "RFC8166-4.1.2-5", "word before the write chunk", **show)
    expect.equal(found[2:3], [len(write)], "RFC8166-4.1.2-4", "segments of the write chunk", **show)
    behind = 3 + 4 * len(write)
    for number, segment in enumerate(write):
        at = 3 + 4 * number
        handle, _, high, low = found[at : at + 4]
        expect.equal(handle, segment.handle, SEGMENT, "handle of a segment", **show)
        offset = high << 32 | low
        expect.equal(offset, segment.offset, "RFC8166-4.4.3-1", "offset of a segment", **show)
    end = found[behind : behind + 1]
    expect.equal(end, [0], "RFC8166-4.1.2-5", "word behind the write list", **show)
    wanted = [1, len(reply)]
    shape = found[behind + 1 : behind + 3]
    expect.equal(shape, wanted, "RFC8166-4.7-2", "words before the reply chunk", **show)


def expect_one_whole_item(outcome, most):
    """The first write chunk holds one item of at most `most` octets, or nothing. The payload stream
    ends with the item's count word, and no part of the item follows it. This is checked first,
    because a stray octet keeps the results from decoding."""
    header = outcome.header
    placed = chunk_length(next(iter(getattr(header, "write_list", [])), []))
    if placed == 0 or header.proc != wire.Procedure.MSG:
        return
    _, payload = wire.decode(outcome.raw)
    stray = len(payload) % 4
    expect.equal(stray, 0, NO_ROUNDUP, "octets behind the last word left inline", outcome=outcome)
    # READ3resok ends with count, eof, and the count word of the data.
    count, last = payload[-12:-8], payload[-4:]
    if last != count:
        expect.at_most(placed, most, ONE_ITEM, "octets of the chunk", outcome)
    expect.true(last == count, "RFC8166-3.4.4.1-2", "the count word is last", outcome=outcome)
    total = int.from_bytes(last, "big")
    expect.equal(placed, total, "RFC8166-3.4.4-2", "octets of the segments", outcome=outcome)
