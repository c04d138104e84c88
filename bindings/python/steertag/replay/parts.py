"""Smaller forms of a message: fewer list entries, less data, words that are zero.

Each generator gives (position, octets). A search goes on from its last position, and tries nothing twice."""

import dataclasses

from .. import wire

# Sizes of ranges of words that are made zero, largest first.
_RANGES = (64, 16, 4, 1)
# Ranges of one size that are tried: of data, single words do not matter one by one.
MOST_RANGES = 256


def smaller_draft(octets, position):
    """Messages with one list entry, chunk or segment less, or with less behind the header."""
    draft = wire.draft_of(octets)
    forms = list(_without_parts(draft))
    for number in range(position, len(forms)):
        changed = wire.encode(dataclasses.replace(draft, **forms[number]))
        if len(changed) < len(octets):
            yield number, changed


def _without_parts(draft):
    """Fields of drafts that lack one thing."""
    if draft.append:
        yield {"append": b""}
    if draft.reply_chunk is not None:
        yield {"reply_chunk": None}
    for name in ("read_list", "write_list"):
        entries = getattr(draft, name)
        for number in range(len(entries)):
            yield {name: entries[:number] + entries[number + 1 :]}
    for number, chunk in enumerate(draft.write_list):
        for fewer in _fewer_segments(chunk):
            yield {
                "write_list": [*draft.write_list[:number], fewer, *draft.write_list[number + 1 :]]
            }
    if draft.reply_chunk is not None:
        for fewer in _fewer_segments(draft.reply_chunk):
            yield {"reply_chunk": fewer}
    length = len(draft.payload)
    for kept in (0, length // 2, length - 4, length - 1):
        if 0 <= kept < length:
            yield {"payload": draft.payload[:kept]}


def _fewer_segments(chunk):
    for number in range(len(chunk.segments)):
        segments = chunk.segments[:number] + chunk.segments[number + 1 :]
        yield dataclasses.replace(chunk, segments=segments)


def smaller_octets(octets, position):
    """Octets cut at the end, then with ranges of words made zero, then with single words."""
    forms = [*_cuts(octets), *_zeroed(octets)]
    for number in range(position, len(forms)):
        changed = forms[number]()
        if changed != octets:
            yield number, changed


def _cuts(octets):
    length = len(octets)
    for kept in sorted({0, length // 4, length // 2, 3 * length // 4, length - 4}):
        if 0 <= kept < length:
            yield lambda kept=kept: octets[:kept]


def _zeroed(octets):
    for words in _RANGES:
        size = 4 * words
        if (words > 1 and size > len(octets)) or size * MOST_RANGES < len(octets):
            continue
        for start in range(0, len(octets), size):
            yield lambda start=start, size=size: _with_zeros(octets, start, size)


def _with_zeros(octets, start, size):
    part = octets[start : start + size]
    return octets[:start] + bytes(len(part)) + octets[start + size :]
