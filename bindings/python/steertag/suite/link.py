"""The way to the target: one provider per process, connections with their observers, the probe."""

import dataclasses
import os
import time

from .. import conformance, fabric, trace, wire
from . import kinds
from .connection import Connection
from .deadline import CONNECT_MS, Deadlines, PATIENCE_FLOOR_MS
from .nfs_message import auth_sys

# Captures show this client address and, per connection of a case, another port; the server has the
# port by which analysers know NFS/RDMA.
CAPTURE_CLIENT, CAPTURE_FIRST_PORT = "192.0.2.1", 50000
CAPTURE_SERVER = ("192.0.2.2", 20049)
# Inline threshold that the helper connections announce.
HELPER_INLINE = 4096
HELPER_CREDITS = 8
# Messages that nobody asked for, after which a target is no RPC server at all. A server that answers
# each call twice is one, and is judged.
MOST_UNASKED = 64


class Refused(Exception):
    """The target did not take a connection or did not answer a NULL call; one sentence."""

    def __init__(self, sentence, timed_out=False):
        super().__init__(sentence)
        self.timed_out = timed_out


@dataclasses.dataclass(frozen=True)
class Settings:
    """What a connection is opened with, and what its calls carry."""

    options: fabric.ConnectionOptions
    credits: int
    credential: object = None  # rpc.OpaqueAuth; None: AUTH_NONE


def make_capture(number):
    """A trace.Capture for the connection of a case with this number."""
    return trace.Capture(
        client=(CAPTURE_CLIENT, CAPTURE_FIRST_PORT + number), server=CAPTURE_SERVER
    )


class Watch:
    """The observers of one connection."""

    def __init__(self, number):
        self.recorder = trace.Recorder()
        self.judge = conformance.Judge()
        self.capture = make_capture(number)
        self.events = trace.Fanout([self.recorder, self.judge])


def helper_settings(profile):
    """Settings of connections that prepare and probe: plain and small."""
    data = wire.PrivateData(send_bytes=HELPER_INLINE, receive_bytes=HELPER_INLINE)
    options = fabric.ConnectionOptions(
        private_data=wire.encode(data), receives=HELPER_CREDITS, receive_bytes=HELPER_INLINE
    )
    return Settings(options, HELPER_CREDITS, auth_sys(profile.uid, profile.gid))


class Link:
    """Opens connections to one URL. Owns the provider; works only while someone waits."""

    def __init__(self, url, profile):
        self.url = url
        self.provider = fabric.Provider(fabric.parse_url(url).provider)
        self.round_trip_ms = 1.0
        self.thresholds = wire.Negotiated()  # of a connection that announces HELPER_INLINE
        self._helper_settings = helper_settings(profile)
        self._serial = 0

    @property
    def unique(self):
        """A word that no other link and no earlier call gave: for names of files on the target."""
        self._serial += 1
        return f"{os.getpid():x}-{time.time_ns():x}-{self._serial}"

    def open(self, settings, watch, timeout_ms):
        """A fabric connection, established or refused, observed by `watch`."""
        return self.provider.connect(
            self.url,
            self.provider.make_domain(),
            settings.options,
            startup_timeout_ms=timeout_ms,
            events=watch.events,
            octets=watch.capture,
        )

    def helper(self, deadlines, timeout_ms=CONNECT_MS):
        """A plain Connection for preparing and probing; raises Refused."""
        watch = Watch(0)
        raw = self.open(self._helper_settings, watch, timeout_ms)
        conn = Connection(raw, watch, self._helper_settings, deadlines, self.unique)
        if not conn.open:
            raise Refused(conn.refusal, conn.refused_by_time)
        return conn

    def measure(self, round_trips, timeout_ms):
        """Reaches the target for the first time and takes the slowest of some NULL round trips;
        raises Refused. A wrong answer is an answer: cases judge it. `timeout_ms` limits the
        connection and each answer."""
        conn = self.helper(Deadlines(), timeout_ms)
        self.thresholds = conn.negotiated
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
        self.round_trip_ms = slowest * 1000

    def probe(self, deadlines):
        """The liveness probe: None if a fresh connection answers a NULL call, else "disconnect" (no
        connection) or "hang" (no answer)."""
        try:
            conn = self.helper(deadlines)
        except Refused as refused:
            return kinds.HANG if refused.timed_out else kinds.DISCONNECT
        outcome = conn.probe()
        conn.abort()
        if outcome.kind not in kinds.UNANSWERED:
            return None
        return kinds.HANG if outcome.kind == kinds.HANG else kinds.DISCONNECT
