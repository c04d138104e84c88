"""Which reply a client has left without a reaction, and what it owed to it."""

import types

import pytest

from steertag import rpc, trace, wire
from steertag.suite.cases.case_end import EXCHANGES
from steertag.suite.client.unheeded_reply import (
    INLINE_INSTEAD,
    LONG,
    SILENCE_NS,
    WITH_DATA,
    unheeded_reply,
)

CLIENT, SERVER = trace.Role.client, trace.Role.server
XID = 7
EMPTY = wire.Segment(handle=1, length=0, offset=0)
FULL = wire.Segment(handle=1, length=64, offset=0)


def event(kind, actor, time_ns, octets=b""):
    return types.SimpleNamespace(kind=kind, actor=actor, time_ns=time_ns, bytes=octets)


def reply(time_ns, **fields):
    payload = b"" if fields.get("proc") == wire.Procedure.NOMSG else rpc.Reply(xid=XID).encode()
    header = wire.Header(xid=XID, credit=1, **fields)
    return event("send", SERVER, time_ns, wire.encode(header, payload))


def callback(time_ns):
    payload = rpc.Call(xid=XID, program=1, version=1, procedure=0).encode()
    return event("send", SERVER, time_ns, wire.encode(wire.Header(xid=XID, credit=1), payload))


def call(time_ns):
    return event("send", CLIENT, time_ns)


def end(time_ns):
    return event("disconnect", CLIENT, time_ns)


def connection(*events):
    recorder = types.SimpleNamespace(events=lambda: events)
    watch = types.SimpleNamespace(recorder=recorder)
    return types.SimpleNamespace(watch=watch, journal_text=lambda: "the trace")


@pytest.mark.parametrize(
    "fields, owed",
    [
        ({}, EXCHANGES),
        ({"write_list": [[FULL]]}, WITH_DATA),
        ({"reply_chunk": [EMPTY]}, INLINE_INSTEAD),
        ({"reply_chunk": [FULL], "proc": wire.Procedure.NOMSG}, LONG),
    ],
)
def test_the_form_of_the_reply_decides(fields, owed):
    posted = event("receive_posted", SERVER, 2)
    failed = unheeded_reply([connection(call(0), reply(1, **fields), posted, end(SILENCE_NS + 1))])
    assert failed.reason.startswith(f"{owed}: ") and failed.detail == "the trace"


def test_a_client_that_hangs_does_not_even_end():
    assert unheeded_reply([connection(call(0), reply(1))])


@pytest.mark.parametrize(
    "connections",
    [
        [],
        [connection()],
        [connection(call(0), end(SILENCE_NS))],
        [connection(call(0), reply(1), call(2), end(2 * SILENCE_NS))],
        [connection(call(0), reply(1), end(SILENCE_NS))],
        [connection(reply(1), event("rdma_read", CLIENT, 2), end(2 * SILENCE_NS))],
        [connection(call(0), reply(1), callback(2))],
        [connection(reply(1), end(2 * SILENCE_NS)), connection(call(2))],
        [connection(call(0), reply(1)), types.SimpleNamespace(number=2)],
    ],
    ids="nothing no-message no-reply next-call soon read callback other-connection tcp".split(),
)
def test_what_else_may_be_wrong_is_not_claimed(connections):
    assert unheeded_reply(connections) is None
