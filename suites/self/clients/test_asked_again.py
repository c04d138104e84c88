"""What counts as the same work: a call without its XID and without its place in the session."""

import types

import pytest

from steertag import rpc
from steertag.suite.client.script import Reply
from steertag.suite.nfs_client.compound import compound_arguments, operation
from suites.client.asked_again import AGAIN, AskedAgain, ONCE

NFS = 100003


def compound(xid, number, slot, offset):
    """READ in a session."""
    place = {"sa_sessionid": b"s" * 16, "sa_highest_slotid": 3}
    sequence = operation("SEQUENCE", sa_sequenceid=number, sa_slotid=slot, **place)
    read = operation("READ", stateid={}, offset=offset, count=100)
    call = rpc.Call(xid=xid, program=NFS, version=4, procedure=1)
    return call.encode(compound_arguments([sequence, read]))


def nfs3(xid, arguments):
    return rpc.Call(xid=xid, program=NFS, version=3, procedure=6).encode(arguments)


def reply_to(rpc_call, kind="reply"):
    parts = dict.fromkeys(("call", "message", "writes", "invalidate"))
    departure = types.SimpleNamespace(kind=kind, rpc_call=rpc_call, **parts)
    return Reply(types.SimpleNamespace(raw=None), departure)


SAME = {
    "nfs3": (nfs3(1, b"abcd"), nfs3(2, b"abcd")),
    "next-in-slot": (compound(1, 5, 0, 0), compound(2, 6, 0, 0)),
    "other-slot": (compound(1, 5, 0, 0), compound(2, 9, 1, 0)),
}
OTHER = {
    "nfs3": (nfs3(1, b"abcd"), nfs3(1, b"abce")),
    "nfs4": (compound(1, 5, 0, 0), compound(1, 6, 0, 100)),
}


@pytest.mark.parametrize(
    "calls, wanted",
    [*((each, AGAIN) for each in SAME.values()), *((each, ONCE) for each in OTHER.values())],
)
def test_a_later_call_for_the_same_is_seen(calls, wanted):
    taken = []
    script = AskedAgain(taken.append, lambda reply: True)
    assert script.on_departure(reply_to(calls[0])) and len(taken) == 1
    assert list(script.completed().values()) == [ONCE]
    assert not script.on_departure(reply_to(calls[0], kind="callback"))
    assert not script.on_departure(reply_to(calls[1]))
    assert list(script.completed().values()) == [wanted]
