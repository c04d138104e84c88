"""The link to the target at one URL: helper connections, the first measurement, the probe."""

import collections
import math
import os
import time

from ..cases import kinds
from ..cases.case_end import CaseEnd, EXCHANGES, unprepared
from .deadline import CONNECT_MS, FIRST_CONTACT_MS, Deadlines, PATIENCE_FLOOR_MS
from .dialogue import Dialogue

# Number of last probes whose round trips set the deadlines of the next case.
LATELY = 8
# A target with this many unsolicited messages is no RPC server. A server that answers each call
# twice has fewer, and is judged.
MOST_UNASKED = 64


class Refused(CaseEnd):
    """The target refused a connection or did not answer a NULL call. The text is one sentence. It
    ends a case that needs the connection."""

    def __init__(self, sentence, timed_out=False, owed=EXCHANGES, outcome=None):
        """`outcome` is that of the NULL call."""
        kind = kinds.HANG if timed_out else kinds.DISCONNECT
        end = unprepared(owed, "a connection", kind)
        super().__init__(end.reason, sentence)
        self.verdict = end.verdict
        self.timed_out = timed_out
        self.outcome = outcome

    def __str__(self):
        return self.detail


class Link:
    """Opens connections to one URL. A subclass adds `transport`, and `_plain` connections."""

    transport = ""
    null_version = Dialogue.null_version  # of NULL calls
    connect_ms = CONNECT_MS
    first_contact_ms = FIRST_CONTACT_MS

    def __init__(self, url):
        self.url = url
        self._first_ms = 1.0  # the slowest round trip of the first contact
        self._lately_ms = collections.deque(maxlen=LATELY)
        self._fastest_ms = math.inf
        self.twin = None  # record_link.RecordLink to the same server, if there is one
        self.no_twin = ""  # why there is none, in one sentence
        self._serial = 0
        self._probed = {}  # need: the nfs4_probe.Lack of the target, or None

    @property
    def round_trip_ms(self):
        """The slowest round trip of the first contact and of the last probes. The load of a machine
        may rise during a session."""
        return max(self._first_ms, *self._lately_ms, 0.0)

    @property
    def distance_ms(self):
        """The fastest round trip so far: how far away the target is, however loaded the machines are."""
        return self._fastest_ms if math.isfinite(self._fastest_ms) else 0.0

    @property
    def unique(self):
        """A word that is unique across links and calls, for names of files on the target. Its
        length is constant, so a replay can substitute another word."""
        self._serial += 1
        return f"{os.getpid():08x}-{time.time_ns():016x}-{self._serial:06d}"

    def reseed(self, seed):
        """Seeds the random choices of the link from here on."""

    def helper(self, deadlines, timeout_ms=None):
        """A plain connection for preparing and probing; raises Refused."""
        conn = self._plain(deadlines, timeout_ms or self.connect_ms)
        conn.null_version = self.null_version
        _check_open(conn)
        return conn

    def measure(self, round_trips, timeout_ms):
        """Contacts the target over a helper connection; see measure_over. `timeout_ms` limits the connection too."""
        self.measure_over(self.helper(Deadlines(), timeout_ms), round_trips, timeout_ms)

    def measure_over(self, conn, round_trips, timeout_ms):
        """Records the slowest of some NULL round trips over a connection, which ends. `timeout_ms` limits each answer.
        A wrong answer counts, because cases judge it. Raises Refused."""
        _check_open(conn)
        self._learn(conn)
        slowest = 0.0
        for _ in range(round_trips):
            before = time.monotonic()
            outcome = conn.probe(timeout_ms)
            took = time.monotonic() - before
            slowest = max(slowest, took)
            self._fastest_ms = min(self._fastest_ms, took * 1000)
            if outcome.kind in kinds.UNANSWERED:
                sentence = f"a NULL call gave {outcome.kind}: {outcome.detail}"
                raise Refused(sentence, owed=conn.owed, outcome=outcome)
        unasked = 0
        while unasked < MOST_UNASKED and conn.receive(PATIENCE_FLOOR_MS) is not None:
            unasked += 1
        conn.abort()
        if unasked == MOST_UNASKED:
            raise Refused(f"it sends messages without end, {MOST_UNASKED} of them unasked")
        self._first_ms = slowest * 1000

    def probed(self, need, probe):
        """The nfs4_probe.Lack of the target for a need, or None. `probe(link)` runs once; it may be None for a
        need that is only noted."""
        if need not in self._probed and probe is not None:
            self._probed[need] = probe(self)
        return self._probed.get(need)

    def note_lack(self, need, lack):
        """The target lacks the need, as something else than its probe has shown."""
        self._probed[need] = lack

    def know(self, other):
        """Takes over what probes over another link to the same target have found."""
        self._probed = other._probed

    def _learn(self, conn):
        """Records facts of the first connection."""

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
            self._fastest_ms = min(self._fastest_ms, took_ms)
            return None
        return kinds.HANG if outcome.kind == kinds.HANG else kinds.DISCONNECT


def _check_open(conn):
    if not conn.open:
        raise Refused(conn.refusal, conn.refused_by_time, conn.owed)
