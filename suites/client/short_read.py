"""READs that return fewer octets than they could, or none: replies, and what is placed in chunks."""

from steertag import peer, wire
from steertag.suite.client.script import NFS
from .call_kinds import word, words

READ, TRY_LATER = 25, 10008  # OP_READ; NFS3ERR_JUKEBOX and NFS4ERR_DELAY


def placed(reply):
    """The octets that the reference server would place for the reply."""
    return b"".join(bytes(write.octets) for write in reply.writes)


def replaced(segment, **fields):
    """The segment with other values."""
    values = {"handle": segment.handle, "length": segment.length, "offset": segment.offset}
    return wire.Segment(**{**values, **fields})


def parted(segments, octets):
    """(segments that are filled with so many octets, those that are left of them)."""
    filled, left = [], []
    for segment in segments:
        length = min(octets, segment.length)
        octets -= length
        filled.append(replaced(segment, length=length))
        if length < segment.length:
            offset = (segment.offset + length) % (1 << 64)
            left.append(replaced(segment, length=segment.length - length, offset=offset))
    return filled, left


def cut(writes, most):
    """The Writes as far as their first `most` octets go."""
    kept = []
    for write in writes:
        octets = write.octets[:most]
        most -= len(octets)
        if octets:
            kept.append(peer.RemoteWrite(write.stag, write.offset, octets))
    return kept


def shortened(reply, most):
    """(payload, data) of the reply to a READ with only the first `most` octets of its data.

    The shorter data do not reach the end of the file. None if the reply does not end with the data.
    """
    payload, data = bytes(reply.payload), placed(reply)
    # RFC 1813 3.3.6: count, eof, length of the data; RFC 8881 18.22: eof, length.
    counts = (12, 4) if reply.procedure[1] == 3 else (4,)
    if any(word(payload, len(payload) - at) != len(data) for at in counts):
        return None
    if len(data) <= most:
        return payload, data
    end = bytearray(payload)
    for at in counts:
        end[len(end) - at : len(end) - at + 4] = words(most)
    end[-8:-4] = words(0)
    return bytes(end), data[:most]


def try_later(reply):
    """A draft of the reply to a READ in which it fails and asks to try later: its write chunk comes back
    unused. None if the write chunk is for something else than the result of a last READ, or has no data.
    """
    if not reply.writes:
        return None
    draft = reply.mutated("write-list.unused")
    payload = bytes(draft.payload)
    if reply.procedure == (NFS, 3, 6):
        draft.payload = payload[:24] + words(TRY_LATER, 0)
    elif payload[-16:-8] == words(READ, 0):
        draft.payload = payload[:24] + words(TRY_LATER) + payload[28:-12] + words(TRY_LATER)
    else:
        return None
    return draft
