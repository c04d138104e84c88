"""What cases on callbacks share: harmless callbacks, and the scripts that make them (RFC 8881 20)."""

from steertag import nfs
from steertag.suite import expect
from steertag.suite.client.backchannel import Backchannel, OK
from steertag.suite.client.script import is_read
from .client_verdicts import stays

NFS4 = nfs.nfs4
SEQUENCE, CACHED = "RFC8881-20.9.3-2", "RFC8881-20.9.3-7"
MISORDERED = "NFS4ERR_SEQ_MISORDERED"
NEEDS = ["client-nfs4.1", "client-backchannel"]
# The reply to the callbacks of these cases, with room: below it a client need not keep any.
KEPT_OCTETS = 256
UNPROVEN = "the client does not take a callback that every client takes"
KEEPS_NOTHING = "the client has no room for replies to callbacks that are to be kept"


def recall_nothing():
    """CB_RECALL of a delegation that does not exist: the client executes it, without effect."""
    stateid = NFS4.StateId(seqid=1, other=b"\xd0" * 12)
    return "CB_RECALL", NFS4.CbRecallArgs(stateid=stateid, truncate=False, fh=b"\xd0" * 16)


def recall_slots(highest):
    return "CB_RECALL_SLOT", NFS4.CbRecallSlotArgs(rsa_target_highest_slotid=highest)


def run_callbacks(bench, callbacks, requirement_id, when=is_read, **settings):
    """(Backchannel, ClientOutcome) of a script of callbacks; the case ends if it could not run to its end. A
    client that ends the connection meanwhile breaks the requirement."""
    back = Backchannel(callbacks, when, **settings)
    outcome = bench.use(back)
    stays(back, outcome, requirement_id)
    if back.not_testable_reason:
        bench.not_testable(back.not_testable_reason)
    return back, outcome


def proven(back):
    """A callback that every client takes, number 1 of slot 0; whether it did."""
    answer = yield back.call(number=1)
    return answer.status() == OK


def keeps(back):
    """Whether the client has room for the reply to such a callback that is to be kept."""
    return back.asked.csa_back_chan_attrs.ca_maxresponsesize_cached >= KEPT_OCTETS


def judge_retry(bench, first, second, kept, outcome):
    """The answers to a callback of two operations and to its retry. What was to be kept the client has to
    keep."""
    if second.kept == first.kept and second.kept:
        return
    # RFC 8881 2.10.6.1.3: a reply that was not to be kept may be gone. Then the second operation
    # has this status, or another with which it has no effect.
    statuses = second.statuses
    if not kept and len(statuses) == 2 and statuses[0] == OK and statuses[1] != OK:
        bench.latitude(SEQUENCE, "it does not keep a reply to a callback that need not be kept")
    else:
        what = "the retry of a callback has the reply of the first time"
        expect.true(False, CACHED if kept else SEQUENCE, what, outcome=outcome)
