"""Which events a judgement shows, and which of them it marks."""

import types

import pytest

from steertag.suite.cases.evidence import evidence_of_kind
from steertag.traces.event import OCTETS, RECORD
from steertag.traces.line import Line, MARK, TO_CLIENT, TO_SERVER

LOST = 7


def line(number, direction, xid, kind="send", octets=None):
    octets = xid.to_bytes(4, "big") + bytes(24) if octets is None else octets
    return Line(number, 1, None, direction, kind, f"xid {xid}", octets)


def others(first, count):
    """Calls with other XIDs, each with its answer."""
    for number in range(first, first + 2 * count, 2):
        yield line(number, TO_SERVER, 100 + number)
        yield line(number + 1, TO_CLIENT, 100 + number)


def record(xid):
    message = xid.to_bytes(4, "big") + bytes(24)
    return (1 << 31 | len(message)).to_bytes(4, "big") + message


def numbers(lines, xid=LOST):
    """(the numbers of the shown lines, that of the marked one) in an outcome with this XID."""
    conn = types.SimpleNamespace(trace_lines=lambda: lines)
    trace = evidence_of_kind(
        types.SimpleNamespace(conn=conn, kind="reply", detail="", xid=xid)
    ).trace
    shown = [int(each.partition("#")[2].split()[0]) for each in trace if "#" in each]
    marked = [int(each.partition("#")[2].split()[0]) for each in trace if each.startswith(MARK)]
    return shown, marked


@pytest.mark.parametrize(
    "call",
    [
        line(0, TO_SERVER, LOST),
        line(0, TO_SERVER, LOST, RECORD),
        line(0, TO_SERVER, LOST, OCTETS, record(1) + record(LOST) + record(2)[:9]),
    ],
    ids=["send", "record", "octets"],
)
def test_a_call_without_an_answer_is_marked(call):
    shown, marked = numbers([call, *others(1, 12)])
    assert marked == [0] and shown == [0, 1, 2, 3, 4]


def test_the_answer_is_marked_and_its_call_is_shown():
    lines = [line(0, TO_SERVER, LOST), *others(1, 12), line(25, TO_CLIENT, LOST), *others(26, 3)]
    shown, marked = numbers(lines)
    assert marked == [25] and shown == [0, 21, 22, 23, 24, 25, 26]


def test_octets_that_only_look_like_the_xid_are_not_the_message():
    data = line(1, TO_SERVER, 1, OCTETS, record(1)[:-4] + LOST.to_bytes(4, "big"))
    assert numbers([line(0, TO_SERVER, LOST), data])[1] == [0]


def test_without_a_message_the_last_events_are_shown():
    shown, marked = numbers(list(others(0, 12)), None)
    assert marked == [] and shown == [18, 19, 20, 21, 22, 23]
