"""The tap on a TCP stream: records whatever pieces they come in, and how the stream ended."""

import types

from .recorder import Recorder
from .stream_tap import StreamTap


class Pieces:
    """A stream from which these pieces are taken."""

    ended = "the target ended the stream"

    def __init__(self, *pieces):
        self._pieces = list(pieces)

    def take(self, _):
        return self._pieces.pop(0)


def tapped(*pieces, conn=types.SimpleNamespace()):
    log = Recorder()
    tap = log.tapped(StreamTap(Pieces(*pieces), conn, "c0", log))
    for _ in pieces:
        tap.take(10)
    return log, tap


def mark(length, last=True):
    return (length | (last << 31)).to_bytes(4, "big")


def test_records_are_steps_whatever_the_pieces():
    octets = mark(3, last=False) + b"abc" + mark(0, last=False) + mark(2) + b"de" + mark(1) + b"f"
    pieces = [octets[at : at + 5] for at in range(0, len(octets), 5)]
    for parts in ([octets], pieces):
        log, _ = tapped(*parts)
        log.over()
        assert [step.fields for step in log.steps()] == [
            {"octets": b"abcde", "fragments": [3, 0, 2]},
            {"octets": b"f", "fragments": [1]},
        ]


def test_an_end_inside_a_record_keeps_the_rest():
    log, _ = tapped(mark(9) + b"abc", b"")
    log.over()
    (step,) = log.steps()
    assert (step.kind, step.fields["rest"]) == ("ended", mark(9) + b"abc")


def test_a_range_has_what_came_in_it():
    _, tap = tapped(mark(1) + b"a", mark(1) + b"b", mark(1) + b"c")
    assert [fields["octets"] for _, fields in tap.came(1, 2)] == [b"b"]


def test_what_did_not_come_is_a_wait():
    log, _ = tapped(None, None)
    assert [(step.kind, step.fields) for step in log.steps()] == [("quiet", {"ms": 20})]


def test_a_plain_stream_has_octets():
    log, _ = tapped(b"MPA ID", conn=None)
    log.over()
    assert [(step.kind, step.fields) for step in log.steps()] == [
        ("received", {"octets": b"MPA ID"})
    ]
