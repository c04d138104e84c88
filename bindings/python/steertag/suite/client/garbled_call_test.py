"""Which call of a client did not decode, and what the client owed."""

import types

import pytest

from steertag import rpc, trace, wire
from steertag.suite.cases.case_end import EXCHANGES
from steertag.suite.client.garbled_call import REDUCED, garbled_call

XID = 7
GARBAGE = {"accept_status": rpc.AcceptStatus.GARBAGE_ARGS}
SEGMENT = wire.Segment(handle=1, length=64, offset=0)


def event(actor, octets):
    return types.SimpleNamespace(kind="send", actor=actor, bytes=octets)


def call(xid=XID, **fields):
    payload = rpc.Call(xid=xid, program=100003, version=4, procedure=1).encode()
    header = wire.Header(xid=xid, credit=1, **fields)
    return event(trace.Role.client, wire.encode(header, payload))


def reply(xid=XID, **fields):
    payload = rpc.Reply(xid=xid, **fields).encode()
    return event(trace.Role.server, wire.encode(wire.Header(xid=xid, credit=1), payload))


def connection(*events):
    recorder = types.SimpleNamespace(events=lambda: events)
    watch = types.SimpleNamespace(recorder=recorder)
    return types.SimpleNamespace(watch=watch, journal_text=lambda: "the trace")


@pytest.mark.parametrize("position, owed", [(None, EXCHANGES), (0, EXCHANGES), (148, REDUCED)])
def test_the_form_of_the_call_decides(position, owed):
    chunks = [] if position is None else [wire.ReadSegment(position=position, target=SEGMENT)]
    good = connection(call(), reply())
    bad = connection(call(8), reply(8), call(read_list=chunks), reply(**GARBAGE))
    failed = garbled_call([good, bad])
    assert failed.reason == f"{owed}: the arguments of a call do not decode"
    assert failed.detail == "the trace"


@pytest.mark.parametrize(
    "connections",
    [
        [],
        [types.SimpleNamespace()],  # over TCP
        [connection(call(), reply())],
        [connection(reply(**GARBAGE))],
        [connection(call(), reply(status=rpc.ReplyStatus.MSG_DENIED))],
        [connection(call(), event(trace.Role.server, b"cut"))],
    ],
)
def test_nothing_is_claimed_of_other_exchanges(connections):
    assert garbled_call(connections) is None
