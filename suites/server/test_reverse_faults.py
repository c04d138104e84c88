"""Replies of a hostile client to callbacks: malformed, with chunks, too long, twice, never, of the wrong
XID or version. The server keeps its forward side, and takes the right reply all the same (RFC 8167 5)."""

import struct

import pytest
from nfs4_checks import NFS4
from reverse_checks import Recall, expect_quiet, with_grant

from steertag import rpc, wire
from steertag.suite import case, expect, kinds
from steertag.suite.callbacks import Callbacks, cb_results

STILL_SERVES = "RFC8167-4.1-1"
NOT_THE_REPLY = "RFC8167-2.4-1"
VERSION = "RFC8167-5.2-2"
SAME_XID = "RFC8167-5.2-3"
CHUNKS = "RFC8267-6.5.2-3"
FAULT_FLAG = "RFC8881-18.46.3-1"
# RFC 8166 4.5 says nothing of how a server takes leave from a client that breaks the rules.
ENDS = dict.fromkeys(kinds.CLOSED, "the connection of a hostile client ends")


def expect_serving(recall, requirement_id=STILL_SERVES):
    """Forward calls are answered, here or on a new connection if this one has ended."""
    conn = recall.conn if recall.conn.open else recall.bench.connect()
    outcome = recall.session.exchange("PUTROOTFH", conn=conn, slot=3)
    expect(outcome, requirement_id, must=[kinds.REPLY])
    return conn


def expect_no_answer(conn, draft):
    """A reply, good or bad, is not answered; a message too short to have a direction may be."""
    shortest = 8  # the RPC XID and msg_type
    short = {kinds.ERR_CHUNK: "a message without a direction (RFC 8166 4.5.2)"}
    allowed = {**ENDS, **(short if len(draft.payload) < shortest else {})}
    expect(conn.exchange(draft), STILL_SERVES, must=[kinds.SILENCE], latitude=allowed)


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


@case(
    "server.reverse-fault.payload-{name}",
    requirements=[STILL_SERVES],
    needs=["delegations"],
    hostile=True,
)
@pytest.mark.parametrize("name", PAYLOADS)
def test_payload(bench, name):
    """A reply to a recall that is cut, garbled or an error of RPC harms nothing but the callback."""
    recall = Recall(bench)
    callback = recall.expect_recall(STILL_SERVES)
    expect_no_answer(recall.conn, recall.callbacks.message(callback.xid, PAYLOADS[name](callback)))
    conn = expect_serving(recall)
    expect(recall.give_back(conn=conn), STILL_SERVES, must=[kinds.REPLY])
    recall.expect_open(STILL_SERVES)


@case(
    "server.reverse-fault.null-{name}",
    requirements=[STILL_SERVES],
    needs=["backchannel"],
    hostile=True,
)
@pytest.mark.parametrize("name", ["nothing", "header-only", "denied", "prog-unavail", "never"])
def test_null(bench, name):
    """The first call on the backchannel is answered wrong, or not at all: the session works."""
    session = bench.nfs4_session(back=True, answers_null=False)
    callback = session.conn.callbacks.wait()
    if callback is None:
        bench.not_testable("the server makes no call before a recall")
    if name != "never":
        payload = PAYLOADS[name](callback)
        expect_no_answer(session.conn, session.conn.callbacks.message(callback.xid, payload))
    outcome = session.exchange("PUTROOTFH")
    expect(outcome, STILL_SERVES, must=[kinds.REPLY])


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
    "other-rpc-xid": (SAME_XID, other_rpc_xid),
    "other-header-xid": (SAME_XID, other_header_xid),
    "version-2": (VERSION, version_two),
    "msg-type-call": ("RFC8167-5.2-4", a_call),
    "msg-type-2": ("RFC8167-5.2-4", bad_type),
    "msgp": (NOT_THE_REPLY, msgp),
}


@case(
    "server.reverse-fault.{name}",
    requirements=sorted({each for each, _ in NOT_REPLIES.values()} | {STILL_SERVES, NOT_THE_REPLY}),
    needs=["delegations"],
    hostile=True,
    bugs=["B126"],
)
@pytest.mark.parametrize("name", NOT_REPLIES)
def test_not_the_reply(bench, name):
    """A message that is not the callback's reply does not complete it: no second recall leaves while
    one reverse credit is all there is, and the right reply is taken after it."""
    requirement_id, make = NOT_REPLIES[name]
    session = with_grant(bench, 1)
    callbacks = session.conn.callbacks
    recall = Recall(bench, session, count=2)
    callback = recall.expect_recall(requirement_id)
    recall.provoke(1)
    draft = make(recall, callback)
    draft.credit = 8
    before = callbacks.count
    outcome = recall.conn.exchange(draft)
    expected = [kinds.SILENCE, kinds.ERR_CHUNK, kinds.ERR_VERS, "rpc:GARBAGE_ARGS", kinds.DENIED]
    expect(outcome, requirement_id, must=expected, latitude=ENDS)
    if not recall.conn.open:
        expect_serving(recall)
        return
    expect_quiet(recall.conn, requirement_id, "callbacks beyond the one that waits", before)
    callbacks.answer(callback)
    following = recall.wait(NOT_THE_REPLY)
    callbacks.answer(following)
    recall.expect_done(STILL_SERVES, 0)
    recall.expect_done(STILL_SERVES, 1)


@case(
    "server.reverse-fault.twice",
    requirements=[NOT_THE_REPLY, STILL_SERVES],
    needs=["delegations"],
    hostile=True,
)
def test_twice(bench):
    """The reply to a recall comes three times: the others are dropped, the connection stays."""
    recall = Recall(bench)
    callback = recall.expect_recall(NOT_THE_REPLY)
    for _ in range(3):
        recall.callbacks.answer(callback)
    outcome = recall.conn.probe()
    expect(outcome, NOT_THE_REPLY, must=[kinds.REPLY], latitude=ENDS)
    expect_serving(recall)


@case(
    "server.reverse-fault.unknown-xid-{count}",
    requirements=[NOT_THE_REPLY, STILL_SERVES],
    needs=["backchannel"],
    hostile=True,
    bugs=["B126"],
)
@pytest.mark.parametrize("count", [1, 20])
def test_unknown_xid(bench, count):
    """Replies to callbacks that were never sent are dropped, and cost no credit."""
    session = bench.nfs4_session(back=True)
    payload = rpc.Reply(xid=0x7E000001).encode(b"")
    for _ in range(count):
        session.conn.send(session.conn.callbacks.message(0x7E000001, payload))
        expect(session.conn.probe(), NOT_THE_REPLY, must=[kinds.REPLY])
    expect(session.exchange("PUTROOTFH"), STILL_SERVES, must=[kinds.REPLY])


@case(
    "server.reverse-fault.never", requirements=[STILL_SERVES], needs=["delegations"], hostile=True
)
def test_never(bench):
    """No reply comes: forward calls of this and of the other client go on, and the writer is told to
    wait instead of being kept waiting."""
    recall = Recall(bench)
    recall.expect_recall(STILL_SERVES)
    expect_serving(recall)
    expect(recall.provoke(), STILL_SERVES, must=["nfs:NFS4ERR_DELAY"])
    # A client that gives back has answered in effect.
    recall.expect_done(STILL_SERVES)


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
    """A reply to a recall has chunks, although nothing of a callback may be reduced: the server reads no
    memory for it, and goes on."""
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
    expect_serving(recall, "RFC8167-5.3-1")


@case(
    "server.reverse-fault.long-{name}",
    requirements=["RFC8167-4.2-1", STILL_SERVES],
    needs=["delegations"],
    hostile=True,
)
@pytest.mark.parametrize("name", ["at-threshold", "above-threshold"])
def test_long(bench, name):
    """A reply of just the threshold's size is taken; of one that is longer only the connection may be
    lost, as with any Send that no receive can hold."""
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
    conn = expect_serving(recall)
    expect(recall.give_back(conn=conn), STILL_SERVES, must=[kinds.REPLY])


@case(
    "server.reverse-fault.error-{name}",
    requirements=[STILL_SERVES, "RFC8166-4.2.4-5"],
    needs=["delegations"],
    hostile=True,
)
@pytest.mark.parametrize("name", ["chunk", "vers", "unknown-code"])
def test_error(bench, name):
    """The recall is answered with RDMA_ERROR, which is never answered itself: the call is over, the
    delegation may still be given back."""
    recall = Recall(bench)
    callback = recall.expect_recall(STILL_SERVES)
    draft = wire.Draft()
    draft.xid, draft.credit, draft.proc = callback.xid, 4, wire.Procedure.ERROR
    draft.error = {"chunk": wire.ErrorCode.CHUNK, "vers": wire.ErrorCode.VERS}.get(name, 9)
    draft.vers_low = draft.vers_high = 1
    outcome = recall.conn.exchange(draft)
    expect(outcome, "RFC8166-4.2.4-5", must=[kinds.SILENCE], latitude=ENDS)
    conn = expect_serving(recall)
    expect(recall.give_back(conn=conn), STILL_SERVES, must=[kinds.REPLY])


FAULTS = {
    "bad-session": NFS4.Status.NFS4ERR_BADSESSION,
    "seq-misordered": NFS4.Status.NFS4ERR_SEQ_MISORDERED,
    "bad-slot": NFS4.Status.NFS4ERR_BADSLOT,
}


@case(
    "server.reverse-fault.sequence-{name}",
    requirements=[FAULT_FLAG, STILL_SERVES],
    needs=["delegations"],
    hostile=True,
)
@pytest.mark.parametrize("name", FAULTS)
def test_sequence_fault(bench, name):
    """CB_SEQUENCE is refused: the server may go on by itself, or tell SEQ4_STATUS_BACKCHANNEL_FAULT, for
    which the client has to destroy the session, or that the path is down. It serves all the same, and
    takes another connection for the backchannel."""
    recall = Recall(bench)
    callback = recall.expect_recall(FAULT_FLAG)
    recall.callbacks.answer(callback, {"CB_SEQUENCE": FAULTS[name]})
    expect_serving(recall)
    flags = recall.session.status_flags
    down = NFS4.SEQ4_STATUS_CB_PATH_DOWN | NFS4.SEQ4_STATUS_CB_PATH_DOWN_SESSION
    if flags & NFS4.SEQ4_STATUS_BACKCHANNEL_FAULT == 0:
        told = "a path that is down instead of a fault" if flags & down else "no fault is told"
        bench.latitude(FAULT_FLAG, told)
    conn = bench.connect(receives=36)
    Callbacks(conn)
    bound = recall.session.bind(conn, NFS4.ChannelDirFromClient.CDFC4_BACK_OR_BOTH)
    expect(bound, STILL_SERVES, must=[kinds.REPLY])
    conn.callbacks.wait_seen(1, bench.deadlines.patience_ms)
    recall.session.run("PUTROOTFH", conn=conn)
    if recall.session.status_flags & NFS4.SEQ4_STATUS_BACKCHANNEL_FAULT:
        bench.latitude(FAULT_FLAG, "the fault lasts as long as the session")
