"""A connection in an environment, and exchanges on it."""

from steertag import wire
from steertag.suite import expect, kinds
from steertag.suite.cases.environments import AXES, expect_met, note_met
from steertag.suite.rdma.mpa_startup import has_crc
from ..chunk_checks import read_call

ANSWERED = "RFC8166-3.3.1-9"
# Calls in flight before and behind the one that is looked at, as far as the grant allows.
MOST_OTHERS = 8
# Octets of the READ whose connection is lost.
LOST = 2048


# What the target announces where a run says nothing else.
USUAL_INLINE = 4096


class Trial:
    """`conn`: a new connection to the target in this environment. A bundled server leaves the thresholds and the CRC to
    our side where its usual options would not."""

    def __init__(self, bench, environment):
        self.bench = bench
        self.environment = environment
        if environment.invalidates:
            bench.need("remote-invalidation")
        if environment.inline > USUAL_INLINE or environment.crc_off:
            bench.serve_with(*self._yielding())
        if environment.reconnected:
            self._lose_connection()
        self.conn = self.connect()

    @property
    def _has_choice(self):
        """Whether our side may ask for no CRC. Without fault hooks the device decides."""
        return self.bench.capabilities.fault_hooks

    def _yielding(self):
        """Arguments of a server that leaves the thresholds and the CRC to its client."""
        yield f"--inline-bytes={max(AXES['inline'])}"
        if self._has_choice:
            yield "--no-crc"

    def connect(self, **settings):
        """Another connection in this environment."""
        environment = self.environment
        if environment.crc_off and self._has_choice:
            settings["crc"] = False
        data = announcing(environment.inline, environment.invalidates)
        conn = self.bench.connect(**{"private_data": data, "receives": 64, **settings})
        crowded = environment.crowded and conn.window > 1
        self._crc = has_crc(conn.watch.capture)
        self._met = note_met(environment, conn.negotiated, self._crc, crowded)
        return conn

    def expect_met(self):
        """At the end of the case: the target has not made another environment of it."""
        expect_met(self.environment, self._met, self._crc, "target")

    def _lose_connection(self):
        handle = self.bench.file(bytes(LOST))
        conn = self.bench.connect()
        call = read_call(conn, handle, LOST)
        conn.write_chunk(call)
        conn.send(call)
        conn.abort()

    def exchange(self, call):
        """The Outcome of a call. In a crowd other calls are in flight, and each of those gets its reply. Where the call
        ends the connection, that is what the case is about."""
        others = self._others() if self.environment.crowded else []
        before, behind = others[::2], others[1::2]
        outcomes = self.conn.collect([*before, call, *behind])
        if outcomes[call.xid].kind not in kinds.CLOSED:
            for other in others:
                expect(outcomes[other.xid], ANSWERED, must=[kinds.REPLY])
        return outcomes[call.xid]

    def _others(self):
        number = min(self.conn.window - 1, MOST_OTHERS)
        return [self.conn.nfs_call("GETATTR", object=self.bench.root) for _ in range(number)]

    @property
    def inline(self):
        """Octets of data that fit beside the results of a READ, both ways; at most 64 KiB."""
        return min(self.conn.inline_octets - 512, 1 << 16)


def announcing(inline, invalidates):
    """Private data with these thresholds both ways, and this R."""
    return wire.PrivateData(
        remote_invalidation=invalidates, send_bytes=inline, receive_bytes=inline
    )
