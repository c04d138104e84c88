"""References of a file whose delegation is recalled (docs/direct-access.md)."""

from steertag import nfs
from steertag.nfs import direct
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.backchannel import Backchannel, OK
from ..direct_server import BLOCK, DirectServer, use_direct

NFS4 = nfs.nfs4
RECALLED = "ODAFS-23"
# Reads that ours has under way. These blocks have no reference: while RPCs do them it has not come to those behind.
IN_FLIGHT = 2
BY_RPC = range(1, 1 + IN_FLIGHT)


class RecalledInUse(DirectServer):
    """Recalls the delegation of the source at the first READ that the client makes instead of an RDMA Read. The replies
    to its READs wait for the answer. No reference is granted from then on."""

    def __init__(self):
        super().__init__(references=self._without_some)
        self.back = Backchannel(self._recall, self._is_due)
        self.back.post = super().on_departure
        self._is_recalled = False

    @property
    def opened(self):
        """The Step of the OPEN with a read delegation; None without one."""
        for step in self.back.steps:
            opened = step.result("OPEN") if "OPEN" in step else None
            if opened and opened.delegation.delegation_type.name == "OPEN_DELEGATE_READ":
                return step
        return None

    @property
    def is_returned(self):
        """Whether a DELEGRETURN has succeeded."""
        steps = [step for step in self.back.steps if "DELEGRETURN" in step]
        return any(step.reply is not None and int(step.reply.status) == 0 for step in steps)

    def _without_some(self, found, _):
        if self._is_recalled:
            return []
        return [each for each in found if each.offset // BLOCK not in BY_RPC]

    def _is_due(self, reply):
        if reply.kind != "reply" or reply.procedure is None:
            return False
        program, _, procedure = reply.procedure
        is_read = (program, procedure) == (direct.PROGRAM, int(direct.Procedure.READ))
        return is_read and self.granted > 0 and self.opened is not None

    def _recall(self, back):
        step = self.opened
        stateid = step.result("OPEN").delegation.read.stateid
        recall = NFS4.CbRecallArgs(stateid=stateid, truncate=False, fh=_handle(step))
        self._is_recalled = True
        return (yield back.call(("CB_RECALL", recall), number=1))

    def on_departure(self, reply):
        return self.back.on_departure(reply)

    def on_arrival(self, conn, message):
        return self.back.on_arrival(conn, message)

    def on_down(self, conn, reason):
        self.back.on_down(conn, reason)

    def on_quiet(self):
        self.back.on_quiet()


def _handle(step):
    """The handle of the file that the COMPOUND has opened."""
    if "GETFH" in step:
        return bytes(step.result("GETFH").object)
    return bytes(step["PUTFH"].object)


@case("client.direct.recall", requirements=[RECALLED], needs=["client-nfs4.1"])
def test_recall(bench):
    """The delegation is recalled while the client has references that it has not used. The judge sees whether it uses
    one behind its DELEGRETURN."""
    script = RecalledInUse()
    outcome = use_direct(bench, script, own=["--in-flight", str(IN_FLIGHT)])
    expect(outcome, RECALLED, must=[kinds.COMPLETED])
    if not script.granted or not script.opened:
        bench.not_testable("the client asks for no references, or has no read delegation")
    if script.back.not_testable_reason:
        bench.not_testable(script.back.not_testable_reason)
    what = "statuses of CB_SEQUENCE and CB_RECALL"
    expect.equal(script.back.result.statuses, [OK, OK], RECALLED, what, outcome=outcome)
    what = "the delegation goes back"
    expect.true(script.is_returned, RECALLED, what, outcome=outcome)
