"""The way to the target by one URL: connections that prepare, the first measurement, the probe."""

import collections
import os
import time

from ..cases import kinds
from ..cases.case_end import CaseEnd, EXCHANGES, unprepared
from .deadline import CONNECT_MS, FIRST_CONTACT_MS, Deadlines, PATIENCE_FLOOR_MS

# Probes whose round trips count for the next case.
LATELY = 8
# Messages that nobody asked for, after which a target is no RPC server at all. A server that answers
# each call twice is one, and is judged.
MOST_UNASKED = 64


class Refused(CaseEnd):
    """The target did not take a connection or did not answer a NULL call; one sentence. A case that needed
    the connection to go on ends with it."""

    def __init__(self, sentence, timed_out=False, owed=EXCHANGES):
        kind = kinds.HANG if timed_out else kinds.DISCONNECT
        end = unprepared(owed, "a connection", kind)
        super().__init__(end.reason, sentence)
        self.verdict = end.verdict
        self.timed_out = timed_out

    def __str__(self):
        return self.detail


class Link:
    """Opens connections to one URL. What a subclass adds: `transport`, and `_plain` connections."""

    transport = ""
    connect_ms = CONNECT_MS
    first_contact_ms = FIRST_CONTACT_MS

    def __init__(self, url):
        self.url = url
        self._first_ms = 1.0  # the slowest round trip of the first contact
        self._lately_ms = collections.deque(maxlen=LATELY)
        self.twin = None  # record_link.RecordLink to the same server, if there is one
        self._serial = 0
        self._probed = {}  # need: what the target lacks of it, "" for nothing

    @property
    def round_trip_ms(self):
        """The slowest round trip of the first contact and of the last probes: a machine that is loaded
        now need not have been so when the session started."""
        return max(self._first_ms, *self._lately_ms, 0.0)

    @property
    def unique(self):
        """A word that no other link and no earlier call gave: for names of files on the target. Of one
        length always, so that one can stand in place of another."""
        self._serial += 1
        return f"{os.getpid():08x}-{time.time_ns():016x}-{self._serial:06d}"

    def reseed(self, seed):
        """From here on what the way to the target chooses at random belongs to this seed."""

    def helper(self, deadlines, timeout_ms=None):
        """A plain connection for preparing and probing; raises Refused."""
        conn = self._plain(deadlines, timeout_ms or self.connect_ms)
        if not conn.open:
            raise Refused(conn.refusal, conn.refused_by_time, conn.owed)
        return conn

    def measure(self, round_trips, timeout_ms):
        """Reaches the target for the first time and takes the slowest of some NULL round trips;
        raises Refused. A wrong answer is an answer: cases judge it. `timeout_ms` limits the
        connection and each answer."""
        conn = self.helper(Deadlines(), timeout_ms)
        self._learn(conn)
        slowest = 0.0
        for _ in range(round_trips):
            before = time.monotonic()
            outcome = conn.probe(timeout_ms)
            slowest = max(slowest, time.monotonic() - before)
            if outcome.kind in kinds.UNANSWERED:
                raise Refused(f"a NULL call gave {outcome.kind}: {outcome.detail}")
        unasked = 0
        while unasked < MOST_UNASKED and conn.receive(PATIENCE_FLOOR_MS) is not None:
            unasked += 1
        conn.abort()
        if unasked == MOST_UNASKED:
            raise Refused(f"it sends messages without end, {MOST_UNASKED} of them unasked")
        self._first_ms = slowest * 1000

    def probed(self, need, probe):
        """What the target lacks of a need that `probe(link)` finds out, one sentence; "" for nothing.
        The target is asked once."""
        if need not in self._probed:
            self._probed[need] = probe(self)
        return self._probed[need]

    def _learn(self, conn):
        """Remembers what the first connection shows."""

    def probe(self, deadlines):
        """The liveness probe: None if a fresh connection answers a NULL call, else "disconnect" (no
        connection) or "hang" (no answer)."""
        try:
            conn = self.helper(deadlines)
        except Refused as refused:
            return kinds.HANG if refused.timed_out else kinds.DISCONNECT
        before = time.monotonic()
        outcome = conn.probe()
        took_ms = (time.monotonic() - before) * 1000
        conn.abort()
        if outcome.kind not in kinds.UNANSWERED:
            self._lately_ms.append(took_ms)
            return None
        return kinds.HANG if outcome.kind == kinds.HANG else kinds.DISCONNECT
