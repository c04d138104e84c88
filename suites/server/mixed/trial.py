"""A connection in an environment, and exchanges on it."""

from steertag import wire
from steertag.suite import expect, kinds
from ..chunk_checks import read_call

ANSWERED = "RFC8166-3.3.1-9"
# Calls in flight before and behind the one that is looked at, as far as the grant allows.
MOST_OTHERS = 8
# Octets of the READ whose connection is lost.
LOST = 2048


class Trial:
    """`conn`: a new connection to the target in this environment."""

    def __init__(self, bench, environment):
        self.bench = bench
        self.environment = environment
        if environment.invalidates:
            bench.need("remote-invalidation")
        if environment.reconnected:
            self._lose_connection()
        self.conn = self.connect()

    def connect(self):
        """Another connection in this environment."""
        environment = self.environment
        options = {}
        if environment.crc_off and self.bench.capabilities.fault_hooks:
            options["crc"] = False  # without fault hooks the device decides
        settings = announcing(environment.inline, environment.invalidates)
        return self.bench.connect(private_data=settings, receives=64, **options)

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
