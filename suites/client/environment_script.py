"""A script of a case in an environment: what the server offers, and the first connection that is lost."""

from steertag import trace, wire
from steertag.suite.cases.environments import expect_met, note_met
from steertag.suite.client.client_connection import sent_from
from steertag.suite.client.script import is_read, Script
from steertag.suite.rdma.mpa_startup import has_crc

# Credits of a server that has a client make one call at a time, and of one that does not.
ALONE, CROWDED = 1, 32
# Data of so many octets have chunks, even where they fit inline: most cases are about chunks.
CHUNK_FROM = 4096


def own_options(environment, chunks=True):
    """The options of our own client: its thresholds are those of the environment, and CRC is off only where both sides
    ask for none. Without `chunks` data go inline where they fit."""
    options = [f"--inline-bytes={environment.inline}"]
    if environment.crc_off:
        options.append("--no-crc")
    if chunks and environment.inline > CHUNK_FROM:
        options.append(f"--chunk-from={CHUNK_FROM}")
    return options


def server_options(environment):
    """The options of the server in this environment."""
    return {
        "inline_bytes": environment.inline,
        "remote_invalidation": environment.invalidates,
        "credits": CROWDED if environment.crowded else ALONE,
    }


class UsedEnvironment:
    """Notes what the last connection of a use has had of the environment."""

    def __init__(self, environment, outcome):
        self._wanted, self._met, self._crc = environment, None, None
        used = [conn for conn in outcome.connections if conn.calls]
        if used:
            offered = server_options(environment)
            octets = offered["inline_bytes"]
            server = wire.PrivateData(
                remote_invalidation=offered["remote_invalidation"],
                send_bytes=octets,
                receive_bytes=octets,
            )
            limits = wire.negotiate(used[-1].announced, server)
            self._crc = has_crc(used[-1].watch.capture)
            crowded = any(map(had_many_calls, used))
            self._met = note_met(environment, limits, self._crc, crowded)

    def expect_met(self):
        """At the end of the case: the client has not made another environment of it."""
        if self._met is not None:
            expect_met(self._wanted, self._met, self._crc, "client")


def had_many_calls(conn):
    """Whether two calls of the client waited for their replies at once."""
    waiting = set()
    for event in conn.watch.recorder.events():
        if event.kind != "send":
            continue
        sent = sent_from(event.bytes)
        if event.actor == trace.Role.client and sent.is_call:
            waiting.add(sent.xid)
            if len(waiting) > 1:
                return True
        elif event.actor == trace.Role.server:
            waiting.discard(sent.xid)
    return False


class EnvironmentScript(Script):
    """Does what `script` does, in an environment. Where that is a second connection, the first one ends at its
    first READ, of those for which `loses_at` holds. The script sees no reply before.

    `lost` is the XID of that READ, or None.
    """

    def __init__(self, environment, script, loses_at=is_read):
        self._environment = environment
        self._loses_at = loses_at
        self._script = script
        self._loses = environment.reconnected
        self.lost = None

    @property
    def bench(self):
        """The client_bench.ClientBench that runs both."""
        return self._script.bench

    @bench.setter
    def bench(self, bench):
        self._script.bench = bench

    @property
    def waits(self):
        return getattr(self._script, "waits", False) or self._loses

    def source(self, octets):
        return self._script.source(octets)

    def on_request(self, step):
        if self._environment.crc_off and self.bench.client.capabilities.fault_hooks:
            step.crc = False  # without fault hooks the device decides
        self._script.on_request(step)

    def on_accepted(self, conn):
        self._script.on_accepted(conn)

    def on_arrival(self, conn, message):
        return self._script.on_arrival(conn, message)

    def on_departure(self, reply):
        if not self._loses:
            return self._script.on_departure(reply)
        if not self._loses_at(reply):
            return False
        self._loses, self.lost = False, reply.xid
        reply.raw.abort()
        return True

    def on_read(self, conn, number, octets):
        self._script.on_read(conn, number, octets)

    def on_down(self, conn, reason):
        self._script.on_down(conn, reason)

    def on_quiet(self):
        self._script.on_quiet()

    def on_poll(self):
        self._script.on_poll()
