"""Deadlines follow the round trips of the first contact and of the last probes."""

import types

import pytest

from steertag.suite import kinds, link
from steertag.suite.deadline import ANSWER_CEILING_MS, ANSWER_FLOOR_MS, Deadlines


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


def test_what_was_not_answered_is_no_round_trip(timed):
    assert probe(timed, 1e7) == kinds.HANG
    assert timed.round_trip_ms == 1.0


def test_deadlines_have_a_ceiling():
    assert Deadlines(1e6).answer_ms == ANSWER_CEILING_MS
    assert Deadlines(1e6).patience_ms == ANSWER_CEILING_MS
