"""The slot of a request that has failed without a reply to its COMPOUND (RFC 8881 2.10.6.1)."""

import pytest

from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import ERR_CHUNK
from ..asked_again import asked_by
from ..client_verdicts import expect_or
from ..pnfs.striped_server import has_io, NEEDS, StripedServer, use_striped

NEXT = "RFC8881-2.10.6.1-1"
# By name: whether it is the request, of those that a client can do without.
REQUESTS = {
    "layoutget": lambda reply: reply.conn.server is None and has_io(reply, "LAYOUTGET"),
    "getdeviceinfo": lambda reply: reply.conn.server is None and has_io(reply, "GETDEVICEINFO"),
    "data-read": lambda reply: reply.conn.server is not None and has_io(reply, "READ"),
}
REFUSED = "it takes an RDMA_ERROR for the end"
PROBES = "SEQUENCE alone has the same sequence id, which shows whether the request was executed"


class Unanswered(StripedServer):
    """One request is executed, and gets an RDMA_ERROR in the place of its reply. Keeps what comes next in its slot."""

    def __init__(self, is_wanted):
        super().__init__()
        self.needs_rdma = True
        self._is_wanted = is_wanted
        self.failed = None  # Sequence
        self._asked = None
        self.later = []  # (Sequence, whether it asks for the same, whether it asks for anything)

    @property
    def waits(self):
        return self.failed is None

    def post(self, reply):
        sequence = reply.sequence if reply.kind == "reply" else None
        if sequence is None:
            return False
        if self.failed is not None:
            self._note(reply, sequence)
            return False
        if not self._is_wanted(reply):
            return False
        self.failed, self._asked = sequence, asked_by(reply)
        reply.send_mutated(ERR_CHUNK)
        return True

    def _note(self, reply, sequence):
        if self.failed.same_slot(sequence):
            asked = asked_by(reply)
            self.later.append((sequence, asked == self._asked, len(asked) > 0))


@pytest.mark.parametrize("name", REQUESTS)
@case("client.session.unanswered-slot.{name}", requirements=[NEXT], needs=NEEDS)
def test_unanswered_slot(bench, name):
    """A request is executed, and has an RDMA_ERROR for an answer. The sequence id of its slot is used up. Whoever uses
    the slot for another request takes the next one, and whoever cannot know leaves the slot alone.
    """
    script = Unanswered(REQUESTS[name])
    outcome = use_striped(bench, script)
    for sequence, same, any_asked in script.later[:1]:
        if sequence.number == script.failed.number and not any_asked and not bench.client.ours:
            bench.latitude(NEXT, PROBES)
        elif not same:
            number = (script.failed.number + 1) & 0xFFFFFFFF
            what = "the sequence id of another request behind one that had no reply"
            expect.equal(sequence.number, number, NEXT, what, outcome=outcome)
    expect_or(bench, outcome, NEXT, kinds.COMPLETED, {kinds.REFUSED: REFUSED})
