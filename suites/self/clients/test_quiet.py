"""When a script is notified that the client is idle."""

import types

import pytest

from steertag.suite.client import client_bench, client_needs
from steertag.suite.client.script import Script

FLOOR_S = client_needs.QUIET_FLOOR_MS / 1000
CEILING_S = client_needs.QUIET_CEILING_MS / 1000


class Counting(Script):
    def __init__(self):
        self.told = self.polls = 0

    def on_quiet(self):
        self.told += 1

    def on_poll(self):
        self.polls += 1


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands; `clock.now` is seconds."""
    clock = types.SimpleNamespace(now=1000.0)
    monkeypatch.setattr(client_bench.time, "monotonic", lambda: clock.now)
    return clock


@pytest.fixture
def adapter(clock):
    adapter = client_bench.ScriptAdapter(Counting(), [], "iwarp")
    adapter.sign_after = lambda seconds: _sign(adapter, clock, seconds)
    return adapter


def _sign(adapter, clock, seconds):
    """A sign of the client, so long after the last: the end of an unknown connection."""
    clock.now += seconds
    adapter.on_down(types.SimpleNamespace(number=0), None)


def test_pause_is_the_longest_between_two_signs_of_the_client(adapter, clock):
    clock.now += 60  # before a client has started, no one waits for it
    for seconds in (0, 0.25, 2.0, 0.5):
        adapter.sign_after(seconds)
    clock.now += 60  # nor behind its last word
    assert adapter.pause_seconds == 2.0


@pytest.mark.parametrize(
    "pause_s, quiet_s",
    [
        (0, FLOOR_S),
        (FLOOR_S, client_needs.QUIET_PAUSES * FLOOR_S),
        # A loaded machine is no reason to wait until the client sends its call again.
        (60, CEILING_S),
    ],
)
def test_quiet_goes_by_the_clients_pauses_between_its_bounds(pause_s, quiet_s):
    habits = client_needs.Habits(seconds=60, pause_seconds=pause_s)
    assert habits.quiet_ms == pytest.approx(quiet_s * 1000)


def test_quiet_of_a_client_not_yet_known():
    assert client_needs.Habits().quiet_ms == client_needs.QUIET_FLOOR_MS


def test_a_script_is_told_once_behind_each_sign(adapter, clock):
    adapter.tick(clock.now + 60, 100)
    assert adapter._script.told == 0, "told before the client has said anything"
    adapter.sign_after(0)
    adapter.tick(clock.now + 0.0625, 100)
    assert adapter._script.told == 0, "told before its time"
    for _ in range(2):
        adapter.tick(clock.now + 0.125, 100)
    assert adapter._script.told == 1
    adapter.sign_after(1)
    adapter.tick(clock.now + 0.125, 100)
    assert adapter._script.told == 2


def test_a_script_is_told_of_every_poll(adapter, clock):
    for _ in range(3):
        adapter.tick(clock.now, 100)
    assert adapter._script.polls == 3 and adapter._script.told == 0
