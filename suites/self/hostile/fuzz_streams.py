"""The octets of a client's stream as messages, and messages as octets again: what carries them is right, unless it shall
be wrong."""

from suites.server.iwarp.fpdus import crc32c, CRC_OCTETS, LAST_BIT, LENGTH_OCTETS
from suites.server.iwarp.fpdus import TAGGED_BIT, TAGGED_OCTETS, UNTAGGED_OCTETS

# Startup frames (RFC 5044 7.1.1).
STARTUP_OCTETS, STARTUP_LENGTH_AT = 20, 18
MARK_OCTETS, LAST_FRAGMENT = 4, 1 << 31
LONGEST_ULPDU = 0xFFFF
# The offset of a segment: its place and size with and without an STag (RFC 5041 4.2, 4.3).
TAGGED_OFFSET, MESSAGE_OFFSET = (6, 8), (14, 4)


class IwarpStream:
    """Octets of the client as messages: its startup frame, then ULPDUs."""

    def __init__(self):
        self._octets = b""
        self._has_startup = self._sent_startup = False

    def take(self, octets):
        """[message] that are complete now."""
        self._octets += octets
        found = []
        while (message := self._next()) is not None:
            found.append(message)
        return found

    def _next(self):
        octets = self._octets
        if not self._has_startup:
            if len(octets) < STARTUP_OCTETS:
                return None
            end = STARTUP_OCTETS + int.from_bytes(octets[STARTUP_LENGTH_AT:STARTUP_OCTETS], "big")
            if len(octets) < end:
                return None
            self._octets = octets[end:]
            self._has_startup = True
            return octets[:end]
        if len(octets) < LENGTH_OCTETS:
            return None
        length = int.from_bytes(octets[:LENGTH_OCTETS], "big")
        end = LENGTH_OCTETS + length
        whole = end + -end % 4 + CRC_OCTETS
        if len(octets) < whole:
            return None
        self._octets = octets[whole:]
        return octets[LENGTH_OCTETS:end]

    def carried(self, message, broken, piece=0):
        """The octets on the wire; with `piece` in DDP segments of so many octets."""
        if not self._sent_startup:
            self._sent_startup = True
            return bytes(len(message)) if broken else message
        message = message[:LONGEST_ULPDU]
        segments = segments_of(message, piece) if piece else [message]
        return b"".join(_fpdu(each, broken) for each in segments)


def _fpdu(message, broken):
    body = len(message).to_bytes(LENGTH_OCTETS, "big") + message
    body += bytes(-len(body) % 4)
    crc = crc32c(body)
    return body + (bytes(each ^ 1 for each in crc) if broken else crc)


def segments_of(message, piece):
    """A DDP segment as several, with so many octets of it each."""
    is_tagged = bool(message) and message[0] & TAGGED_BIT
    header_octets = TAGGED_OCTETS if is_tagged else UNTAGGED_OCTETS
    if len(message) <= header_octets:
        return [message]
    at, size = TAGGED_OFFSET if is_tagged else MESSAGE_OFFSET
    start = int.from_bytes(message[at : at + size], "big")
    segments = []
    for begin in range(header_octets, len(message), piece):
        header = bytearray(message[:header_octets])
        if begin + piece < len(message):
            header[0] &= ~LAST_BIT
        offset = (start + begin - header_octets) % (1 << 8 * size)
        header[at : at + size] = offset.to_bytes(size, "big")
        segments.append(bytes(header) + message[begin : begin + piece])
    return segments


class RecordStream:
    """Octets of the client as records of one fragment (RFC 5531 11)."""

    def __init__(self):
        self._octets = b""

    def take(self, octets):
        """[message] that are complete now."""
        self._octets += octets
        found = []
        while len(self._octets) >= MARK_OCTETS:
            mark = int.from_bytes(self._octets[:MARK_OCTETS], "big")
            end = MARK_OCTETS + (mark & ~LAST_FRAGMENT)
            if len(self._octets) < end:
                break
            found.append(self._octets[MARK_OCTETS:end])
            self._octets = self._octets[end:]
        return found

    def carried(self, message, broken, piece=0):
        """The octets on the wire; with `piece` in fragments of so many octets. Broken, none is the last."""
        step = piece or max(1, len(message))
        fragments = [message[at : at + step] for at in range(0, len(message), step)] or [b""]
        marks = [len(each) for each in fragments]
        if not broken:
            marks[-1] |= LAST_FRAGMENT
        pairs = zip(marks, fragments)
        return b"".join(mark.to_bytes(MARK_OCTETS, "big") + each for mark, each in pairs)
