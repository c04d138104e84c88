"""Deadlines follow the round trips of the first contact and of the last probes, and calls that wait together
have one between them."""

import types

import pytest

from steertag.suite import kinds
from steertag.suite.exchange import link
from steertag.suite.exchange.deadline import ANSWER_CEILING_MS, ANSWER_FLOOR_MS, Deadlines
from steertag.suite.exchange.dialogue import Dialogue


class Timed(link.Link):
    """A link whose probes take as long as the test says, on a clock of the test's own."""

    def __init__(self, clock):
        super().__init__("iwarp://127.0.0.1")
        self.clock = clock
        self.probe_ms = 0

    def helper(self, deadlines, timeout_ms=None):
        return types.SimpleNamespace(probe=self._answer, abort=lambda: None)

    def _answer(self):
        self.clock[0] += self.probe_ms / 1000
        return types.SimpleNamespace(kind=kinds.HANG if self.probe_ms > 1e6 else kinds.REPLY)


@pytest.fixture
def timed(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(link.time, "monotonic", lambda: clock[0])
    return Timed(clock)


def probe(timed, took_ms):
    timed.probe_ms = took_ms
    return timed.probe(Deadlines())


def test_a_slow_probe_makes_deadlines_longer_until_it_is_forgotten(timed):
    assert probe(timed, 90) is None
    assert timed.round_trip_ms == pytest.approx(90)
    assert Deadlines(timed.round_trip_ms).answer_ms == pytest.approx(18000, abs=1)
    for _ in range(link.LATELY):
        probe(timed, 0.5)
    assert timed.round_trip_ms == 1.0
    assert Deadlines(timed.round_trip_ms).answer_ms == ANSWER_FLOOR_MS


def test_the_fastest_answer_is_the_distance(timed):
    assert timed.distance_ms == 0
    for took_ms in (90, 2, 400):
        probe(timed, took_ms)
    assert timed.distance_ms == pytest.approx(2)


def test_what_was_not_answered_is_no_round_trip(timed):
    assert probe(timed, 1e7) == kinds.HANG
    assert timed.round_trip_ms == 1.0


def test_deadlines_have_a_ceiling():
    assert Deadlines(1e6).answer_ms == ANSWER_CEILING_MS
    assert Deadlines(1e6).patience_ms == ANSWER_CEILING_MS


class Told(Dialogue):
    """A dialogue whose messages are those that the test gives; waits take no time and are noted."""

    open = True

    def __init__(self, messages):
        super().__init__(Deadlines(), 0, None)
        self.messages = (
            messages  # "reply": to the first call that is left; "probe": to the last; None
        )
        self.sent = []
        self.waits_ms = []

    def _call(self, xid, octets, *_):
        return types.SimpleNamespace(xid=xid, octets=octets)

    def _octets(self, message):
        return message.octets

    def _as_call(self, message):
        return message

    def _is_work(self, _):
        return True

    def _read(self, call, _):
        return types.SimpleNamespace(kind=kinds.REPLY, xid=call.xid)

    def send(self, message):
        self.sent.append(message)

    def _take(self, limit):
        came = self.messages.pop(0)
        if came is None:
            self.waits_ms.append(limit.left_ms)
            return None
        return self.sent.pop(0 if came == "reply" else -1)


def test_calls_that_are_not_answered_have_one_answers_time_in_all():
    told = Told(["reply", None, None, "probe", "probe", None, "probe", "probe"])
    calls = [told.null_call() for _ in range(3)]
    for call in calls:
        told.send(call)
    outcomes = told.collect_sent(calls)
    seen = [outcomes[call.xid].kind for call in calls]
    assert seen == [kinds.REPLY, kinds.SILENCE, kinds.SILENCE]
    waited, *later = told.waits_ms
    assert waited == pytest.approx(ANSWER_FLOOR_MS, abs=100) and later == [0, 0]
