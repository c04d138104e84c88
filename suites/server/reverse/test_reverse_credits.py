"""XIDs and credits of the reverse direction (RFC 8167 2.4, 4.1).

They are independent of those of the forward direction."""

import pytest

from steertag import rpc, wire
from steertag.suite import case, expect, kinds
from steertag.suite.nfs_client.nfs4_client import backchannel
from ..reverse_checks import Recall, as_outcome, expect_quiet, one_of_two, other_slot, with_grant

BOTH_WAYS = "RFC8167-2.4.1-1"
BY_DIRECTION = "RFC8167-2.4-1"
SEPARATE = "RFC8167-4.1-1"
REVERSE_GRANT = "RFC8167-4.1-2"


@case(
    "server.reverse.equal-xids-{order}",
    requirements=[BOTH_WAYS, BY_DIRECTION],
    needs=["delegations"],
)
@pytest.mark.parametrize("order", ["forward-first", "reverse-first", "pipelined"])
def test_equal_xids(bench, order):
    """A forward call has the XID of an outstanding callback. They are two transactions. Both
    complete, in either order of replies."""
    recall = Recall(bench)
    conn = recall.conn
    callback = recall.expect_recall(BY_DIRECTION)
    call = conn.rpc_call(100003, 3, 0, xid=callback.xid)
    if order == "reverse-first":
        recall.callbacks.answer(callback)
    if order == "pipelined":
        conn.send(call)
        recall.callbacks.answer(callback)
        outcome = conn.await_outcome(call)
    else:
        outcome = conn.exchange(call)
    expect(outcome, BOTH_WAYS, must=[kinds.REPLY])
    expect.equal(outcome.xid, callback.xid, BY_DIRECTION, "XID", show=False, outcome=outcome)
    if order == "forward-first":
        recall.callbacks.answer(callback)
    recall.expect_done(BOTH_WAYS)


@case(
    "server.reverse.forward-call-as-reply",
    requirements=[BY_DIRECTION, BOTH_WAYS],
    needs=["delegations"],
    hostile=True,
)
def test_call_with_xid_of_callback(bench):
    """A COMPOUND with the XID of an outstanding callback is a call. It does not answer the
    callback."""
    recall = Recall(bench)
    callback = recall.expect_recall(BY_DIRECTION)
    call = recall.session.call("PUTROOTFH", slot=other_slot(recall.session))
    whole = rpc.Call.decode(call.whole)[1]
    same = recall.conn.rpc_call(
        call.program, call.version, call.procedure, whole, recall.conn.credential, callback.xid
    )
    outcome = recall.conn.exchange(same)
    expect(outcome, BY_DIRECTION, must=[kinds.REPLY])
    expect.equal(len(outcome.result.results), 2, BY_DIRECTION, "results", outcome=outcome)
    recall.callbacks.answer(callback)
    recall.expect_done(BOTH_WAYS)


@case(
    "server.reverse.forward-while-held",
    requirements=[SEPARATE, "RFC8167-4.1-4", "RFC8167-4.3.2-1"],
    needs=["delegations"],
)
def test_forward_while_held(bench):
    """While a callback is outstanding, a full window of forward calls is answered at once. A second
    window is sent together with that reply, which grants one reverse credit."""
    recall = Recall(bench)
    conn = recall.conn
    callback = recall.expect_recall(SEPARATE)
    for again in range(2):
        calls = [conn.null_call() for _ in range(conn.window)]
        for number, call in enumerate(calls):
            conn.send(call)
            if again and number == len(calls) // 2:
                draft = recall.callbacks.reply_to(callback)
                draft.credit = 1
                conn.send(draft)
        requirement_id = "RFC8167-4.3.2-1" if again else SEPARATE
        for outcome in conn.collect_sent(calls).values():
            expect(outcome, requirement_id, must=[kinds.REPLY])
            expect.at_least(outcome.header.credit, 1, "RFC8167-4.1-4", "forward grant", outcome)
    recall.expect_done(SEPARATE)


@case(
    "server.reverse.reverse-grant-{grant}",
    requirements=[REVERSE_GRANT, SEPARATE, "RFC8167-4.3-1", "RFC8167-4.1-3"],
    needs=["delegations"],
)
@pytest.mark.parametrize("grant", [1, 2])
def test_reverse_grant(bench, grant):
    """No more callbacks are outstanding than the client grants. Three recalls are due, and each
    waits for a credit."""
    session = with_grant(bench, grant, csa_back_chan_attrs=backchannel(ca_maxrequests=4))
    hold_to_grant(bench, session, grant)
    conn = session.conn
    # Our reverse grants and the server's forward grants are independent.
    calls = [conn.null_call() for _ in range(conn.window)]
    for outcome in conn.collect(calls).values():
        expect(outcome, "RFC8167-4.1-3", must=[kinds.REPLY])
    # A Send without a receive would have ended the connection.
    expect(conn.probe(), "RFC8167-4.3-1", must=[kinds.REPLY])


@case(
    "server.reverse.reverse-grant-none",
    requirements=[REVERSE_GRANT, SEPARATE],
    needs=["delegations"],
    hostile=True,
)
def test_no_reverse_grant(bench):
    """A reverse reply grants zero credits. To avoid a deadlock, as in the forward direction, the
    server goes on with one callback at a time."""
    session = with_grant(bench, 0, csa_back_chan_attrs=backchannel(ca_maxrequests=4))
    hold_to_grant(bench, session, 0)


def hold_to_grant(bench, session, grant):
    """Three recalls are due. No more than granted are outstanding at a time, and all arrive."""
    callbacks = session.conn.callbacks
    recall = Recall(bench, session, count=3)
    for number in range(3):
        recall.provoke(number)
    allowed = max(1, grant)
    # A server may use fewer credits, and call one at a time (RFC 8166 3.3.1).
    waiting = recall.look(REVERSE_GRANT)
    while waiting is not None:
        for _ in range(2):
            expect(recall.conn.probe(), REVERSE_GRANT, must=[kinds.REPLY])
        above = callbacks.kept[allowed - 1] if len(callbacks.kept) >= allowed else None
        under_way, outcome = 1 + len(callbacks.kept), as_outcome(above)
        expect.at_most(under_way, allowed, REVERSE_GRANT, "callbacks under way", outcome=outcome)
        callbacks.answer(waiting)
        waiting = recall.look(REVERSE_GRANT) if recall.due else None
    if recall.due and grant == 0:
        # RFC 8166 3.3.1 forbids such a grant and does not say what it means.
        bench.latitude(REVERSE_GRANT, "no callback after a grant of nothing")
        return
    expect.true(not recall.due, REVERSE_GRANT, "every delegation is recalled")
    for number in range(3):
        recall.expect_done(SEPARATE, number)


# Callbacks that are due, and the grant that the first of them find. Servers offer few slots for callbacks.
DUE, AT_FIRST = 6, 4


@case("server.reverse.grant-falls", requirements=[REVERSE_GRANT, SEPARATE], needs=["delegations"])
def test_grant_falls(bench):
    """The client grants four callbacks, and one in every answer after that. While as many are under way as are granted,
    no further one comes."""
    channel = backchannel(ca_maxrequests=AT_FIRST)
    session = with_grant(bench, AT_FIRST, csa_back_chan_attrs=channel)
    callbacks = session.conn.callbacks
    recall = Recall(bench, session, count=DUE)
    for number in range(DUE):
        recall.provoke(number)
    callbacks.configure(credits=1)
    waiting = recall.wait(REVERSE_GRANT)
    if not callbacks.kept:
        bench.not_testable("the server has one callback under way at a time")
    while waiting is not None:
        allowed = max(1, len(callbacks.kept))
        callbacks.answer(waiting)
        for _ in range(2):
            expect(recall.conn.probe(), REVERSE_GRANT, must=[kinds.REPLY])
        under_way = len(callbacks.kept)
        above = as_outcome(callbacks.kept[allowed]) if under_way > allowed else None
        what = "callbacks under way behind an answer that grants one"
        expect.at_most(under_way, allowed, REVERSE_GRANT, what, outcome=above)
        waiting = recall.look(REVERSE_GRANT) if recall.due else None
    expect.true(not recall.due, REVERSE_GRANT, "every delegation is recalled")
    for number in range(DUE):
        recall.expect_done(SEPARATE, number)


@case(
    "server.reverse.ignored-credits-{name}",
    requirements=["RFC8167-4.1-5", REVERSE_GRANT],
    needs=["delegations"],
    hostile=True,
)
@pytest.mark.parametrize("name", ["error", "done", "unknown-proc", "no-payload", "bad-type"])
def test_ignored_credits(bench, name):
    """A credit word in a message without a direction grants nothing, although it says 1000. The
    server sends no second callback while the first is outstanding."""
    recall, first = one_of_two(bench, REVERSE_GRANT)
    conn, callbacks = recall.conn, recall.callbacks
    draft = wire.Draft()
    draft.xid, draft.credit = 0x7E000000, 1000
    if name == "error":
        draft.proc, draft.error = wire.Procedure.ERROR, wire.ErrorCode.CHUNK
    elif name == "done":
        draft.proc = wire.Procedure.DONE
    elif name == "unknown-proc":
        draft.proc = 77
    elif name == "bad-type":
        draft.payload = (0x7E000000).to_bytes(4, "big") + (2).to_bytes(4, "big") + bytes(16)
    before = callbacks.count
    conn.exchange(draft)
    if not conn.open:
        bench.latitude("RFC8167-4.1-5", "the connection of a hostile client ends")
        return
    expect_quiet(conn, "RFC8167-4.1-5", "callbacks beyond the grant", before)
    callbacks.answer(first)
    callbacks.answer(recall.wait(REVERSE_GRANT))
