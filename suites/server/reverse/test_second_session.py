"""The backchannels of one client's sessions are apart: each has its program and its slots (RFC 8881 2.10.3, 18.36.3)."""

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.nfs4_client import CALLBACK_PROGRAM
from ..reverse_checks import BACK, Recall, sequence_of

PROGRAM, FIRST = "RFC8881-18.36.3-10", "RFC8881-18.36.3-15"
OTHER_PROGRAM = CALLBACK_PROGRAM + 1


@case(
    "server.reverse.second-session", requirements=[PROGRAM, FIRST], needs=["delegations"], over=ANY
)
def test_second_session(bench):
    """A delegation is recalled in a client's first session. Then the client has a second one, with another program for
    callbacks, and destroys the first. The next recall calls the new program, and is the first call of its slot.
    """
    before = Recall(bench)
    before.callbacks.answer(before.expect_recall(PROGRAM))
    before.expect_done(PROGRAM)
    client = before.session.client
    made = client.create_session(csa_flags=BACK, csa_cb_program=OTHER_PROGRAM)
    expect(made, PROGRAM, must=[kinds.REPLY])
    session = client.sessions[-1]
    expect(before.session.destroy(), PROGRAM, must=[kinds.REPLY])
    seen = len(before.callbacks.seen)
    recall = Recall(bench, session)
    callback = recall.expect_recall(PROGRAM)
    what = "program number of a recall in the second session"
    expect.equal(callback.rpc.program, OTHER_PROGRAM, PROGRAM, what)
    slot = sequence_of(callback, FIRST).csa_slotid
    earlier = [each for each in recall.callbacks.seen[seen:] if "CB_SEQUENCE" in each]
    used = [each for each in earlier if each["CB_SEQUENCE"].csa_slotid == slot]
    number = sequence_of(used[0], FIRST).csa_sequenceid
    what = "csa_sequenceid of the first callback in a slot of the second session"
    expect.equal(number, 1, FIRST, what)
    recall.callbacks.answer(callback)
    recall.expect_done(PROGRAM)
