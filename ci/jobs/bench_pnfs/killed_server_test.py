"""What is read of the throughput around a death, from a transfer that a test controls."""

import pytest

from ci.jobs.bench_nfs.bench_servers import CannotMeasure
from ci.jobs.bench_pnfs import killed_server
from ci.jobs.bench_pnfs.killed_server import AFTER, BEFORE, GAP, LOOK_S, MOST_LOOKS, STEADY
from ci.jobs.bench_pnfs.killed_server import MOST_TRIES, IdleVictim, Victim

FULL, SLOW = 1000, 100  # octets in a look
DATA_SERVERS = 4


class Clock:
    """Time goes by in steps of transfers only."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


class Transfer:
    """FULL octets a look. The victim has a part of them. After its death there are those of `behind`, then FULL again."""

    def __init__(self, clock, behind, part):
        self.done_bytes = 0
        self._clock, self._behind, self._part = clock, list(behind), part
        self.dead = False

    def kill(self):
        self.dead = True

    def read_bytes(self):
        return self._part * self.done_bytes

    def step(self, seconds):
        self._clock.now += seconds
        self.done_bytes += self._behind.pop(0) if self.dead and self._behind else FULL
        return False


def death(monkeypatch, behind, *looks_behind, part=1 / DATA_SERVERS):
    clock = Clock()
    monkeypatch.setattr(killed_server, "time", clock)
    transfer = Transfer(clock, behind, part)
    progress = killed_server.Progress(transfer)
    return killed_server.through_a_death(progress, transfer, DATA_SERVERS, *looks_behind)


@pytest.mark.parametrize("slow_looks", [1, 3, 40])
def test_the_gap_lasts_until_the_throughput_is_what_it_was(monkeypatch, slow_looks):
    found = death(monkeypatch, [SLOW] * slow_looks)
    assert found[BEFORE].bytes == FULL * STEADY
    assert found[GAP].bytes == slow_looks * SLOW
    assert found[GAP].elapsed_s == pytest.approx(slow_looks * LOOK_S)
    assert found[AFTER].bytes == FULL * STEADY


def test_a_death_without_an_effect_lasts_a_look_at_most(monkeypatch):
    found = death(monkeypatch, [])
    assert found[GAP].elapsed_s == pytest.approx(LOOK_S)
    assert found[GAP].bytes == FULL


def test_a_throughput_that_goes_away_again_was_not_back(monkeypatch):
    behind = [SLOW] * 2 + [FULL] * (STEADY // 2) + [SLOW] * 2
    found = death(monkeypatch, behind)
    assert found[GAP].elapsed_s == pytest.approx(len(behind) * LOOK_S)


def test_octets_that_come_late_do_not_make_up_for_looks_before(monkeypatch):
    # Each look but the last has too little, though their mean is that of before.
    behind = [0] * 8 + [FULL // 4] * 3 + [FULL * 4]
    found = death(monkeypatch, behind)
    assert found[GAP].elapsed_s == pytest.approx((len(behind) - 1) * LOOK_S)


def test_a_lower_level_is_not_that_of_before(monkeypatch):
    behind = [FULL * 3 // 4] * 40
    found = death(monkeypatch, behind)
    # One look of TOGETHER may have as little.
    assert found[GAP].elapsed_s == pytest.approx((len(behind) - 1) * LOOK_S)


def test_a_victim_without_a_part_does_not_die(monkeypatch):
    with pytest.raises(IdleVictim):
        death(monkeypatch, [], part=0.1 / DATA_SERVERS)


def tries(monkeypatch, failures):
    """(the result of `measure`, how often it was tried) when so many rounds have an idle victim."""
    made = []

    def one(*how):
        made.append(how)
        if len(made) <= failures:
            raise IdleVictim("no part")
        return "found"

    monkeypatch.setattr(killed_server, "_death", one)
    return killed_server.measure("hosts", "tcp", killed_server.KILLED, 100), len(made)


def test_a_round_with_an_idle_victim_is_made_again(monkeypatch):
    assert tries(monkeypatch, MOST_TRIES - 1) == ("found", MOST_TRIES)
    with pytest.raises(IdleVictim):
        tries(monkeypatch, MOST_TRIES)


def test_a_victim_is_known_by_its_address():
    class Files:
        pnfs = {
            "data_servers": [
                {"addresses": ["tcp 10.0.0.3.8.1"], "read_bytes": 5},
                {"addresses": ["rdma 10.0.0.33.8.1"], "read_bytes": 7},
            ]
        }

    assert Victim(Files, "10.0.0.3", None).read_bytes() == 5


def test_each_look_has_the_octets_of_its_time(monkeypatch):
    found = death(monkeypatch, [SLOW] * 3)
    look_ms = round(LOOK_S * 1000)
    octets = [found[look_ms * at].bytes for at in range(-1, 5)]
    assert octets == [FULL, FULL, SLOW, SLOW, SLOW, FULL]


def test_a_long_gap_has_its_looks_as_far_as_there_are_any(monkeypatch):
    look_ms = round(LOOK_S * 1000)
    slow = 2 * STEADY
    found = death(monkeypatch, [SLOW] * slow, slow)
    looks = [way for way in found if isinstance(way, int)]
    assert (min(looks), max(looks)) == ((1 - STEADY) * look_ms, slow * look_ms)
    found = death(monkeypatch, [], slow)
    last = max(way for way in found if isinstance(way, int))
    assert STEADY * look_ms <= last < slow * look_ms


def test_a_throughput_that_does_not_come_back_is_no_result(monkeypatch):
    with pytest.raises(CannotMeasure, match="is not back 20 s after"):
        death(monkeypatch, [SLOW] * MOST_LOOKS)
