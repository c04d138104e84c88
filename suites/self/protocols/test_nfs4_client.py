"""The client of NFS version 4.1 by itself: it retries when a target asks for that, up to its limits.

It uses the slots that it was granted."""

import types

import pytest

from steertag import nfs
from steertag.suite import kinds
from steertag.suite.cases.case_end import NotTestable
from steertag.suite.nfs_client.compound import CompoundReply
from steertag.suite.nfs_client.nfs4_client import (
    DELAY,
    fore_channel,
    GRACE,
    LARGEST_MESSAGE,
    Nfs4Session,
)

nfs4 = nfs.nfs4


class ScriptedConnection:
    """Gives one outcome after the other, and remembers the calls and how long was waited between."""

    owed = "RFC8166-3.3.3-1"

    def __init__(self, *outcomes, answer_ms=2000):
        self.outcomes = list(outcomes)
        self.deadlines = types.SimpleNamespace(answer_ms=answer_ms, patience_ms=50)
        self.open = True
        self.waits = []
        self.sequences = []

    def compound_call(self, *operations, tag=""):
        return operations

    def exchange(self, operations):
        self.sequences.append(operations[0][1].sa_sequenceid)
        return self.outcomes.pop(0)

    def wait_closed(self, timeout_ms):
        self.waits.append(timeout_ms)
        return False


def outcome(kind, of_sequence=nfs4.Status.NFS4_OK):
    """An Outcome whose SEQUENCE had this status."""
    sequence = nfs4.SequenceResult(status=of_sequence)
    reply = CompoundReply(of_sequence, "", [(nfs4.Opnum.SEQUENCE, sequence)])
    return types.SimpleNamespace(kind=kind, result=reply, detail="", trace=lambda: "")


def session_of(conn, slots=2):
    granted = nfs4.CreateSessionOk(csr_fore_chan_attrs=fore_channel(ca_maxrequests=slots))
    return Nfs4Session(None, conn, granted)


def test_a_later_operation_is_repeated_as_a_new_request():
    conn = ScriptedConnection(outcome(DELAY), outcome(GRACE), outcome(kinds.REPLY))
    session_of(conn).run("PUTROOTFH")
    assert conn.sequences == [1, 2, 3]
    assert conn.waits == [50, 1000]


def test_a_refused_sequence_is_repeated_as_it_was():
    refused = outcome(DELAY, nfs4.Status.NFS4ERR_DELAY)
    conn = ScriptedConnection(refused, refused, outcome(kinds.REPLY), outcome(kinds.REPLY))
    session = session_of(conn)
    session.run("PUTROOTFH", slot=1)
    session.run("PUTROOTFH", slot=1)
    assert conn.sequences == [1, 1, 1, 2]


def test_a_given_sequence_id_stays_and_moves_no_slot():
    refused = outcome(DELAY, nfs4.Status.NFS4ERR_DELAY)
    conn = ScriptedConnection(outcome(kinds.REPLY), refused, outcome(kinds.REPLY))
    session = session_of(conn)
    session.exchange_in_time("PUTROOTFH", slot=1)
    again = session.exchange_in_time("PUTROOTFH", slot=1, number=1)
    assert again.kind == kinds.REPLY
    assert conn.sequences == [1, 1, 1]
    assert session.sequences == {1: 1}


def test_a_target_that_never_has_time_makes_a_case_not_testable():
    conn = ScriptedConnection(outcome(DELAY), answer_ms=0)
    with pytest.raises(NotTestable, match="PUTROOTFH gave nfs:NFS4ERR_DELAY again and again"):
        session_of(conn).run("PUTROOTFH")
    assert conn.sequences == [1]


def test_slots_beyond_the_grant_are_not_used():
    conn = ScriptedConnection(outcome(kinds.REPLY))
    session = session_of(conn)
    with pytest.raises(NotTestable, match="fewer slots than the case uses"):
        session.call("PUTROOTFH", slot=2)
    assert session.call("PUTROOTFH", slot=2, number=1, beyond=True)
    assert session.unused_slot() == 1
    session.run("PUTROOTFH", slot=1)
    with pytest.raises(NotTestable, match="fewer slots than the case uses"):
        session.unused_slot()


def test_a_size_that_the_server_raises_is_not_used():
    raised = dict.fromkeys(("ca_maxrequestsize", "ca_maxresponsesize"), 0xFFFFFFFF)
    granted = nfs4.CreateSessionOk(csr_fore_chan_attrs=fore_channel(**raised))
    asked = fore_channel(ca_maxrequestsize=8192)
    session = Nfs4Session(None, ScriptedConnection(), granted, asked)
    assert session.fore.ca_maxrequestsize == 8192
    assert session.largest_write == 8192 - 512
    largest = dict.fromkeys(raised, 0xFFFFFFFF)
    session = Nfs4Session(None, ScriptedConnection(), granted, fore_channel(**largest))
    assert (
        session.largest_read == LARGEST_MESSAGE - 512
    ), "no case sends more, whatever it asked for"


def test_sizes_leave_room_for_what_is_beside_the_data():
    session = session_of(ScriptedConnection())
    assert session.largest_read == session.fore.ca_maxresponsesize - 512
    session.fore.ca_maxrequestsize = 512
    with pytest.raises(NotTestable, match="no room for the data"):
        session.largest_write
