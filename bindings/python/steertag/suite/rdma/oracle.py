"""The memory oracle: checks the target's writes to the memory that a case offers.

It checks memory only; the judge checks the trace. Octets of an offered segment beyond the returned
length are legal (RFC 8166 4.3.2.2), also those of an unused chunk.
"""

from .memory import Returned

OUTSIDE = "RFC8166-8.1.4-2"  # No octet beyond the offer.
EARLY = "RFC8166-3.5.2-2"  # Writes follow the call.
PADDING = "RFC8166-3.4.6.2-2"  # No roundup in a write chunk.
RETURNED = "RFC8166-3.4.6-5"  # The returned length is the octets placed.
# A run of this many untouched octets inside returned data is no coincidence.
SHORTEST_UNTOUCHED = 16


def before_send(offers):
    """[(id, text)]: memory that changed before the message that offers it was sent."""
    return [
        (EARLY, f"{_name(offer)} changed before the call that offers it was sent")
        for offer in offers
        if not offer.sent and offer.bytes() != offer.filled
    ]


def after_answer(offers, write_chunks, reply_chunk):
    """[(id, text)] after an answer. `write_chunks` and `reply_chunk` are the returned segments, []
    without any."""
    found, returned = outside(offers), Returned(offers)
    for number, chunk in enumerate(write_chunks):
        found += _returned(returned, chunk, f"write chunk {number}")
        found += _padding(returned, chunk, number)
    found += _returned(returned, reply_chunk, "reply chunk")
    return found


def outside(offers):
    """[(id, text)]: changed guards, and changed octets outside of offered segments."""
    found = []
    for offer in offers:
        if not offer.region.guards_intact:
            found.append((OUTSIDE, f"octets before or after {_name(offer)} were written"))
        content = offer.bytes()
        if content == offer.filled:
            continue
        place = _first_uncovered_change(offer, content)
        if place is not None:
            found.append(
                (OUTSIDE, f"octet {place} of {_name(offer)} was written, which no segment offers")
            )
    return found


def _name(offer):
    return f"the region of {len(offer)} octets"


def _first_uncovered_change(offer, content):
    covered = sorted(offer.offered) if offer.writable else []
    position = 0
    for start, length in [*covered, (len(content), 0)]:
        gap_end = min(max(start, 0), len(content))
        if gap_end > position and content[position:gap_end] != offer.filled[position:gap_end]:
            return next(i for i in range(position, gap_end) if content[i] != offer.filled[i])
        position = max(position, start + length)
    return None


def _returned(returned, segments, name):
    """Returned octets that still hold the fill pattern were never placed."""
    for number, segment in enumerate(segments):
        placed = returned.octets([segment])
        if placed is None:
            continue  # the judge checks foreign and enlarged segments
        owner = returned.owner(segment)
        start = segment.offset - owner.base
        untouched = _untouched_run(placed, owner.filled[start : start + segment.length])
        if untouched is not None:
            return [
                (
                    RETURNED,
                    f"{name} segment {number} returns {segment.length} octets, but nothing was "
                    f"placed from octet {untouched} on",
                )
            ]
    return []


def _untouched_run(placed, filled):
    """The start of an unwritten tail of the returned octets; None if the last octets were
    written."""
    if (
        len(placed) < SHORTEST_UNTOUCHED
        or placed[-SHORTEST_UNTOUCHED:] != filled[-SHORTEST_UNTOUCHED:]
    ):
        return None
    first = len(placed)
    while first and placed[first - 1] == filled[first - 1]:
        first -= 1
    return first


def _padding(returned, segments, number):
    """Zeroed octets after the data, up to a multiple of four, were placed as roundup."""
    total = sum(segment.length for segment in segments)
    roundup = -total % 4
    last = next((segment for segment in reversed(segments) if segment.length), None)
    owner = last and returned.owner(last)
    if not roundup or owner is None:
        return []
    start = last.offset - owner.base + last.length
    after = returned.content(owner)[max(0, start) : max(0, start + roundup)]
    if after and after == bytes(len(after)) and after != owner.filled[start : start + len(after)]:
        return [
            (PADDING, f"{len(after)} octets of roundup follow the data in write chunk {number}")
        ]
    return []
