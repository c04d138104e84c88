"""Values of a recording that differ in each run: steering tags, file handles, and identifiers of the target."""

from .. import wire
from ..suite.cases.case_end import NotTestable
from .assigned_ids import assigned_ids

# An identifier of the target has at least so many octets, and so many different ones. Shorter or plainer
# octets occur by chance.
SHORTEST = 8
FEWEST_DIFFERENT = 4
# The longest identifier of variable length: file handles have up to 128 octets (NFS4_FHSIZE).
LONGEST = 128
# Octets of a message that are searched for identifiers.
MOST_SEARCHED = 1 << 16
_WORD = 4
# Octets before the results of the shortest reply, behind a transport header and in a record. They hold
# no identifier of the target.
_BEFORE_RESULTS = {True: 28 + 24, False: 24}


class Symbols:
    """Knows what the recording had and what this run has in its place."""

    def __init__(self):
        # Each maps what the recording has to what this run has.
        self._handles = {}  # File handles of the helper.
        self._memory = {}  # Steering tags: (memory.Offer, base in the recording).
        self._opaques = {}  # Items of variable length in messages of the target.
        self._named = {}  # Client ids, session ids, stateids.
        self._given = {}  # Windows of messages of the target: (octets now or None, offset).
        self._own = set()  # Windows of messages that we sent.
        self._texts = {}  # Names of ours, of one length.
        self._xids = {}  # XIDs of calls of the target.

    # -- what is learned -------------------------------------------------------------------------

    def handle(self, recorded, now):
        """A file handle that the helper connection got."""
        if isinstance(recorded, bytes) and len(recorded) >= SHORTEST:
            self._handles[recorded] = bytes(now)

    def text(self, recorded, now):
        """A name that we made up for this run."""
        if recorded and len(recorded) == len(now):
            self._texts[recorded.encode()] = now.encode()

    def callback(self, recorded, now):
        """A call of the target; `now` is empty if none came this time."""
        xid, now_xid = recorded[:_WORD], now[:_WORD]
        if len(xid) == len(now_xid) == _WORD:
            self._xids[xid] = now_xid
        self.message(recorded, now, True)

    def memory(self, stag, base, offer):
        """A registered region."""
        self._memory[stag] = offer, base

    def message(self, recorded, now, has_header):
        """A message of the target; `now` is empty if none came this time."""
        for start, length in _opaques(recorded, _BEFORE_RESULTS[has_header]):
            item = recorded[start : start + length]
            if len(set(item)) >= FEWEST_DIFFERENT and not self._is_own(item):
                if now[start - _WORD : start] == recorded[start - _WORD : start]:
                    self._opaques[item] = now[start : start + length]
        if len(now) not in (0, len(recorded)):
            return  # Another layout: what stands at the same offset may be anything.
        for offset, window in _windows(recorded):
            if offset < _BEFORE_RESULTS[has_header] or window in self._own:
                continue
            # Who gives a value out tells what it is now: where it comes back, a message may have another
            # layout than in the recording.
            given, place = self._given.get(window, (b"", 0))
            known = len(given) >= place + SHORTEST
            if len(set(window)) >= FEWEST_DIFFERENT and not known:
                self._given[window] = now, offset

    def results(self, recorded, now):
        """The CompoundReply of the recording and of this run to the same call."""
        values = assigned_ids(now)
        for path, value in assigned_ids(recorded).items():
            # As with windows, the first that gave it out tells what it is now.
            if path in values and len(set(value)) >= FEWEST_DIFFERENT:
                self._named.setdefault(value, values[path])

    def _is_own(self, item):
        """Whether all of it was sent before: it is ours, then."""
        return all(window in self._own for _, window in _windows(item))

    # -- what follows ----------------------------------------------------------------------------

    def in_octets(self, octets):
        """Octets that we send: those of the recording with what stands for them now, but for memory."""
        patched = bytearray(octets)
        # Windows first: they overlap each other, and what is known as a whole is surer than they are.
        for offset, window in _windows(octets):
            now, source = self._given.get(window, (b"", 0))
            part = now[source : source + len(window)]
            if len(part) == len(window):
                patched[offset : offset + len(window)] = part
        for recorded, now in self._opaques.items():
            if len(now) == len(recorded):
                self._replace(patched, octets, recorded, now)
        # The longer ones may begin with a shorter one.
        named = dict(sorted(self._named.items(), key=lambda each: len(each[0])))
        for recorded, now in (named | self._handles | self._texts).items():
            self._replace(patched, octets, recorded, now)
        self._own |= {window for _, window in _windows(octets)}
        return bytes(patched)

    @staticmethod
    def _replace(patched, octets, recorded, now):
        start = octets.find(recorded)
        while start >= 0:
            if len(now) != len(recorded):
                sizes = f"{len(now)} octets, those of the recording {len(recorded)}"
                raise NotTestable(f"file handles of this target have {sizes}")
            patched[start : start + len(recorded)] = now
            start = octets.find(recorded, start + len(recorded))

    def in_message(self, octets):
        """A message over RDMA: segments name memory of this run too."""
        patched = bytearray(self.in_octets(octets))
        for start in range(0, len(octets) - _WORD + 1, _WORD):
            known = self._memory.get(int.from_bytes(octets[start : start + _WORD], "big"))
            if known is not None:
                self._segment(patched, start, *known)
        self._number(patched, octets)
        return bytes(patched)

    def _number(self, patched, octets):
        """A message with the XID of a callback has that of the callback now, in its RPC message too."""
        now = self._xids.get(octets[:_WORD])
        if now is None:
            return
        start = octets.find(octets[:_WORD], wire.SMALLEST_HEADER_BYTES)
        for place in (0, start):
            if place >= 0:
                patched[place : place + _WORD] = now

    @staticmethod
    def _segment(patched, start, offer, base):
        """A segment: handle, length, and the offset, which follows the region's base (RFC 8166 3.4.3)."""
        patched[start : start + _WORD] = offer.stag.to_bytes(_WORD, "big")
        place = slice(start + 2 * _WORD, start + 4 * _WORD)
        if offer.base != base and len(patched) >= place.stop:
            offset = int.from_bytes(patched[place], "big") - base + offer.base
            patched[place] = (offset % (1 << 64)).to_bytes(2 * _WORD, "big")


def _opaques(octets, first):
    """(start, length) of what may be an item of variable length behind its length (RFC 4506 4.10)."""
    for start in range(first, min(len(octets), MOST_SEARCHED) - _WORD, _WORD):
        length = int.from_bytes(octets[start : start + _WORD], "big")
        if SHORTEST <= length <= LONGEST and start + _WORD + length <= len(octets):
            yield start + _WORD, length


def _windows(octets):
    """(offset, octets) of every window that starts at a word."""
    most = min(len(octets), MOST_SEARCHED) - SHORTEST
    return (
        (offset, bytes(octets[offset : offset + SHORTEST])) for offset in range(0, most + 1, _WORD)
    )
