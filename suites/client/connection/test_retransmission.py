"""A call of NFS version 3 that is not idempotent, repeated after its connection is lost (RFC 1813 4.5)."""

import pytest

from steertag import rpc
from steertag.suite import case, expect
from steertag.suite.client.client_connection import sent_from
from steertag.suite.client.script import NFS, procedure_of, Script
from ..client_verdicts import survives

SAME_REQUEST, RECOVERS = "RFC1813-4.5-4", "RFC8166-4.5.5-1"
CREATE = (NFS, 3, 8)  # RFC 1813 3.3.8
# Of our own client, which uses version 4.1 otherwise.
OWN = ["--nfs", "3"]


class LostCreate(Script):
    """Ends the connection over the first CREATE: instead of its reply, or before the server executes it."""

    def __init__(self, executed):
        self._executed = executed
        self._is_lost = False
        self.creates = []  # Sent, as they came

    @property
    def waits(self):
        return not self._is_lost

    def on_arrival(self, conn, message):
        sent = sent_from(bytes(message))
        if procedure_of(sent.payload) != CREATE:
            return False
        self.creates.append(sent)
        return not self._executed and self._lose(conn)

    def on_departure(self, reply):
        is_create = reply.kind == "reply" and reply.procedure == CREATE
        return self._executed and is_create and self._lose(reply.conn)

    def _lose(self, conn):
        """Whether the connection ends, as it does once."""
        if self._is_lost:
            return False
        self._is_lost = True
        conn.raw.abort()
        return True


def arguments(sent):
    """What the call asks for, whatever its XID and credential are."""
    return bytes(rpc.Call.decode(sent.payload)[1])


@pytest.mark.parametrize("when", ["executed", "not-executed"])
@case("client.loss.create.{when}", requirements=[SAME_REQUEST, RECOVERS], hostile=True)
def test_create(bench, when):
    """The connection ends over the CREATE of a copy, after or before the server has executed it. The client cannot
    tell which, and sends the same request again. Under another XID a server would execute it twice.
    """
    if not bench.client.ours:
        bench.need("client-nfs3")
    script = LostCreate(executed=when == "executed")
    outcome = bench.use(script, own=OWN)
    creates = script.creates
    again = [each for each in creates[1:] if arguments(each) == arguments(creates[0])]
    if again:
        what = "XID of the CREATE that is sent again"
        same = again[0].xid, creates[0].xid
        expect.equal(*same, SAME_REQUEST, what, show=False, outcome=outcome)
    else:
        bench.latitude(SAME_REQUEST, "the CREATE is not sent again")
    # A server that executes it twice refuses the second one.
    if not again or again[0].xid == creates[0].xid:
        survives(bench, outcome, RECOVERS)
