"""What is read of the throughput around a death, from a transfer that a test controls."""

import pytest

from ci.jobs.bench_nfs.bench_servers import CannotMeasure
from ci.jobs.bench_pnfs import killed_server
from ci.jobs.bench_pnfs.killed_server import AFTER, BEFORE, GAP, LOOK_S, MOST_LOOKS, STEADY

FULL, SLOW = 1000, 100  # octets in a look


class Clock:
    """Time goes by in steps of transfers only."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


class Transfer:
    """FULL octets a look. After the victim's death there are SLOW ones, for so many looks."""

    def __init__(self, clock, slow_looks):
        self.done_bytes = 0
        self._clock, self._slow = clock, slow_looks
        self.dead = False

    def kill(self):
        self.dead = True

    def step(self, seconds):
        self._clock.now += seconds
        slow = self.dead and self._slow > 0
        self._slow -= slow
        self.done_bytes += SLOW if slow else FULL
        return False


def death(monkeypatch, slow_looks, *looks_behind):
    clock = Clock()
    monkeypatch.setattr(killed_server, "time", clock)
    transfer = Transfer(clock, slow_looks)
    progress = killed_server.Progress(transfer)
    return killed_server.through_a_death(progress, transfer, *looks_behind)


def test_the_gap_lasts_until_the_throughput_is_what_it_was(monkeypatch):
    found = death(monkeypatch, 3)
    assert found[BEFORE].bytes == FULL * STEADY
    # One slow look among STEADY leaves more than 90 %.
    assert found[GAP].bytes == 2 * SLOW
    assert found[GAP].elapsed_s == pytest.approx(2 * LOOK_S)
    assert found[AFTER].bytes == SLOW + FULL * (STEADY - 1)


def test_each_look_has_the_octets_of_its_time(monkeypatch):
    found = death(monkeypatch, 3)
    look_ms = round(LOOK_S * 1000)
    octets = [found[look_ms * at].bytes for at in range(-1, 5)]
    assert octets == [FULL, FULL, SLOW, SLOW, SLOW, FULL]


def test_a_long_gap_has_its_looks_as_far_as_there_are_any(monkeypatch):
    look_ms = round(LOOK_S * 1000)
    slow = 2 * STEADY
    found = death(monkeypatch, slow, slow)
    looks = [way for way in found if isinstance(way, int)]
    assert (min(looks), max(looks)) == ((1 - STEADY) * look_ms, slow * look_ms)
    found = death(monkeypatch, 0, slow)
    last = max(way for way in found if isinstance(way, int))
    assert STEADY * look_ms <= last < slow * look_ms


def test_a_throughput_that_does_not_come_back_is_no_result(monkeypatch):
    with pytest.raises(CannotMeasure, match="is not back 20 s after"):
        death(monkeypatch, MOST_LOOKS)
