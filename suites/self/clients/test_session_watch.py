"""What scripts for clients see of a session, and replies in which SEQUENCE says something else."""

import types

import pytest

from steertag import nfs, peer, rpc, wire
from steertag.suite.client.backchannel import answer_from
from steertag.suite.client.client_connection import sent_from
from steertag.suite.client.script import Reply
from steertag.suite.client.session_watch import conform_but, SessionWatch
from steertag.suite.nfs_client.compound import compound_arguments, operation

NFS4 = nfs.nfs4
SESSION, OTHER = b"s" * 16, b"t" * 16
CHUNK = wire.Segment(handle=7, length=4096, offset=0)
DOWN = NFS4.SEQ4_STATUS_CB_PATH_DOWN


class Raw:
    """Keeps what is posted."""

    def __init__(self):
        self.sends, self.writes = [], []

    def send(self, octets, invalidate=None, fault=None):
        self.sends.append(bytes(octets))

    def write(self, octets, stag, offset, fault=None):
        self.writes.append((bytes(octets), stag, offset))


def sequence():
    return operation(
        "SEQUENCE", sa_sessionid=SESSION, sa_sequenceid=3, sa_slotid=1, sa_highest_slotid=2
    )


def sequence_ok(**fields):
    ok = NFS4.SequenceOk(sr_sessionid=SESSION, sr_sequenceid=3, sr_slotid=1, **fields)
    return NFS4.Opnum.SEQUENCE, NFS4.SequenceResult(status=NFS4.Status.NFS4_OK, resok4=ok)


def reply_to(operations, results, long=False, tag=""):
    """The Reply with these results to a COMPOUND of these operations."""
    call = rpc.Call(xid=1, program=100003, version=4, procedure=1)
    octets = rpc.Reply(xid=1).encode(NFS4.encode_result(results, tag=tag))
    draft, writes = wire.Draft(xid=1, credit=8, payload=octets), []
    offered = wire.Draft(xid=1, credit=8, payload=b"\0" * 40)
    if long:
        draft.proc, draft.payload = 1, b""
        used = wire.Segment(handle=7, length=len(octets), offset=0)
        draft.reply_chunk = wire.DraftChunk(segments=[used])
        offered.reply_chunk = wire.DraftChunk(segments=[CHUNK])
        half = len(octets) // 2
        for at, part in ((0, octets[:half]), (half, octets[half:])):
            writes.append(peer.RemoteWrite(stag=7, offset=at, octets=part))
    raw = Raw()
    departure = types.SimpleNamespace(
        kind="reply",
        call=wire.decode(wire.encode(offered))[0],
        rpc_call=call.encode(compound_arguments(operations)),
        message=wire.encode(draft),
        writes=writes,
        invalidate=None,
    )
    return Reply(types.SimpleNamespace(raw=raw, number=0, answered=set()), departure)


def posted(reply):
    """SEQUENCE4resok in what was posted."""
    raw = reply.raw
    header, payload = wire.decode(raw.sends[-1])
    if header.proc == wire.Procedure.NOMSG:
        payload = b"".join(octets for octets, _, _ in raw.writes)
    _, results = NFS4.decode_result(rpc.Reply.decode(payload)[1])
    return results[0][1].resok4


@pytest.mark.parametrize("long", [False, True], ids=["short", "long"])
@pytest.mark.parametrize("tag", ["", "odd"])
def test_sequence_says_something_else(long, tag):
    slots = {"sr_highest_slotid": 8, "sr_target_highest_slotid": 9}
    results = [sequence_ok(sr_status_flags=0x40, **slots)]
    reply = reply_to([sequence()], results, long=long, tag=tag)
    assert conform_but(reply, target=2, flags=DOWN)
    said = posted(reply)
    assert (said.sr_highest_slotid, said.sr_target_highest_slotid) == (8, 2)
    assert said.sr_status_flags == 0x40 | DOWN
    assert (said.sr_sequenceid, said.sr_slotid) == (3, 1)


def test_sequence_says_another_highest_slot():
    reply = reply_to([sequence()], [sequence_ok(sr_target_highest_slotid=9)])
    assert conform_but(reply, highest=3)
    said = posted(reply)
    assert (said.sr_highest_slotid, said.sr_target_highest_slotid) == (3, 9)
    assert said.sr_status_flags == 0


def test_reply_without_sequence_is_left_as_it_is():
    failed = NFS4.SequenceResult(status=NFS4.Status.NFS4ERR_BADSESSION)
    reply = reply_to([sequence()], [(NFS4.Opnum.SEQUENCE, failed)])
    assert not conform_but(reply, flags=DOWN)
    assert reply.raw.sends == [bytes(reply.message)]


def test_steps_of_a_session():
    watch = SessionWatch()
    fore, both = NFS4.ChannelDirFromClient.CDFC4_FORE, NFS4.ChannelDirFromClient.CDFC4_FORE_OR_BOTH
    for direction in (fore, both):
        asked = operation("BIND_CONN_TO_SESSION", bctsa_sessid=SESSION, bctsa_dir=direction)
        ok = NFS4.BindConnToSessionOk(bctsr_sessid=SESSION)
        result = NFS4.BindConnToSessionResult(status=NFS4.Status.NFS4_OK, resok4=ok)
        watch.on_departure(reply_to([asked], [(NFS4.Opnum.BIND_CONN_TO_SESSION, result)]))
    watch.on_departure(reply_to([sequence(), "PUTROOTFH"], [sequence_ok()]))
    assert [step.names for step in watch.steps][-1] == ("SEQUENCE", "PUTROOTFH")
    assert {step.session for step in watch.steps} == {SESSION}
    assert watch.binds(SESSION) == [watch.steps[1]], "the other asks for the fore channel alone"
    assert watch.binds(OTHER) == []
    assert not watch.has_left(SESSION)
    for session in (SESSION, OTHER):
        ok = NFS4.CreateSessionOk(csr_sessionid=session)
        result = NFS4.CreateSessionResult(status=NFS4.Status.NFS4_OK, resok4=ok)
        asked = operation("CREATE_SESSION", csa_flags=NFS4.CREATE_SESSION4_FLAG_CONN_BACK_CHAN)
        watch.on_departure(reply_to([asked], [(NFS4.Opnum.CREATE_SESSION, result)]))
    assert watch.steps[-1].asks_for_callbacks
    assert watch.has_left(SESSION)
    assert not watch.has_left(OTHER)


def answer(payload, **fields):
    draft = wire.Draft(xid=5, credit=1, payload=payload, **fields)
    return answer_from(sent_from(wire.encode(draft)))


def test_answers_of_a_client():
    refused = NFS4.CbSequenceResult(status=NFS4.Status.NFS4ERR_BADSLOT)
    body = NFS4.encode_cb_result([(NFS4.CbOpnum.CB_SEQUENCE, refused)])
    said = answer(rpc.Reply(xid=5).encode(body))
    assert said.accepted
    assert said.status() == said.status("CB_RECALL") == "NFS4ERR_BADSLOT"
    assert said.statuses == ["NFS4ERR_BADSLOT"]
    unavailable = rpc.Reply(xid=5, accept_status=rpc.AcceptStatus.PROG_UNAVAIL).encode()
    assert not answer(unavailable).accepted
    assert answer(unavailable).statuses == []
    assert answer(unavailable).status() == "refused by RPC"
    assert answer(b"", proc=4, error=2).status() == "RDMA_ERROR"


def callback_reply(highest=7, sequence_id=2, second="NFS4ERR_BADHANDLE", tag=""):
    """The Answer with CB_SEQUENCE and a CB_RECALL."""
    slots = {"csr_slotid": 1, "csr_highest_slotid": highest, "csr_target_highest_slotid": highest}
    ok = NFS4.CbSequenceOk(csr_sessionid=SESSION, csr_sequenceid=sequence_id, **slots)
    results = [
        (NFS4.CbOpnum.CB_SEQUENCE, NFS4.CbSequenceResult(status=NFS4.Status.NFS4_OK, resok4=ok)),
        (NFS4.CbOpnum.CB_RECALL, NFS4.CbRecallResult(status=getattr(NFS4.Status, second))),
    ]
    return answer(rpc.Reply(xid=5).encode(NFS4.encode_cb_result(results, tag=tag)))


@pytest.mark.parametrize("tag", ["", "odd"])
def test_answer_to_a_retry_may_name_other_slots(tag):
    first = callback_reply(tag=tag)
    assert first.is_compound
    assert callback_reply(highest=3, tag=tag).kept == first.kept
    assert callback_reply(sequence_id=3, tag=tag).kept != first.kept
    assert callback_reply(second="NFS4_OK", tag=tag).kept != first.kept


def test_answer_without_a_sequence_is_kept_as_it_is():
    refused = NFS4.CbSequenceResult(status=NFS4.Status.NFS4ERR_BADSLOT)
    body = NFS4.encode_cb_result([(NFS4.CbOpnum.CB_SEQUENCE, refused)])
    assert answer(rpc.Reply(xid=5).encode(body)).kept == body
    unavailable = rpc.Reply(xid=5, accept_status=rpc.AcceptStatus.PROG_UNAVAIL).encode()
    assert answer(unavailable).kept == b""
    assert not answer(unavailable).is_compound
