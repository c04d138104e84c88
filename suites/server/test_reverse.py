"""The reverse direction: what the server's calls look like, when they come, their XIDs and credits
(RFC 8167, RFC 8881 20.9, RFC 8267 6.5)."""

import pytest
from nfs4_checks import BACK, NFS4, READ, WANT_READ, WRITE
from reverse_checks import Recall, expect_quiet, with_grant

from steertag import rpc, wire
from steertag.suite import case, expect, kinds
from steertag.suite.callbacks import Callbacks
from steertag.suite.nfs4_client import (
    CALLBACK_PROGRAM,
    NO_CREDENTIAL,
    back_channel,
    putfh,
    sys_credential,
)

CALL_HEADER = ("RFC8167-5.1-1", "RFC8167-5.1-2", "RFC8167-5.1-3", "RFC8167-5.1-4")
PLAIN = "RFC8167-5.3-2"
NO_CHUNKS = ("RFC8267-6.5.2-3", "RFC8167-7-1")
READY = "RFC8167-6-1"
BOTH_WAYS = "RFC8167-2.4.1-1"
SEPARATE = "RFC8167-4.1-1"
REVERSE_GRANT = "RFC8167-4.1-2"
RECALLED = "RFC8267-6.5.2-1"
VERSION = "RFC8881-18.36.3-10"
FIRST = "RFC8881-20.9.3-1"
SECURITY = "RFC8881-2.10.8.2-1"


def expect_reverse_call(callback):
    """The words of a call in the reverse direction, and that it is a plain short message."""
    header = callback.header
    expect.equal(header.vers, 1, "RFC8167-5.1-2", "rdma_vers of a reverse call")
    expect.at_least(header.credit, 1, "RFC8167-5.1-1", "reverse credits that are asked for")
    same = rpc.xid(callback.payload) == header.xid
    expect.true(same, "RFC8167-5.1-3", "the RPC call starts with rdma_xid")
    direction = rpc.direction(callback.payload)
    expect.equal(direction, rpc.MessageType.CALL, "RFC8167-5.1-4", "msg_type")
    expect.equal(header.proc, wire.Procedure.MSG, PLAIN, "rdma_proc of a callback")
    chunks = len(header.read_list) + len(header.write_list) + (header.reply_chunk is not None)
    expect.equal(chunks, 0, "RFC8267-6.5.2-3", "chunks of a callback")
    reduced = [each.position for each in header.read_list if each.position]
    expect.equal(reduced, [], "RFC8167-7-1", "reduced items of a callback")


@case(
    "server.reverse.null",
    requirements=[*CALL_HEADER, PLAIN, *NO_CHUNKS, VERSION, "RFC8167-3.2-1"],
    needs=["backchannel"],
)
def test_null(bench):
    """Whatever the server calls first on its new backchannel is a sound call of the client's program."""
    session = bench.nfs4_session(back=True)
    callbacks = session.conn.callbacks
    if not callbacks.wait_seen(1, bench.deadlines.patience_ms):
        # Not before it is needed, then.
        callbacks.answer(Recall(bench, session).expect_recall("RFC8167-3.2-1"))
    for callback in callbacks.seen:
        expect_reverse_call(callback)
        expect.equal(callback.rpc.program, CALLBACK_PROGRAM, VERSION, "program of a callback")
        expect.one_of(callback.rpc.version, (1, 4), VERSION, "version of the callback program")
    expect.at_least(callbacks.count, 1, "RFC8167-3.2-1", "calls after the announcement")


@case(
    "server.reverse.recall",
    requirements=[
        *CALL_HEADER,
        PLAIN,
        *NO_CHUNKS,
        RECALLED,
        FIRST,
        VERSION,
        "RFC8881-2.10.3-1",
    ],
    needs=["delegations"],
)
def test_recall(bench):
    """A conflicting OPEN recalls a delegation: CB_SEQUENCE of the session first, then CB_RECALL with the
    delegation's stateid; after DELEGRETURN the other client has the file."""
    recall = Recall(bench)
    callback = recall.expect_recall(RECALLED)
    expect_reverse_call(callback)
    expect.equal(callback.fixed.minorversion, 1, VERSION, "minor version of CB_COMPOUND")
    names = [number.name for number, _ in callback.operations]
    expect.equal(names[:1], ["CB_SEQUENCE"], FIRST, "first operation of the recall")
    expect.equal(names.count("CB_SEQUENCE"), 1, FIRST, "CB_SEQUENCEs of the recall")
    expect.true("CB_RECALL" in names, RECALLED, "there is a CB_RECALL")
    sequence = callback["CB_SEQUENCE"]
    mine = sequence.csa_sessionid == recall.session.id
    expect.true(mine, "RFC8881-2.10.3-1", "CB_SEQUENCE names the session")
    expect.equal(sequence.csa_sequenceid, 1, "RFC8881-2.10.3-1", "first csa_sequenceid")
    same = callback["CB_RECALL"].stateid.other == recall.stateids[0].other
    expect.true(same, RECALLED, "the recall names the delegation's stateid")
    recall.callbacks.answer(callback)
    recall.expect_done(RECALLED)


@case(
    "server.reverse.sequence",
    requirements=[FIRST, "RFC8881-2.10.3-1", "RFC8167-2.4-1"],
    needs=["delegations"],
)
def test_sequence_ids(bench):
    """Three recalls one after the other: each slot counts its own sequence IDs from 1. XIDs may come
    again after their calls are over (RFC 8167 2.4)."""
    recall = Recall(bench, count=3)
    used = {}
    for number in range(3):
        callback = recall.expect_recall(FIRST, number)
        sequence = callback["CB_SEQUENCE"]
        following = used.get(sequence.csa_slotid, 0) + 1
        expect.equal(sequence.csa_sequenceid, following, "RFC8881-2.10.3-1", "csa_sequenceid")
        used[sequence.csa_slotid] = following
        at_least = sequence.csa_highest_slotid >= sequence.csa_slotid
        expect.true(at_least, "RFC8881-2.10.3-1", "csa_highest_slotid covers the slot")
        recall.callbacks.answer(callback)
        recall.expect_done(FIRST, number)
    xids = [each.xid for each in recall.callbacks.seen]
    if len(set(xids)) < len(xids):
        bench.latitude("RFC8167-2.4-1", "an XID comes again after its call is over")


@case(
    "server.reverse.referring-call-{name}",
    requirements=["RFC8881-2.10.6.3-1"],
    needs=["delegations"],
)
@pytest.mark.parametrize("name", ["unseen", "seen"])
def test_referring_call(bench, name):
    """A recall names the request that granted the delegation as long as its slot was not used again:
    until then the server does not know that the client has seen the grant. Later it need not."""
    rule = "RFC8881-2.10.6.3-1"
    session = bench.nfs4_session(back=True)
    recall = Recall(bench, session, slot=3)
    sequence = session.sequences[3]
    if name == "seen":
        session.run("PUTROOTFH", slot=3)
    callback = recall.expect_recall(rule)
    lists = callback["CB_SEQUENCE"].csa_referring_call_lists
    named = [
        (each.rcl_sessionid, call.rc_slotid, call.rc_sequenceid)
        for each in lists
        for call in each.rcl_referring_calls
    ]
    grant = (session.id, 3, sequence)
    if name == "unseen":
        expect.true(grant in named, rule, "the recall refers to the OPEN that granted")
    elif grant in named:
        bench.latitude(rule, "a referring call that is over")
    recall.callbacks.answer(callback)
    recall.expect_done(rule)


CREDENTIALS = {
    "none": [NO_CREDENTIAL],
    "sys": [sys_credential(uid=1234, gid=99)],
    "none-or-sys": [NO_CREDENTIAL, sys_credential(uid=1234)],
}


@case(
    "server.reverse.credential-{name}",
    requirements=[SECURITY, "RFC8167-8-1"],
    needs=["backchannel"],
)
@pytest.mark.parametrize("name", CREDENTIALS)
def test_credential(bench, name):
    """Callbacks carry a credential that csa_sec_parms offers, whatever flavour the forward calls have."""
    offered = CREDENTIALS[name]
    session = bench.nfs4_session(back=True, csa_sec_parms=offered)
    recall = Recall(bench, session)
    recall.callbacks.answer(recall.expect_recall(SECURITY))
    for callback in recall.callbacks.seen:
        credential = callback.rpc.credential
        allowed = [int(each.cb_secflavor) for each in offered]
        expect.one_of(int(credential.flavor), allowed, SECURITY, "flavour of a callback")
        if credential.flavor == rpc.AuthFlavor.AUTH_SYS:
            uid = rpc.AuthSys.decode(credential.body).uid
            expect.equal(uid, 1234, "RFC8167-8-1", "uid of a callback")


# -- when ------------------------------------------------------------------------------------------


@case("server.reverse.not-announced-{name}", requirements=[READY, RECALLED], needs=["backchannel"])
@pytest.mark.parametrize("name", ["session", "client-id", "connection"])
def test_not_announced(bench, name):
    """Nothing is called on a connection of which nobody said that it is a backchannel, also while
    another client's open conflicts with one of ours."""
    conn = bench.connect(receives=36)
    Callbacks(conn)
    if name == "client-id":
        bench.nfs4_client(conn).exchange_id()
    elif name == "session":
        session = bench.nfs4_session(conn, csa_flags=0)
        files = bench.nfs4_files(session)
        stem = bench.name("opened")
        bench.file(b"content", stem)
        session.open(files.directory, stem, READ | WANT_READ)
        other = bench.nfs4_session()
        base = bench.nfs4_files(other).directory
        other.exchange(putfh(base), other.open_operation(stem, WRITE, b"writer"))
    expect_quiet(conn, READY, "calls of the server")


@case(
    "server.reverse.fore-only-connection",
    requirements=[READY, "RFC8881-18.34.3-2"],
    needs=["delegations"],
)
def test_fore_only_connection(bench):
    """A second connection that is bound to the fore channel alone gets no callback; the backchannel's
    does."""
    recall = Recall(bench)
    other = bench.connect(receives=36)
    Callbacks(other)
    bound = recall.session.bind(other, NFS4.ChannelDirFromClient.CDFC4_FORE)
    expect(bound, "RFC8881-18.34.3-2", must=[kinds.REPLY])
    direction = bound.result["BIND_CONN_TO_SESSION"].resok4.bctsr_dir
    expect.equal(direction.name, "CDFS4_FORE", "RFC8881-18.34.3-2", "direction", outcome=bound)
    recall.callbacks.answer(recall.expect_recall(READY))
    expect_quiet(other, READY, "callbacks on the fore connection")
    recall.expect_done(READY)


@case(
    "server.reverse.other-connection-{name}",
    requirements=["RFC8881-18.34.3-2", RECALLED, READY],
    needs=["delegations"],
)
@pytest.mark.parametrize("name", ["back", "back-or-both", "fore-or-both"])
def test_other_connection(bench, name):
    """A session without backchannel gets one by BIND_CONN_TO_SESSION of another connection: callbacks
    come there and not on the first one."""
    direction = name.upper().replace("-", "_")
    first = bench.connect(receives=36)
    Callbacks(first)
    session = bench.nfs4_session(first)
    conn = bench.connect(receives=36)
    Callbacks(conn)
    bound = session.bind(conn, NFS4.ChannelDirFromClient[f"CDFC4_{direction}"])
    expect(bound, "RFC8881-18.34.3-2", must=[kinds.REPLY])
    given = bound.result["BIND_CONN_TO_SESSION"].resok4.bctsr_dir.name
    legal = {"BACK": ["CDFS4_BACK"], "BACK_OR_BOTH": ["CDFS4_BACK", "CDFS4_BOTH"]}
    wanted = legal.get(direction, ["CDFS4_FORE", "CDFS4_BOTH"])
    expect.one_of(given, wanted, "RFC8881-18.34.3-2", "bctsr_dir", outcome=bound)
    if given == "CDFS4_FORE":
        bench.latitude("RFC8881-18.34.3-2", "FORE_OR_BOTH is granted as FORE")
        return
    conn.callbacks.wait_seen(1, bench.deadlines.patience_ms)
    recall = Recall(bench, session)
    recall.provoke()
    callback = conn.callbacks.wait()
    expect.true(callback is not None, RECALLED, "the recall comes on the bound connection")
    conn.callbacks.answer(callback)
    expect.equal(first.callbacks.count, 0, READY, "callbacks on the connection without backchannel")
    recall.expect_done(RECALLED)


# -- XIDs and credits ------------------------------------------------------------------------------


@case(
    "server.reverse.equal-xids-{order}",
    requirements=[BOTH_WAYS, "RFC8167-2.4-1"],
    needs=["delegations"],
)
@pytest.mark.parametrize("order", ["forward-first", "reverse-first", "pipelined"])
def test_equal_xids(bench, order):
    """A forward call has the XID of a callback that waits for its reply: they are two transactions, and
    both are completed, whichever is answered first."""
    recall = Recall(bench)
    conn = recall.conn
    callback = recall.expect_recall(BOTH_WAYS)
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
    expect.equal(outcome.xid, callback.xid, BOTH_WAYS, "XID", show=False, outcome=outcome)
    if order == "forward-first":
        recall.callbacks.answer(callback)
    recall.expect_done(BOTH_WAYS)


@case(
    "server.reverse.forward-call-as-reply",
    requirements=["RFC8167-5.2-4", BOTH_WAYS],
    needs=["delegations"],
    hostile=True,
)
def test_call_with_xid_of_callback(bench):
    """A COMPOUND with the XID of a pending callback is a call, and does not answer the callback."""
    recall = Recall(bench)
    callback = recall.expect_recall("RFC8167-5.2-4")
    call = recall.session.call("PUTROOTFH", slot=2)
    whole = rpc.Call.decode(call.whole)[1]
    same = recall.conn.rpc_call(
        call.program, call.version, call.procedure, whole, recall.conn.credential, callback.xid
    )
    outcome = recall.conn.exchange(same)
    expect(outcome, "RFC8167-5.2-4", must=[kinds.REPLY])
    expect.equal(len(outcome.result.results), 2, BOTH_WAYS, "results", outcome=outcome)
    recall.callbacks.answer(callback)
    recall.expect_done(BOTH_WAYS)


@case(
    "server.reverse.forward-while-held",
    requirements=[SEPARATE, "RFC8167-4.1-4", "RFC8167-4.3.2-1"],
    needs=["delegations"],
)
def test_forward_while_held(bench):
    """While a callback waits for its reply, as many forward calls as granted are answered at once, and
    again together with that reply, which grants one reverse credit."""
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
    """No more callbacks are under way than the client grants: three are due, each waits for its turn."""
    conn = hold_to_grant(bench, grant)
    # Our reverse grants and the server's forward ones have nothing to do with each other.
    calls = [conn.null_call() for _ in range(conn.window)]
    for outcome in conn.collect(calls).values():
        expect(outcome, "RFC8167-4.1-3", must=[kinds.REPLY])
    expect.true(conn.open, "RFC8167-4.3-1", "no Send met a peer without a receive")


@case(
    "server.reverse.reverse-grant-none",
    requirements=[REVERSE_GRANT, SEPARATE],
    needs=["delegations"],
    hostile=True,
)
def test_no_reverse_grant(bench):
    """A reverse reply that grants nothing: as in the other direction that would be a deadlock, so one
    callback at a time goes on."""
    hold_to_grant(bench, 0)


def hold_to_grant(bench, grant):
    session = with_grant(bench, grant, csa_back_chan_attrs=back_channel(ca_maxrequests=4))
    callbacks = session.conn.callbacks
    recall = Recall(bench, session, count=3)
    for number in range(3):
        recall.provoke(number)
    allowed = max(1, grant)
    # It need not use all that it may: a server may call one at a time (RFC 8166 3.3.1).
    waiting = [callbacks.wait()]
    if waiting == [None] and grant == 0:
        # RFC 8166 3.3.1 forbids such a grant and does not say what it means.
        bench.latitude(REVERSE_GRANT, "no callback after a grant of nothing")
        return recall.conn
    expect.true(waiting != [None], REVERSE_GRANT, "the delegation is recalled")
    for _ in range(2):
        expect(recall.conn.probe(), REVERSE_GRANT, must=[kinds.REPLY])
    under_way = len(waiting) + len(callbacks.kept)
    expect.at_most(under_way, allowed, REVERSE_GRANT, "callbacks under way")
    for done in range(3):
        callbacks.answer(waiting.pop(0))
        expect.at_most(len(callbacks.kept), allowed, REVERSE_GRANT, "callbacks under way")
        if done < 3 - 1 and not waiting:
            waiting.append(recall.wait(SEPARATE))
    for number in range(3):
        recall.expect_done(SEPARATE, number)
    return recall.conn


@case(
    "server.reverse.ignored-credits-{name}",
    requirements=["RFC8167-4.1-5", REVERSE_GRANT],
    needs=["delegations"],
    hostile=True,
)
@pytest.mark.parametrize("name", ["error", "done", "unknown-proc", "no-payload", "bad-type"])
def test_ignored_credits(bench, name):
    """A credit word in a message of no direction grants nothing: a second callback does not leave while
    the first waits, although that message says 1000."""
    session = with_grant(bench, 1)
    callbacks = session.conn.callbacks
    recall = Recall(bench, session, count=2)
    first = recall.expect_recall(REVERSE_GRANT)
    recall.provoke(1)
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
    session.conn.exchange(draft)
    if not session.conn.open:
        return
    expect_quiet(session.conn, "RFC8167-4.1-5", "callbacks beyond the grant", before)
    callbacks.answer(first)
    callbacks.answer(recall.wait(REVERSE_GRANT))


# -- sizes -----------------------------------------------------------------------------------------


@case(
    "server.reverse.threshold-{name}",
    requirements=["RFC8167-4.2-1", PLAIN, "RFC8267-6.5.2-6"],
    needs=["delegations"],
)
@pytest.mark.parametrize("name", ["1024", "no-private-data", "asymmetric"])
def test_threshold(bench, name):
    """A callback fits the threshold of forward replies."""
    data = {
        "1024": wire.PrivateData(send_bytes=1024, receive_bytes=1024),
        "no-private-data": None,
        "asymmetric": wire.PrivateData(send_bytes=8192, receive_bytes=1024),
    }
    # No more than fits is announced, so that no long call is due (RFC 8267 6.5.2).
    channel = back_channel(ca_maxrequestsize=1024)
    recall = Recall(bench, settings={"private_data": data[name]}, csa_back_chan_attrs=channel)
    callback = recall.expect_recall("RFC8167-4.2-1")
    most = recall.conn.negotiated.to_client_bytes
    for each in recall.callbacks.seen:
        size = len(each.message.bytes)
        expect.at_most(size, most, "RFC8167-4.2-1", "octets of a callback")
    expect.equal(callback.header.proc, wire.Procedure.MSG, PLAIN, "rdma_proc")
    chunks = len(callback.header.read_list)
    expect.equal(chunks, 0, "RFC8267-6.5.2-6", "read chunks of a callback")
    recall.callbacks.answer(callback)
    recall.expect_done("RFC8167-4.2-1")


@case(
    "server.reverse.small-channel-{name}",
    requirements=["RFC8881-18.36.3-1", FIRST],
    needs=["delegations"],
)
@pytest.mark.parametrize("name", ["request", "operations"])
def test_small_channel(bench, name):
    """A backchannel too small for a recall gets none: no delegation is granted, or the callback keeps to
    what was agreed."""
    attrs = {"request": {"ca_maxrequestsize": 128}, "operations": {"ca_maxoperations": 1}}[name]
    client = bench.nfs4_client(receives=36)
    Callbacks(client.conn)
    client.exchange_id()
    made = client.create_session(csa_flags=BACK, csa_back_chan_attrs=back_channel(**attrs))
    too_small = "nfs:NFS4ERR_TOOSMALL"
    expect(made, "RFC8881-18.36.3-1", must=[kinds.REPLY], latitude={too_small: "refused at once"})
    if made.kind == too_small:
        return
    session = client.sessions[0]
    session.reclaim_complete()
    files = bench.nfs4_files(session)
    stem = bench.name("opened")
    bench.file(b"content", stem)
    opened, _ = session.open(files.directory, stem, READ | WANT_READ)
    if opened.delegation.delegation_type == NFS4.DelegationType.OPEN_DELEGATE_READ:
        writer = bench.nfs4_session()
        base = bench.nfs4_files(writer).directory
        writer.exchange(putfh(base), writer.open_operation(stem, WRITE, b"writer"))
    for _ in range(2):
        expect(client.conn.probe(), FIRST, must=[kinds.REPLY])
    agreed = session.granted.csr_back_chan_attrs
    for callback in client.conn.callbacks.seen:
        if callback.is_null:
            continue
        octets, count = len(callback.payload), len(callback.operations)
        about = "RFC8881-18.36.3-1"
        expect.at_most(octets, agreed.ca_maxrequestsize, about, "octets of a callback")
        expect.at_most(count, agreed.ca_maxoperations, about, "operations of a callback")
