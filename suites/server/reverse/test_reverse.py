"""The reverse direction: the server's calls (RFC 8167 5, RFC 8881 20.9, RFC 8267 6.5)."""

import pytest

from steertag import rpc, wire
from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.nfs4_client import (
    CALLBACK_PROGRAM,
    NO_CREDENTIAL,
    backchannel,
    sys_credential,
)
from ..conflicting_open import ConflictingOpen
from ..message_words import either
from ..nfs4_checks import BACK, NFS4, READ, WANT_READ, status
from ..reverse_checks import (
    Recall,
    due_sequence,
    known_client,
    other_slot,
    sequence_of,
    unusual_session,
)

CALL_HEADER = ("RFC8167-5.1-1", "RFC8167-5.1-2", "RFC8167-5.1-3")
A_CALL = "RFC8167-5.1-4"
PLAIN = "RFC8167-5.3-2"
NO_CHUNKS = ("RFC8267-6.5.2-3", "RFC8167-7-1")
RECALLED = "RFC8267-6.5.2-1"
VERSION = "RFC8881-18.36.3-10"
FIRST = "RFC8881-20.9.3-1"
SECURITY = "RFC8881-2.10.8.2-1"
CHANNEL = "RFC8881-2.10.3-1"
XID_OF_CALL = "RFC5531-9-1"


def expect_reverse_call(callback):
    """Checks the words of a call in the reverse direction. The call is a plain short message. A record
    has no such words."""
    header = callback.header
    if header is None:
        return
    expect.equal(header.vers, 1, "RFC8167-5.1-2", "rdma_vers of a reverse call")
    expect.at_least(header.credit, 1, "RFC8167-5.1-1", "reverse credits that are asked for")
    same = rpc.xid(callback.payload) == header.xid
    expect.true(same, "RFC8167-5.1-3", "the RPC call starts with rdma_xid")
    expect.equal(header.proc, wire.Procedure.MSG, PLAIN, "rdma_proc of a callback")
    reduced = [each.position for each in header.read_list if each.position]
    expect.equal(reduced, [], "RFC8167-7-1", "reduced items of a callback")
    # Our replies fit inline as announced, so a reply chunk has no use either (RFC 8267 6.5.2).
    chunks = len(header.read_list) + len(header.write_list) + (header.reply_chunk is not None)
    expect.equal(chunks, 0, "RFC8267-6.5.2-3", "chunks of a callback")


@case(
    "server.reverse.null",
    requirements=[
        *CALL_HEADER,
        A_CALL,
        PLAIN,
        *NO_CHUNKS,
        VERSION,
        "RFC8167-3.2-1",
        CHANNEL,
        XID_OF_CALL,
        "RFC8166-4.2.2-1",
    ],
    needs=["backchannel"],
    over=ANY,
)
def test_null(bench):
    """The server's first call on its new backchannel, of any kind, is a sound call of the client's
    program."""
    session = bench.nfs4_session(back=True)
    callbacks = session.conn.callbacks
    callbacks.wait_seen(1, bench.deadlines.patience_ms)
    unasked = session.conn.receive(bench.deadlines.patience_ms)
    rule = either(session.conn, A_CALL, XID_OF_CALL)
    expect.true(unasked is None, rule, "what the server sends of itself has msg_type CALL")
    if callbacks.count == 0:
        # The server sends no call before it needs one.
        rule = either(session.conn, "RFC8167-3.2-1", CHANNEL)
        callbacks.answer(Recall(bench, session).expect_recall(rule))
    for callback in callbacks.seen:
        expect_reverse_call(callback)
        expect.equal(callback.rpc.program, CALLBACK_PROGRAM, VERSION, "program of a callback")
        expect.one_of(callback.rpc.version, (1, 4), VERSION, "version of the callback program")


@case(
    "server.reverse.recall",
    requirements=[
        *CALL_HEADER,
        PLAIN,
        *NO_CHUNKS,
        RECALLED,
        FIRST,
        VERSION,
        CHANNEL,
    ],
    needs=["delegations"],
    over=ANY,
)
def test_recall(bench):
    """A conflicting OPEN recalls a delegation. The callback has CB_SEQUENCE of the session, then
    CB_RECALL with the delegation's stateid. After DELEGRETURN the other client has the file."""
    recall = Recall(bench)
    recalled = either(recall.conn, RECALLED, CHANNEL)
    callback = recall.expect_recall(recalled)
    expect_reverse_call(callback)
    expect.equal(callback.fixed.minorversion, 1, VERSION, "minor version of CB_COMPOUND")
    names = [number.name for number, _ in callback.operations]
    expect.equal(names[:1], ["CB_SEQUENCE"], FIRST, "first operation of the recall")
    expect.equal(names.count("CB_SEQUENCE"), 1, FIRST, "CB_SEQUENCEs of the recall")
    sequence = callback["CB_SEQUENCE"]
    mine = sequence.csa_sessionid == recall.session.id
    expect.true(mine, CHANNEL, "CB_SEQUENCE names the session")
    due = due_sequence(recall.callbacks, callback)
    expect.equal(sequence.csa_sequenceid, due, CHANNEL, "csa_sequenceid")
    recall.callbacks.answer(callback)
    recall.expect_done(recalled)


@case(
    "server.reverse.sequence",
    requirements=[FIRST, CHANNEL, "RFC8167-2.4-1"],
    needs=["delegations"],
    over=ANY,
)
def test_sequence_ids(bench):
    """Three recalls one after the other. Each slot counts its own sequence IDs from 1. XIDs may be
    used again after their calls have ended (RFC 8167 2.4)."""
    recall = Recall(bench, count=3)
    for number in range(3):
        callback = recall.expect_recall(FIRST, number)
        sequence = sequence_of(callback, FIRST)
        due = due_sequence(recall.callbacks, callback)
        expect.equal(sequence.csa_sequenceid, due, CHANNEL, "csa_sequenceid")
        at_least = sequence.csa_highest_slotid >= sequence.csa_slotid
        expect.true(at_least, CHANNEL, "csa_highest_slotid covers the slot")
        recall.callbacks.answer(callback)
        recall.expect_done(FIRST, number)
    xids = [each.xid for each in recall.callbacks.seen]
    if len(set(xids)) < len(xids) and recall.conn.has_header:
        bench.latitude("RFC8167-2.4-1", "an XID is used again after its call is over")


@case(
    "server.reverse.referring-call-{name}",
    requirements=["RFC8881-2.10.6.3-1", "RFC8881-2.10.6.3-2"],
    needs=["delegations"],
    over=ANY,
)
@pytest.mark.parametrize("name", ["unseen", "seen"])
def test_referring_call(bench, name):
    """A recall refers to the request that granted the delegation until that request's slot is used
    again. Before that, the server does not know whether the client has seen the grant. Afterwards
    it need not refer to it. Only a server that remembers the request has this duty, and it should
    remember it. A callback does not refer to requests about other objects."""
    rule = "RFC8881-2.10.6.3-1"
    session = bench.nfs4_session(back=True)
    slot = other_slot(session)
    recall = Recall(bench, session, slot=slot)
    sequence = session.sequences[slot]
    if name == "seen":
        session.run("PUTROOTFH", slot=slot)
    callback = recall.expect_recall(rule)
    lists = sequence_of(callback, rule).csa_referring_call_lists
    named = [
        (each.rcl_sessionid, call.rc_slotid, call.rc_sequenceid)
        for each in lists
        for call in each.rcl_referring_calls
    ]
    grant = (session.id, slot, sequence)
    if name == "unseen" and grant not in named:
        bench.warn(rule, "the recall does not refer to the OPEN that granted")
    elif name == "seen" and grant in named:
        bench.latitude(rule, "a referring call that is over")
    others = sum(each != grant for each in named)
    what = "referring calls that are not about the file"
    expect.equal(others, 0, "RFC8881-2.10.6.3-2", what)
    recall.callbacks.answer(callback)
    recall.expect_done(rule)


CREDENTIALS = {
    "none": [NO_CREDENTIAL],
    "sys": [sys_credential(uid=1234, gid=99)],
    "none-or-sys": [NO_CREDENTIAL, sys_credential(uid=1234)],
}


def uid_of(credential):
    """The uid of AUTH_SYS. None if the body does not decode."""
    try:
        return rpc.AuthSys.decode(credential.body).uid
    except wire.DecodeError:
        return None


@case(
    "server.reverse.credential-{name}",
    requirements=[SECURITY, "RFC8167-8-1"],
    needs=["backchannel"],
    over=ANY,
)
@pytest.mark.parametrize("name", CREDENTIALS)
def test_credential(bench, name):
    """Callbacks use a credential that csa_sec_parms offers, for any flavour of the forward
    calls."""
    offered = CREDENTIALS[name]
    recall = Recall(bench, unusual_session(bench, csa_sec_parms=offered))
    recall.callbacks.answer(recall.expect_recall(SECURITY))
    for callback in recall.callbacks.seen:
        credential = callback.rpc.credential
        flavor, none = int(credential.flavor), int(rpc.AuthFlavor.AUTH_NONE)
        allowed = [int(each.cb_secflavor) for each in offered]
        if callback.is_null and flavor == none and none not in allowed:
            bench.latitude(SECURITY, "a NULL procedure is called without a credential")
            continue
        expect.one_of(flavor, allowed, SECURITY, "flavour of a callback")
        if credential.flavor == rpc.AuthFlavor.AUTH_SYS:
            rule = either(recall.conn, "RFC8167-8-1", SECURITY)
            expect.equal(uid_of(credential), 1234, rule, "uid of a callback")


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
    # Only what fits inline is announced, so no long call is needed (RFC 8267 6.5.2).
    channel = backchannel(ca_maxrequestsize=1024)
    settings = {"private_data": data[name]}
    session = unusual_session(bench, settings, csa_back_chan_attrs=channel)
    recall = Recall(bench, session)
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
    over=ANY,
)
@pytest.mark.parametrize("name", ["request", "operations"])
def test_small_channel(bench, name):
    """A backchannel is too small for a recall. The server grants no delegation, or its callback
    keeps to the agreed limits."""
    attrs = {"request": {"ca_maxrequestsize": 128}, "operations": {"ca_maxoperations": 1}}[name]
    client = known_client(bench)
    made = client.create_session(csa_flags=BACK, csa_back_chan_attrs=backchannel(**attrs))
    refused = dict.fromkeys(
        (status("NFS4ERR_TOOSMALL"), status("NFS4ERR_INVAL")), "refused at once"
    )
    expect(made, "RFC8881-18.36.3-1", must=[kinds.REPLY], latitude=refused)
    if made.kind in refused:
        return
    session = client.sessions[0]
    session.reclaim_complete()
    files = bench.nfs4_files(session)
    stem = bench.name("opened")
    bench.file(b"content", stem)
    opened, _ = session.open(files.directory, stem, READ | WANT_READ)
    if opened.delegation.delegation_type == NFS4.DelegationType.OPEN_DELEGATE_READ:
        opening = ConflictingOpen(bench, stem)
        opening.send()
        opening.look(bench.deadlines.answer_ms)
    for _ in range(2):
        expect(client.conn.probe(), FIRST, must=[kinds.REPLY])
    agreed = session.granted.csr_back_chan_attrs
    for callback in client.conn.callbacks.seen:
        expect.true(callback.is_sound, FIRST, "a callback decodes")
        if callback.is_null:
            continue
        octets, count = len(callback.payload), len(callback.operations)
        about = "RFC8881-18.36.3-1"
        expect.at_most(octets, agreed.ca_maxrequestsize, about, "octets of a callback")
        expect.at_most(count, agreed.ca_maxoperations, about, "operations of a callback")
