"""A target that sends without end fills no memory and ends no case by it: it is cut off."""

import types

import pytest

from steertag import wire
from steertag.suite.cases import kinds
from steertag.suite.client.script import reverse_call
from steertag.suite.exchange import backlog, callbacks
from steertag.suite.exchange.backlog import Backlog
from steertag.suite.exchange.deadline import Deadlines
from steertag.suite.exchange.dialogue import Dialogue
from steertag.suite.exchange.message import Message


class Flooded(Dialogue):
    """A connection on which messages come until it is reset."""

    def __init__(self, octets):
        super().__init__(Deadlines(), 0, None)
        self.open = True
        self._message = Message(octets)

    def _call(self, xid, *_):
        return types.SimpleNamespace(xid=xid)

    def _as_call(self, message):
        return message

    def send(self, message):
        """Nothing depends on it."""

    def _take(self, _):
        return self._message if self.open else None

    def _reset(self):
        self.open = False


@pytest.mark.parametrize("octets", [b"", bytes(1 << 20)])
def test_who_waits_for_replies_ends(octets):
    conn = Flooded(octets)
    call = conn.null_call()
    outcome = conn.collect_sent([call])[call.xid]
    assert (outcome.kind, outcome.detail) == (kinds.VIOLATION, "it sends messages without end")
    assert len(conn.inbox) <= backlog.MOST_MESSAGES + 1
    assert len(conn.inbox) * len(octets) <= backlog.MOST_OCTETS + len(octets)


def test_who_waits_for_the_end_of_the_connection_ends():
    conn = Flooded(bytes(40))
    assert conn.wait_closed() and conn.flooded


def test_a_backlog_that_is_read_has_room_again():
    held = Backlog()
    for _ in range(3 * backlog.MOST_MESSAGES):
        held.append(Message(bytes(backlog.MOST_OCTETS)))
        held.popleft()
    assert not held.is_full and not held


def test_calls_without_end_are_cut_off():
    ends, answered = [], []
    conn = types.SimpleNamespace(
        cut_off=lambda: ends.append(True),
        send=answered.append,
        read_callback=callbacks.read_callback,
        reverse_message=lambda *_: wire.Draft(),
    )
    taker = callbacks.Callbacks(conn)
    call = Message(wire.encode(reverse_call(1)))
    for _ in range(callbacks.MOST_CALLS):
        assert taker.take(call)
    assert not ends
    taker.take(call)
    assert ends and len(taker.seen) == callbacks.MOST_KEPT
