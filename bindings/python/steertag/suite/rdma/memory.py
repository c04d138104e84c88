"""Memory that a case offers to the target: a registered region, what it was filled with, and how
long the target may use it."""

from ... import fabric, wire

# Pattern of memory that waits for data: from a random source, so that no real data resembles it.
_PATTERN_UNIT = 4096
# Octets of one reply that are taken from memory: far more than any call asks for. A reply may name the
# same memory in each of thousands of segments.
MOST_RETURNED = 64 << 20


class Offer:
    """One registered region with guards. Made by `Connection.offer`.

    `window_of` is the fabric.Connection whose peer may close the region, where the provider lets it
    close windows alone; None for a plain region."""

    def __init__(self, domain, length, read, write, base, content, random, window_of=None):
        rights = fabric.Rights(remote_read=read, remote_write=write)
        if window_of is None:
            self.region = domain.allocate(length, rights, base)
        else:
            self.region = domain.allocate(length, fabric.Rights())
            window_of.open_window(self.region, rights)
        unit = random.randbytes(min(length, _PATTERN_UNIT))
        filled = (unit * (length // max(1, len(unit)) + 1))[:length]
        self.filled = (
            bytes(content).ljust(length, b"\0")[:length] if content is not None else filled
        )
        self.region.write(0, self.filled)
        self.writable = write
        self.offered = []  # (offset, length) of segments handed out
        self.sent = False  # a message with a segment of it has left
        self.stag = self.region.stag
        self.base = self.region.base

    def __len__(self):
        return len(self.filled)

    def segment(self, length=None, offset=0):
        """A segment over `length` octets (to the end by default) that starts `offset` octets into
        the region. May lie outside of the region on purpose."""
        if length is None:
            length = len(self) - offset
        self.offered.append((offset, length))
        tagged = (self.base + offset) % (1 << 64)
        return wire.Segment(handle=self.stag, length=length, offset=tagged)

    def segments(self, sizes=None):
        """Consecutive segments of these sizes from the start; one over everything by default."""
        if sizes is None:
            return [self.segment()]
        made, offset = [], 0
        for size in sizes:
            made.append(self.segment(size, offset))
            offset += size
        return made

    def bytes(self):
        """What the region holds now."""
        return bytes(self.region.bytes())

    def close(self):
        """Takes the memory away from the target. Any later access is refused by the provider, which
        ends the connection."""
        if self.region.valid:
            self.region.invalidate()

    @property
    def open(self):
        """Whether the target may still use the memory."""
        return self.region.valid


class Returned:
    """What the segments of a reply hold of these offers now."""

    def __init__(self, offers):
        self._offers = {offer.stag: offer for offer in reversed(offers)}
        self._contents = {}  # by STag
        self._left = MOST_RETURNED

    def owner(self, segment):
        """The Offer with the segment's memory; None if that is none of ours."""
        return self._offers.get(segment.handle)

    def content(self, offer):
        """The octets of the whole Offer."""
        if offer.stag not in self._contents:
            self._contents[offer.stag] = offer.bytes()
        return self._contents[offer.stag]

    def octets(self, segments):
        """The octets behind the segments, in order. None where one is none of ours, or where all that
        were asked for are more than MOST_RETURNED."""
        content = bytearray()
        for segment in segments:
            owner = self.owner(segment)
            if owner is None:
                return None
            start = segment.offset - owner.base
            self._left -= segment.length
            if start < 0 or start + segment.length > len(owner) or self._left < 0:
                return None
            content += self.content(owner)[start : start + segment.length]
        return bytes(content)
