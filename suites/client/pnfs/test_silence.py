"""Data servers that stay silent, and the memory that a client has offered to them (RFC 8881 12.7.6, RFC 8166 4.4.1)."""

import contextlib

import pytest

from steertag import fabric
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import operations_of
from ..call_kinds import SPOILER
from ..memory_use import source, target
from .striped_server import IO, NEEDS, StripedServer, use_striped

LOST, CLOSED = "RFC8881-12.7.6-1", "RFC8166-4.4.1-2"
# The data server that stays silent.
VICTIM = 1
# From a call of our own client to its reply at a data server. Others have times of their own.
OWN = ["--data-server-timeout-ms", "1000"]
USED_OCTETS = 64


class Silent(StripedServer):
    """A data server that answers no call with this operation. Its connection stays up.

    When the octets of such a call go by the metadata server, the memory of that call is used once. This is done over
    the connection on which it was offered. What READ is to fill gets an RDMA Write, what WRITE brings an RDMA Read.
    """

    def __init__(self, name):
        super().__init__()
        self.needs_rdma = True
        self._name = name
        self.unanswered = []  # Reply
        self.probed = None  # the Reply whose memory was used
        self.read = []  # octets that RDMA Reads gave
        self._answered_behind = False
        # Its connection has brought a call behind a reply that left behind the use.
        self.goes_on = False

    def post(self, reply):
        if reply.conn.server != VICTIM:
            return False
        if any(number.name == self._name for number, _ in operations_of(reply.rpc_call)):
            self.unanswered.append(reply)
            return True
        self._answered_behind |= self.probed is not None and reply.conn is self.probed.conn
        return False

    def on_call(self, conn, call):
        before = len(self.calls)
        found = super().on_call(conn, call)
        if self.probed is not None and conn is self.probed.conn:
            self.goes_on |= self._answered_behind
        if conn.server is None and self.probed is None and self._name in IO:
            for made in self.calls[before:]:
                self._probe(made)
        return found

    def _probe(self, made):
        """Uses the memory of the first call without answer that has one of its offsets."""
        wanted = self._offsets(made.operations)
        for reply in self.unanswered:
            if wanted & self._offsets(operations_of(reply.rpc_call)):
                self._use(reply)
                return

    def _offsets(self, operations):
        """Those of its READs, or WRITEs: a COMPOUND may have several."""
        return {arguments.offset for number, arguments in operations if number.name == self._name}

    def _use(self, reply):
        self.probed = reply
        # Without chunks no memory was offered. On a connection that the client has ended, none is open.
        if not reply.stags or not reply.raw.up or reply.offered_again:
            return
        # It may end the connection at the same moment.
        with contextlib.suppress(fabric.FabricError):
            if self._name == "READ":
                segment = target(reply)
                reply.raw.write(SPOILER * USED_OCTETS, segment.handle, segment.offset)
            else:
                segment = source(reply)
                reply.raw.read(segment.handle, segment.offset, USED_OCTETS)

    def on_read(self, conn, number, octets):
        self.read.append(octets)


def _use_silent(bench, name):
    """(script, outcome) of a client that completes."""
    script = Silent(name)
    outcome = use_striped(bench, script, own=OWN)
    expect(outcome, LOST, must=[kinds.COMPLETED])
    if not script.unanswered:
        bench.not_testable(f"the client sends no {name} to that data server")
    return script, outcome


@case("client.pnfs.silent.{name}", requirements=[LOST, CLOSED], needs=NEEDS)
@pytest.mark.parametrize("name", ["read", "write"])
def test_silent(bench, name):
    """A data server answers no READ, or no WRITE. Its part of the file goes by the metadata server. By then the memory
    that was offered to the data server is closed to it."""
    script, outcome = _use_silent(bench, name.upper())
    what = "octets that an RDMA Read of the data server gave"
    expect.equal(len(script.read), 0, CLOSED, what, outcome=outcome)
    what = "calls over the connection behind an RDMA Write into memory of a call that was given up"
    expect.true(name == "write" or not script.goes_on, CLOSED, what, outcome=outcome)
    if script.probed is None:
        bench.not_testable("the client does not turn to the metadata server with the same octets")


@case("client.pnfs.silent.{name}", requirements=[LOST], needs=NEEDS)
@pytest.mark.parametrize("name", ["exchange-id", "commit"])
def test_silent_without_octets(bench, name):
    """A data server does not answer EXCHANGE_ID, or COMMIT. Its part of the file goes by the metadata server."""
    script, outcome = _use_silent(bench, name.upper().replace("-", "_"))
    if name == "exchange-id":
        used = [call for call in script.data_io if call.server == VICTIM]
        what = "READs and WRITEs at a data server that does not answer EXCHANGE_ID"
        expect.equal(len(used), 0, LOST, what, outcome=outcome)
