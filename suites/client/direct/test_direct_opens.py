"""References of direct access over CLOSE and OPEN."""

from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.client_bench import SOURCE
from steertag.suite.client.script import operations_of
from ..direct_server import DirectServer, use_direct

CLOSED = "ODAFS-22"


class ChangedWhileClosed(DirectServer):
    """The source gets another change attribute at the first CLOSE, before the reply. No reference is granted from
    then on."""

    def __init__(self):
        super().__init__(references=lambda found, reply: [] if self.changed else found)
        self.changed = False
        self._before = 0, 0

    @property
    def again(self):
        """(READs by RPC, RDMA Reads) behind the CLOSE."""
        reads, frames = self._before
        return len(self.reads) - reads, len(self.frame_reads) - frames

    def on_departure(self, reply):
        if not self.changed and self.granted and _closes(reply):
            self.changed = True
            self._before = len(self.reads), len(self.frame_reads)
            self.bench.server.rewrite(SOURCE)
        return super().on_departure(reply)


def _closes(reply):
    if reply.kind != "reply":
        return False
    return any(number.name == "CLOSE" for number, _ in operations_of(reply.rpc_call))


@case(
    "client.direct.changed-while-closed",
    requirements=[CLOSED],
    needs=["client-nfs4.1"],
    hostile=True,
)
def test_changed(bench):
    """The file changes between CLOSE and OPEN, in its change attribute alone. No RDMA Read follows, since the only
    references are older. Ours reads the file twice."""
    script = ChangedWhileClosed()
    outcome = use_direct(bench, script, own=["--twice"])
    reads, frames = script.again
    expect.equal(frames, 0, CLOSED, "RDMA Reads by references of before the CLOSE", outcome=outcome)
    expect(outcome, CLOSED, must=[kinds.COMPLETED])
    if not script.changed or not reads:
        bench.not_testable("the client opens the file once, or asks for no references")
