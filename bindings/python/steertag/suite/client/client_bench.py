"""The bench of cases for clients: runs the client against the suite's own server.

The server conforms where the case's script says nothing.
"""

import random
import time

from ... import conformance, peer
from ...verdict import Verdict
from ..cases.case_end import Hung, NotTestable, Unsupported
from ..cases.case_run import current_run
from ..cases.expectation import expect
from ..cases.transport import TCP
from ..exchange.case_capture import write_capture
from ..rdma.rdma_link import Watch
from .client_connection import ClientConnection, OptimisticConnection, StreamConnection
from .client_kinds import COMPLETED, CORRUPTED, CRASH, HANG, LEFT, REFUSED
from .client_needs import check_client_need
from .client_outcome import ClientOutcome, copy_fault, left_connection, MOST_COPY
from .client_process import CannotRun, ClientProcess
from .script import Reply, ReplyInterposer

# What one READ or WRITE may have: far above any inline threshold. The source takes several of them; its
# end would fit inline, and has an odd length, so that there is roundup.
TRANSFER_BYTES = 32768
SOURCE_BYTES = 5 * TRANSFER_BYTES + 1027
SOURCE, COPY = "source", "copy"
# How long a poll may go on after the process may have ended.
POLL_MS = 5
# From the end of the client to the end of its connections.
CLOSING_MS = 2000
# Connections of one run that are watched; a client that opens more is in a loop.
MOST_CONNECTIONS = 256
# Of the server's options: how files are striped.
PATTERN = ("unit_bytes", "dense", "commit_through_server")
# Calls of a script's `on_quiet` in one run.
MOST_QUIET = 64


def make_source(seed, length=SOURCE_BYTES):
    """The octets of the file `source`: no zero among them, so that what was never written shows."""
    octets = random.Random(seed).randbytes(length)
    return octets.replace(b"\0", b"\x5a")


class ClientBench:
    """Made anew for each case. `client` is the client_session.Client under test, `habits` what is known of
    it."""

    own = "server"  # whose role the suite plays

    def __init__(self, client, run, deadlines, habits, seed=0):
        self.client = client
        self.deadlines = deadlines
        self.habits = habits
        self.seed = seed  # of cases that draw their numbers
        self._run = run
        self._connections = []
        self._capabilities = None
        self._direct, self._layouts = conformance.DirectAccess(), conformance.Layouts()
        self.server = None  # the peer.ScriptedServer of the use under way, for scripts

    @property
    def connections(self):
        """[ClientConnection]: all that were asked for so far, also from inside a script."""
        return self._connections

    @property
    def stream_ports(self):
        """There are none: a client brings all its connections."""
        return []

    # -- running the client --------------------------------------------------------------------

    def use(self, script=None, server=None, own=(), transfer=None, **functions):
        """Runs the client once and gives its ClientOutcome.

        script      a script.Script; without one, `functions` make a script.ReplyInterposer.
        server      options of the server: credits, inline_bytes, receive_bytes, remote_invalidation,
                    transfer_bytes, and `deviate`: names of deviations of the server. With `direct_block`
                    it has direct access, in blocks of so many octets. With `data_servers` it is a metadata
                    server of pNFS with so many; `unit_bytes`, `dense` and `commit_through_server` say how.
                    `also_at` has URLs where all of them listen besides.
        own         options of our own client, for what it does not by itself.
        transfer    how data is to get to it, a word of client_session.TRANSFERS.

        Ends the case as not testable if the script waits for a call that the client did not make. If it left
        its connection instead, it breaks the first requirement of the case.
        """
        script = script if script is not None else ReplyInterposer(**functions)
        try:
            outcome = self._use(script, server or {}, own, transfer)
        except CannotRun as error:
            raise Hung(str(error)) from None
        if outcome.kind == CRASH:
            self._run.note(Verdict.CRASH, outcome.detail, outcome.output)
        if not getattr(script, "waits", False):
            return outcome
        if outcome.kind == LEFT:
            expect(outcome, self._run.case.requirements[0], must=[COMPLETED])
        if outcome.kind in (COMPLETED, REFUSED):
            raise NotTestable("the client made no call of the kind that this case is about")
        return outcome

    def _use(self, script, options, own, transfer):
        source = script.source(make_source(self._run.case_id))
        streams = self.client.transport == TCP
        adapter = ScriptAdapter(script, self._connections, self._watch, streams)
        script.bench = self
        self.server = server = self._start_server(adapter, options)
        self._capabilities = server.capabilities
        try:
            server.put(SOURCE, source)
            return self._watch_client(server, adapter, source, self.client.command(own, transfer))
        finally:
            server.close()
            self.server = None  # its provider holds a port of RoCE

    def _watch(self):
        """The observers of the client's next connection. Their judges share what they know of direct access and of
        layouts."""
        shared = {"direct": self._direct, "layouts": self._layouts}
        return Watch(len(self._connections), self.client.provider, **shared)

    def _start_server(self, adapter, options):
        seed = random.Random(self._run.xid_seed(len(self._connections))).getrandbits(64)
        options = {"transfer_bytes": TRANSFER_BYTES, **options}
        pattern = {name: options.pop(name) for name in PATTERN if name in options}
        scripts = [adapter.at(number) for number in range(options.pop("data_servers", 0))]
        options["stripes"] = peer.Stripes(
            scripts,
            host=self.client.pnfs_host,
            by_tcp=self.client.data_servers_by_tcp,
            **pattern,
        )
        # A data server has no second way, over TCP, that no script sees and that goes on where it dies.
        listen = self.client.listen[:1] if scripts else self.client.listen
        listen = [*listen, *options.pop("also_at", ())]
        server = peer.ScriptedServer(listen, adapter, seed=seed, **options)
        self.client.listens_at(server.listening)
        return server

    def _watch_client(self, server, adapter, source, command):
        first = len(self._connections)
        start = time.monotonic()
        process = ClientProcess(command)
        try:
            hung = not self._serve(server, adapter, process, start)
            # Also what a client that has ended by itself has left behind.
            process.kill(meanwhile=lambda: server.poll(POLL_MS))
            self._let_close(server)
            seconds = time.monotonic() - start
            copy = server.get(COPY, MOST_COPY)
            kind, detail = _judge_end(process, hung, source, copy)
            if hung:
                detail = f"no end within {self.client.limit_ms(self.habits)} ms"
            made = self._connections[first:]
            tells = server.capabilities.sees_violations
            left = left_connection(made, self.habits.connections) if tells else None
            if kind == COMPLETED and left:
                kind, detail = LEFT, left
            spent = seconds, adapter.pause_seconds
            return ClientOutcome(kind, made, copy, *spent, process.output(), detail, tells)
        finally:
            try:
                process.kill()
            finally:
                process.close()

    def _serve(self, server, adapter, process, start):
        """Polls until the client ends; False if it does not."""
        limit = start + self.client.limit_ms(self.habits) / 1000
        while not process.ended:
            server.poll(POLL_MS)
            now = time.monotonic()
            if now > limit:
                return False
            adapter.tick(now, self.habits.quiet_ms)
        return True

    @staticmethod
    def _let_close(server):
        limit = time.monotonic() + CLOSING_MS / 1000
        while server.connection_count and time.monotonic() < limit:
            server.poll(POLL_MS)

    # -- verdicts ------------------------------------------------------------------------------

    def need(self, name):
        """Ends the case if the client lacks what it needs; see suite.client_needs."""
        check_client_need(name, self.habits, self._capabilities or self.client.capabilities)

    def unsupported(self, proof):
        """Ends the case: the client proved that it lacks an optional feature."""
        raise Unsupported(proof)

    def not_testable(self, why):
        """Ends the case: this client gives no way to provoke or observe it."""
        raise NotTestable(why)

    def latitude(self, requirement_id, variant):
        """Notes which legal variant the client chose."""
        current_run().check_declared(requirement_id)
        current_run().note(Verdict.LATITUDE, f"{requirement_id}: {variant}")

    # -- after the case ------------------------------------------------------------------------

    def settle(self):
        """Every run has ended by itself."""

    def clean_up(self):
        """The storage went with its server."""

    def findings(self):
        """[(CaseFinding, ClientConnection)]: the judge's, in order."""
        return [(found, conn) for conn in self._connections for found in conn.findings()]

    def write_capture(self, directory):
        """Writes the case's capture file, with the verdict as a comment."""
        captures = [conn.watch.capture for conn in self._connections]
        write_capture(directory, self._run, captures)

    def close(self):
        """Nothing is left."""


class ScriptAdapter:
    """Between the server and a script: makes the connections, and knows when nothing happens. A script sees nothing
    of what comes over TCP, such as MOUNT of version 3, unless the server has `streams` only."""

    server = None  # its number among the data servers

    def __init__(self, script, connections, watch, streams=False):
        self._streams = streams
        self._script = script
        self._connections = connections
        self._watch = watch  # () -> the observers of the next one
        self._by_number = {}
        self._requested = None
        self._last = None  # the client's last sign, time.monotonic()
        self.pause_seconds = 0.0  # the longest between two signs
        self._quiet_told = 0
        self._was_told = True  # no `on_quiet` before the client's first sign

    def _stir(self):
        now = time.monotonic()
        if self._last is not None:
            self.pause_seconds = max(self.pause_seconds, now - self._last)
        self._last = now
        self._was_told = False

    def at(self, server):
        """The adapter of the data server of this number."""
        return DataServerAdapter(self, server, self._script, self._connections, self._watch)

    def tick(self, now, quiet_ms):
        self._script.on_poll()
        if self._was_told or now - self._last < quiet_ms / 1000 or self._quiet_told >= MOST_QUIET:
            return
        self._was_told = True
        self._quiet_told += 1
        self._script.on_quiet()

    # -- what the server calls -----------------------------------------------------------------

    def on_request(self, step):
        self._stir()
        if len(self._connections) >= MOST_CONNECTIONS:
            step.answer = "keep"
            return
        watch = self._watch()
        conn = ClientConnection(watch, bytes(step.client_data))
        conn.server = self.server
        self._connections.append(conn)
        self._requested = conn
        step.events, step.octets = watch.events, watch.capture
        if self.server is None:
            self._script.on_request(step)
        else:
            self._script.on_data_request(self.server, step)

    def on_optimistic(self, step):
        self._stir()
        if len(self._connections) >= MOST_CONNECTIONS:
            step.rejects = True
            return
        watch = self._watch()
        conn = OptimisticConnection(watch, bytes(step.client_data))
        self._connections.append(conn)
        step.events, step.octets = watch.events, watch.capture
        self._script.on_optimistic(conn, step)

    def on_accepted(self, raw):
        conn = self._requested
        conn.raw = raw
        self._by_number[raw.number] = conn
        self._script.on_accepted(conn)

    def on_arrival(self, raw, message):
        self._stir()
        return self._script.on_arrival(self._by_number[raw.number], message)

    def on_call(self, number, call):
        if self._streams:
            self._stir()
            self._stream(number)
        conn = self._by_number.get(number)
        return None if conn is None else self._script.on_call(conn, call)

    def _stream(self, number):
        """A connection over TCP shows by its calls alone."""
        if number not in self._by_number:
            self._by_number[number] = StreamConnection(number, self.server)

    def on_reply(self, number, call, reply):
        conn = self._by_number.get(number)
        return None if conn is None else self._script.on_reply(conn, call, reply)

    def on_departure(self, raw, departure):
        reply = Reply(self._by_number[raw.number], departure)
        taken = self._script.on_departure(reply)
        if not taken and reply.kind == "reply":
            reply.conn.answered.add(reply.xid)
        return taken

    def on_read(self, raw, number, octets):
        self._script.on_read(self._by_number[raw.number], number, octets)

    def on_down(self, raw, reason):
        self._stir()
        conn = self._by_number.get(raw.number)
        if conn is None:
            return
        conn.reason = reason
        self._script.on_down(conn, reason)


class DataServerAdapter(ScriptAdapter):
    """The same between a data server and the script of its metadata server."""

    def __init__(self, metadata, server, *parts):
        super().__init__(*parts, streams=True)
        self.server, self._metadata = server, metadata

    def _stir(self):
        self._metadata._stir()


def _judge_end(process, hung, source, copy):
    """(kind, detail) of an ended run."""
    completed = not hung and process.status == 0
    fault = copy_fault(source, copy, completed)
    if fault:
        return CORRUPTED, fault
    if hung:
        return HANG, ""
    if process.status < 0:
        return CRASH, f"the client ended with {process.death()}"
    if completed:
        return COMPLETED, ""
    said = process.output().strip().splitlines()
    return REFUSED, f"{process.death()}: {said[-1] if said else 'it wrote nothing'}"
