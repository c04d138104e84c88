"""Events of one connection as lines, hostile octets among them."""

import random

import pytest

from steertag import build_paths, nfs, rpc, wire
from steertag.traces.capture_lines import events_of_capture
from steertag.traces.connection_trace import ConnectionTrace
from steertag.traces.event import Event, of_engine

CAPTURES = build_paths.checkout() / "fixtures/captures"
CHANGES = 4  # of each message
WORDS = (0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def send(octets, actor="client", **fields):
    return Event(0, actor, "send", {"bytes": octets, **fields})


def text(*events):
    """The text of the last event."""
    made = ConnectionTrace()
    return [made.line(event).text for event in events][-1]


def null_call(xid=7, **fields):
    call = rpc.Call(xid=xid, program=100003, version=3, procedure=0)
    return wire.encode(wire.Header(xid=xid, credit=32, **fields), call.encode())


@pytest.mark.parametrize("octets", [b"", b"abc", bytes(12), bytes(16), bytes(27)])
def test_too_few_octets_say_so(octets):
    line = text(send(octets))
    assert "the header breaks at octet 0: transport header: the message is shorter than 28" in line


def test_a_broken_header_is_one_line_with_its_place_and_the_call_behind():
    octets = bytearray(null_call())
    octets[4:8] = (2).to_bytes(4, "big")
    assert text(send(bytes(octets))) == (
        "RDMA_MSG xid 0x00000007 credits 32 vers 2; the header breaks at octet 4: rdma_vers: "
        "rdma_vers is not 1; CALL NFSv3 NULL"
    )


def test_names_cannot_harm_a_terminal():
    arguments = nfs.nfs3.LookupArgs(what=nfs.nfs3.DirOpArgs(dir=b"h" * 8, name="\x1b[31m\n" * 40))
    call = rpc.Call(xid=7, program=100003, version=3, procedure=3)
    payload = call.encode() + nfs.nfs3.encode_args(3, arguments)
    line = text(send(wire.encode(wire.Header(xid=7, credit=1), payload)))
    assert "LOOKUP fh #" in line and '"\\x1b[31m\\x0a' in line and line.endswith('..."')
    assert len(line) < 400


def test_a_write_beyond_its_chunk():
    segment = wire.Segment(handle=0xAB, length=100, offset=1000)
    call = send(null_call(write_list=[[segment]]))
    fields = {"stag": 0xAB, "offset": 1090, "length": 14, "payload": bytes(14)}
    write = Event(1, "server", "rdma_write", fields)
    assert text(call, write) == (
        "RDMA Write of 14 octets into write chunk 1 of xid 0x00000007, segment 1 offset 90, "
        "4 octets beyond its end"
    )
    stray = Event(1, "server", "rdma_write", {**fields, "stag": 0xAC})
    assert text(call, stray).endswith(
        "into STag 0x000000ac offset 0x0000000000000442, which no header offers"
    )


def test_writes_into_touching_segments_of_one_stag_are_two_lines():
    chunk = [wire.Segment(handle=0xAB, length=100, offset=0), wire.Segment(0xAB, 20, 100)]
    ranges = [(0, 60), (60, 40), (100, 20)]
    writes = [
        Event(number, "server", "rdma_write", {"stag": 0xAB, "offset": offset, "length": length})
        for number, (offset, length) in enumerate(ranges, start=1)
    ]
    _, first, second = ConnectionTrace().lines([send(null_call(write_list=[chunk])), *writes])
    assert (first.number, first.last, second.number) == (1, 2, 3)
    assert first.text.endswith(
        "100 octets into write chunk 1 of xid 0x00000007, segment 1 offset 0"
    )
    assert second.text.endswith(
        "20 octets into write chunk 1 of xid 0x00000007, segment 2 offset 0"
    )


def test_the_call_decides_what_a_reply_is():
    reply = rpc.Reply(xid=7).encode()
    octets = wire.encode(wire.Header(xid=7, credit=0), reply)
    assert text(send(octets, "server")).endswith("; REPLY SUCCESS to a call that was not seen")
    assert text(send(null_call()), send(octets, "server")).endswith("REPLY NFSv3 NULL SUCCESS")


def test_xids_that_differ_are_told():
    octets = null_call(8)
    changed = (9).to_bytes(4, "big") + octets[4:]
    assert text(send(changed)).endswith("CALL NFSv3 NULL; RPC xid 0x00000008 differs")


def test_many_segments_stay_one_line():
    chunk = [wire.Segment(handle=1, length=10, offset=0)] * 9
    line = text(send(null_call(write_list=[chunk] * 6)))
    assert (
        "write chunk 4: 9 segments of 10, 10, 10, 10, ...: 90 octets; 2 more write chunks" in line
    )


@pytest.mark.parametrize("name", ["linux-6.1-siw-v3", "linux-6.1-siw-v4.1"])
def test_hostile_octets_never_raise(name):
    """Messages of real connections, cut anywhere, and with words changed."""
    chance = random.Random(1)
    (events,) = events_of_capture(CAPTURES / f"{name}.pcapng")
    made = ConnectionTrace()
    for event in map(of_engine, events):
        octets = event.fields.get("bytes")
        for _ in range(CHANGES if octets else 0):
            changed = bytearray(octets)
            place = 4 * chance.randrange(len(octets) // 4)
            changed[place : place + 4] = chance.choice(WORDS).to_bytes(4, "big")
            for hostile in (bytes(changed), octets[: chance.randrange(len(octets))]):
                line = made.line(Event(0, event.actor, "send", {"bytes": hostile}))
                assert line.text.isprintable()
        made.line(event)


def test_noise_never_raises():
    chance = random.Random(2)
    made = ConnectionTrace()
    for length in range(200):
        for actor in ("client", "server"):
            for kind in ("send", "record"):
                assert made.line(Event(0, actor, kind, {"bytes": chance.randbytes(length)})).text
