"""Replies of a hostile client to callbacks (RFC 8167 5, RFC 8881 20.9).

They are malformed, with chunks, too long, repeated, missing, or have a wrong XID or version. The
server goes on serving forward calls, and still accepts the right reply."""

import struct

import pytest

from steertag import rpc, wire
from steertag.suite import ANY, case, expect, kinds
from steertag.suite.exchange.callbacks import cb_results
from ..message_words import either, may_end, may_end_over_reply
from ..nfs4_checks import NFS4, status
from ..reverse_checks import (
    ENDS,
    REVOKED,
    Recall,
    as_outcome,
    due_sequence,
    expect_quiet,
    one_of_two,
    other_slot,
    sequence_of,
    stays_quiet,
)

STILL_SERVES = "RFC8167-4.1-1"
ANSWERED = "RFC8881-2.9.2-3"
NOT_THE_REPLY = "RFC8167-2.4-1"
XID_OF_CALL = "RFC5531-9-1"
# In this direction the server is the requester (RFC 8166 4.5, 4.6.1, 4.2.1).
BAD_HEADER = "RFC8166-4.5-3"
MSGP = "RFC8166-4.6.1-3"
HEADER_ALONE = "RFC8166-4.2.1-2"
CHUNKS = "RFC8267-6.5.2-3"
FAULT_FLAG = "RFC8881-18.46.3-1"
CHANNEL = "RFC8881-2.10.3-1"
# From an answer with NFS4ERR_DELAY to the next try. Ours waits for a second, Linux for two.
AFTER_DELAY_MS = 10_000


def serves(conn):
    """The requirement to go on serving, whatever the client makes of callbacks."""
    return either(conn, STILL_SERVES, ANSWERED)


def expect_serving(bench, session, requirement_id=""):
    """Forward calls are answered here, or on a new connection if this one has ended."""
    conn = session.conn if session.conn.open else bench.connect(callbacks=True)
    outcome = session.exchange("PUTROOTFH", conn=conn, slot=other_slot(session))
    expect(outcome, requirement_id or serves(conn), must=[kinds.REPLY])
    return conn


def expect_given_back(recall, conn):
    """DELEGRETURN succeeds, unless the server has revoked the delegation after such an answer."""
    returned = recall.give_back(conn=conn)
    expect(returned, serves(conn), must=[kinds.REPLY], latitude=REVOKED)


def expect_no_answer(conn, draft, ends=ENDS):
    """The server does not answer a reply, good or bad. It may answer a message that is too short to
    have a direction."""
    shortest = 8  # the RPC XID and msg_type
    short = dict.fromkeys(
        (kinds.ERR_CHUNK, kinds.DENIED), "a message without a direction (RFC 8166 4.5.2)"
    )
    allowed = {**ends, **(short if len(draft.payload) < shortest else {})}
    expect(conn.exchange(draft), serves(conn), must=[kinds.SILENCE], latitude=allowed)


def whole_reply(callback):
    return rpc.Reply(xid=callback.xid).encode(cb_results(callback, {}))


def words(*values):
    return struct.pack(f">{len(values)}I", *values)


# Payloads in place of a reply to CB_COMPOUND: f(callback).
PAYLOADS = {
    "nothing": lambda each: b"",
    "xid-only": lambda each: words(each.xid),
    "header-only": lambda each: words(each.xid, 1),
    "unaligned": lambda each: whole_reply(each)[:30],
    "cut-in-verifier": lambda each: words(each.xid, 1, 0, 0, 400),
    "long-verifier": lambda each: words(each.xid, 1, 0, 0, 0xFFFFFFFC) + bytes(16),
    "no-results": lambda each: rpc.Reply(xid=each.xid).encode(b""),
    "cut-results": lambda each: whole_reply(each)[:-6],
    "trailing": lambda each: whole_reply(each) + bytes(64),
    "many-results": lambda each: rpc.Reply(xid=each.xid).encode(words(0, 0, 0xFFFFFFFF)),
    "other-operation": lambda each: rpc.Reply(xid=each.xid).encode(words(0, 0, 1, 77, 0)),
    "unknown-status": lambda each: rpc.Reply(xid=each.xid).encode(words(99999, 0, 1, 11, 99999)),
    "denied": lambda each: rpc.Reply(
        xid=each.xid, status=rpc.MSG_DENIED, reject_status=rpc.AUTH_ERROR
    ).encode(b""),
    "prog-unavail": lambda each: rpc.Reply(
        xid=each.xid, accept_status=rpc.AcceptStatus.PROG_UNAVAIL
    ).encode(b""),
    "system-err": lambda each: rpc.Reply(
        xid=each.xid, accept_status=rpc.AcceptStatus.SYSTEM_ERR
    ).encode(b""),
    "garbage-args": lambda each: rpc.Reply(
        xid=each.xid, accept_status=rpc.AcceptStatus.GARBAGE_ARGS
    ).encode(b""),
}


# Of these the ones that a client may send: RPC has refused the callback.
RPC_ERRORS = ("denied", "prog-unavail", "system-err", "garbage-args")


def ends_over(name):
    """Latitude to end the connection over such a reply."""
    return {} if name in RPC_ERRORS else ENDS


@case(
    "server.reverse-fault.payload-{name}",
    requirements=[STILL_SERVES, ANSWERED],
    needs=["delegations"],
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("name", PAYLOADS)
def test_payload(bench, name):
    """The reply to a recall is truncated, garbage or an RPC error. This harms only the callback."""
    recall = Recall(bench)
    rule = serves(recall.conn)
    callback = recall.expect_recall(rule)
    message = recall.callbacks.message(callback.xid, PAYLOADS[name](callback))
    expect_no_answer(recall.conn, message, ends_over(name))
    expect_given_back(recall, expect_serving(bench, recall.session))
    recall.expect_open(rule)


@case(
    "server.reverse-fault.null-{name}",
    requirements=[STILL_SERVES, ANSWERED],
    needs=["backchannel"],
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("name", ["nothing", "header-only", "denied", "prog-unavail", "never"])
def test_null(bench, name):
    """The first call on the backchannel gets a wrong answer, or none: the session works."""
    session = bench.nfs4_session(back=True, answers_null=False)
    callback = session.conn.callbacks.wait()
    if callback is None:
        bench.not_testable("the server makes no call before a recall")
    if name != "never":
        payload = PAYLOADS[name](callback)
        message = session.conn.callbacks.message(callback.xid, payload)
        expect_no_answer(session.conn, message, ends_over(name))
    expect_serving(bench, session)


# -- what is not the reply -------------------------------------------------------------------------


def other_xid(recall, callback):
    return recall.callbacks.message(callback.xid ^ 0x40000000, whole_reply(callback))


def other_rpc_xid(recall, callback):
    draft = recall.callbacks.reply_to(callback)
    draft.payload = words(callback.xid ^ 0x40000000) + whole_reply(callback)[4:]
    return draft


def other_header_xid(recall, callback):
    draft = recall.callbacks.reply_to(callback)
    draft.xid ^= 0x40000000
    return draft


def version_two(recall, callback):
    draft = recall.callbacks.reply_to(callback)
    draft.vers = 2
    return draft


def a_call(recall, callback):
    draft = recall.callbacks.reply_to(callback)
    draft.payload = words(callback.xid, 0) + whole_reply(callback)[8:]
    return draft


def bad_type(recall, callback):
    draft = recall.callbacks.reply_to(callback)
    draft.payload = words(callback.xid, 2) + whole_reply(callback)[8:]
    return draft


def msgp(recall, callback):
    draft = recall.callbacks.reply_to(callback)
    draft.proc, draft.align, draft.thresh = wire.Procedure.MSGP, 4, 1024
    return draft


NOT_REPLIES = {
    "other-xid": (NOT_THE_REPLY, other_xid),
    "other-rpc-xid": (BAD_HEADER, other_rpc_xid),
    "other-header-xid": (BAD_HEADER, other_header_xid),
    "version-2": (BAD_HEADER, version_two),
    "msg-type-call": (NOT_THE_REPLY, a_call),
    "msg-type-2": (NOT_THE_REPLY, bad_type),
    "msgp": (MSGP, msgp),
}


@case(
    "server.reverse-fault.{name}",
    requirements=[NOT_THE_REPLY, STILL_SERVES, BAD_HEADER, MSGP, HEADER_ALONE],
    needs=["delegations"],
    hostile=True,
    bugs=["B126"],
)
@pytest.mark.parametrize("name", NOT_REPLIES)
def test_not_the_reply(bench, name):
    """A message that is not the callback's reply does not complete it, and does not end the connection.
    The server has one reverse credit, so it sends no second recall. It accepts the right reply
    afterwards. A server may match by rdma_xid alone, and so accept a reply with another XID inside.
    """
    requirement_id, make = NOT_REPLIES[name]
    recall, callback = one_of_two(bench, requirement_id)
    callbacks = recall.callbacks
    draft = make(recall, callback)
    draft.credit = 8
    before = callbacks.count
    outcome = recall.conn.exchange(draft)
    expected = [kinds.SILENCE, kinds.ERR_CHUNK, kinds.ERR_VERS, "rpc:GARBAGE_ARGS", kinds.DENIED]
    # A msg_type that is none is no reply, and no call that could have one.
    ends = may_end(recall.conn) if name == "msg-type-2" else {}
    expect(outcome, requirement_id, must=expected, latitude=ends)
    if not recall.conn.open:
        expect_serving(bench, recall.session)
        return
    if name == "other-rpc-xid" and not stays_quiet(recall.conn, requirement_id, before):
        bench.latitude(HEADER_ALONE, "the reply to a callback is known by rdma_xid alone")
    else:
        expect_quiet(recall.conn, requirement_id, "callbacks beyond the one that waits", before)
        callbacks.answer(callback)
    if recall.due:
        callbacks.answer(recall.wait(NOT_THE_REPLY))
    recall.expect_done(STILL_SERVES, 0)
    recall.expect_done(STILL_SERVES, 1)


@case(
    "server.reverse-fault.twice",
    requirements=[NOT_THE_REPLY, STILL_SERVES, XID_OF_CALL, ANSWERED],
    needs=["delegations"],
    over=ANY,
    hostile=True,
)
def test_twice(bench):
    """The reply to a recall is sent three times. The server drops the duplicates, and over RDMA the
    connection stays open."""
    recall = Recall(bench)
    rule = either(recall.conn, NOT_THE_REPLY, XID_OF_CALL)
    callback = recall.expect_recall(rule)
    for _ in range(3):
        recall.callbacks.answer(callback)
    outcome = recall.conn.probe()
    expect(outcome, rule, must=[kinds.REPLY], latitude=may_end_over_reply(recall.conn))
    expect_serving(bench, recall.session)


@case(
    "server.reverse-fault.unknown-xid-{count}",
    requirements=[NOT_THE_REPLY, STILL_SERVES, XID_OF_CALL, ANSWERED],
    needs=["backchannel"],
    over=ANY,
    hostile=True,
    bugs=["B126"],
)
@pytest.mark.parametrize("count", [1, 20])
def test_unknown_xid(bench, count):
    """Replies to callbacks that were never sent are dropped, and cost no credit. They do not end the
    connection: the late reply of a slow client looks the same."""
    session = bench.nfs4_session(back=True)
    rule = either(session.conn, NOT_THE_REPLY, XID_OF_CALL)
    payload = rpc.Reply(xid=0x7E000001).encode(b"")
    for _ in range(count):
        session.conn.send(session.conn.callbacks.message(0x7E000001, payload))
        expect(session.conn.probe(), rule, must=[kinds.REPLY])
    expect_serving(bench, session)


@case(
    "server.reverse-fault.never",
    requirements=[STILL_SERVES, ANSWERED],
    needs=["delegations"],
    over=ANY,
    hostile=True,
)
def test_never(bench):
    """No reply arrives. Forward calls of this and of other clients are answered. The server does
    not grant the conflicting OPEN meanwhile."""
    recall = Recall(bench)
    rule = serves(recall.conn)
    recall.expect_recall(rule)
    expect_serving(bench, recall.session)
    expect(bench.connect().probe(), rule, must=[kinds.REPLY])
    recall.expect_waiting(rule)
    # DELEGRETURN counts as an answer.
    recall.expect_done(rule)


# -- chunks, sizes, errors -------------------------------------------------------------------------

CHUNK_LISTS = ("read-list", "write-list", "reply-chunk", "empty-write-chunk", "nomsg")


@case(
    "server.reverse-fault.chunks-{name}",
    requirements=[CHUNKS, STILL_SERVES, "RFC8167-5.3-1"],
    needs=["delegations"],
    hostile=True,
)
@pytest.mark.parametrize("name", CHUNK_LISTS)
def test_chunks(bench, name):
    """A reply to a recall has chunks, although no item of a callback may be reduced. The server
    accepts, refuses or drops it, and serves calls."""
    recall = Recall(bench)
    callback = recall.expect_recall(CHUNKS)
    conn, draft = recall.conn, recall.callbacks.reply_to(callback)
    payload = draft.payload
    offer = conn.offer(len(payload), read=True, write=True, content=payload)
    if name in ("read-list", "nomsg"):
        segment = wire.ReadSegment(position=0, target=offer.segment())
        draft.read_list = [wire.DraftReadEntry(segment=segment)]
    elif name == "write-list":
        draft.write_list = [wire.DraftChunk(segments=[offer.segment()])]
    elif name == "empty-write-chunk":
        draft.write_list = [wire.DraftChunk(segments=[])]
    else:
        draft.reply_chunk = wire.DraftChunk(segments=[offer.segment()])
    if name == "nomsg":
        draft.proc, draft.payload = wire.Procedure.NOMSG, b""
    outcome = conn.exchange(draft)
    taken = {kinds.ERR_CHUNK: "refused", **ENDS}
    expect(outcome, CHUNKS, must=[kinds.SILENCE], latitude=taken)
    expect_serving(bench, recall.session, "RFC8167-5.3-1")


@case(
    "server.reverse-fault.long-{name}",
    requirements=["RFC8167-4.2-1", STILL_SERVES],
    needs=["delegations"],
    hostile=True,
)
@pytest.mark.parametrize("name", ["at-threshold", "above-threshold"])
def test_long(bench, name):
    """A reply of exactly the threshold's size is accepted. A longer one may at most end its
    connection, like any Send that fits no receive."""
    recall = Recall(bench)
    callback = recall.expect_recall("RFC8167-4.2-1")
    draft = recall.callbacks.reply_to(callback)
    most = recall.conn.negotiated.to_server_bytes
    size = most if name == "at-threshold" else most + 4
    draft.payload = bytes(draft.payload).ljust(size - 28, b"\0")
    recall.conn.send(draft)
    outcome = recall.conn.probe()
    if name == "at-threshold":
        expect(outcome, "RFC8167-4.2-1", must=[kinds.REPLY])
    else:
        ended = dict.fromkeys((*kinds.CLOSED, kinds.VIOLATION), "no receive holds it")
        expect(outcome, "RFC8167-4.2-1", must=[kinds.REPLY], latitude=ended)
    expect_given_back(recall, expect_serving(bench, recall.session))


@case(
    "server.reverse-fault.error-{name}",
    requirements=[STILL_SERVES, "RFC8166-4.2.4-5"],
    needs=["delegations"],
    hostile=True,
)
@pytest.mark.parametrize("name", ["chunk", "vers", "unknown-code"])
def test_error(bench, name):
    """The recall is answered with RDMA_ERROR, as a client may (RFC 8167 5.3). The server never answers it, and
    keeps the connection. The call has ended, and the delegation may still be returned."""
    recall = Recall(bench)
    callback = recall.expect_recall(STILL_SERVES)
    draft = wire.Draft()
    draft.xid, draft.credit, draft.proc = callback.xid, 4, wire.Procedure.ERROR
    draft.error = {"chunk": wire.ErrorCode.CHUNK, "vers": wire.ErrorCode.VERS}.get(name, 9)
    draft.vers_low = draft.vers_high = 1
    outcome = recall.conn.exchange(draft)
    expect(outcome, "RFC8166-4.2.4-5", must=[kinds.SILENCE])
    expect_given_back(recall, expect_serving(bench, recall.session))


@case(
    "server.reverse-fault.sequence-delayed",
    requirements=[CHANNEL, STILL_SERVES, ANSWERED],
    needs=["delegations"],
    over=ANY,
)
def test_sequence_delayed(bench):
    """CB_SEQUENCE gets NFS4ERR_DELAY, which leaves the slot as it was (RFC 8881 20.9.3). The next callback in the slot
    has the same sequence ID."""
    recall = Recall(bench)
    session = recall.session
    callback = recall.expect_recall(CHANNEL)
    refused = sequence_of(callback, CHANNEL)
    recall.callbacks.answer(callback, {"CB_SEQUENCE": NFS4.Status.NFS4ERR_DELAY})
    again = recall.look(CHANNEL, 0, AFTER_DELAY_MS)
    if again is None:
        bench.latitude(CHANNEL, "no callback comes after NFS4ERR_DELAY")
        expect_given_back(recall, expect_serving(bench, session))
        return
    sequence = sequence_of(again, CHANNEL)
    slot, due = sequence.csa_slotid, due_sequence(recall.callbacks, again)
    # One that was refused has used no sequence ID.
    due -= int(slot == refused.csa_slotid)
    expect.equal(sequence.csa_sequenceid, due, CHANNEL, "csa_sequenceid", outcome=as_outcome(again))
    recall.callbacks.answer(again)
    recall.expect_done(serves(session.conn))


FAULTS = {
    "bad-session": NFS4.Status.NFS4ERR_BADSESSION,
    "seq-misordered": NFS4.Status.NFS4ERR_SEQ_MISORDERED,
    "bad-slot": NFS4.Status.NFS4ERR_BADSLOT,
}


# RFC 8881 18.37.3, 15.1.1.3: a session with outstanding callbacks.
BUSY = dict.fromkeys(
    (
        status("NFS4ERR_BACK_CHAN_BUSY"),
        status("NFS4ERR_CB_PATH_DOWN"),
        status("NFS4ERR_DELAY"),
    ),
    "callbacks are under way",
)


@case(
    "server.reverse-fault.sequence-{name}",
    requirements=[FAULT_FLAG, STILL_SERVES, ANSWERED],
    needs=["delegations"],
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("name", FAULTS)
def test_sequence_fault(bench, name):
    """CB_SEQUENCE is refused, and the server keeps serving. It may go on, or report the path as
    down and accept another connection for the backchannel. Or it sets
    SEQ4_STATUS_BACKCHANNEL_FAULT, and the client has to destroy the session."""
    recall = Recall(bench)
    session = recall.session
    callback = recall.expect_recall(FAULT_FLAG)
    recall.callbacks.answer(callback, {"CB_SEQUENCE": FAULTS[name]})
    conn = expect_serving(bench, session)
    if session.status_flags & NFS4.SEQ4_STATUS_BACKCHANNEL_FAULT:
        # RFC 8881 18.46.3: only this request is legal now.
        expect(session.destroy(conn), serves(conn), must=[kinds.REPLY], latitude=BUSY)
        return
    down = NFS4.SEQ4_STATUS_CB_PATH_DOWN | NFS4.SEQ4_STATUS_CB_PATH_DOWN_SESSION
    told = "a path that is down instead of a fault"
    bench.latitude(FAULT_FLAG, told if session.status_flags & down else "no fault is reported")
    other = bench.connect(callbacks=True)
    bound = session.bind(other, NFS4.ChannelDirFromClient.CDFC4_BACK_OR_BOTH)
    expect(bound, serves(other), must=[kinds.REPLY])
    served = session.exchange("PUTROOTFH", conn=other)
    expect(served, serves(other), must=[kinds.REPLY])
