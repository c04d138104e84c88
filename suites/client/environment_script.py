"""A script of a case in an environment: what the server offers, and the first connection that is lost."""

from steertag.suite.client.script import is_read, Script

# Credits of a server that has a client make one call at a time, and of one that does not.
ALONE, CROWDED = 1, 32


def own_options(environment):
    """The options of our own client: CRC is off only where both sides ask for none."""
    return ["--no-crc"] if environment.crc_off else []


def server_options(environment):
    """The options of the server in this environment."""
    return {
        "inline_bytes": environment.inline,
        "remote_invalidation": environment.invalidates,
        "credits": CROWDED if environment.crowded else ALONE,
    }


class EnvironmentScript(Script):
    """Does what `script` does, in an environment. Where that is a second connection, the first one ends at its
    first READ, and the script sees no reply before.

    `lost` is the XID of that READ, or None.
    """

    def __init__(self, environment, script):
        self._environment = environment
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
        if not is_read(reply):
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
