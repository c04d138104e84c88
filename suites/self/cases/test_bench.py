"""The bench of a case whose server is not the usual one, or restarts."""

import os
import types

import pytest

from steertag.suite.cases.bench import Bench, Target
from steertag.suite.cases.case_end import HarnessError, NotTestable
from steertag.suite.run.administrator import Administrator, SIGNALS

USUAL = types.SimpleNamespace(url="iwarp://127.0.0.1:1", pid=1)
OTHER = types.SimpleNamespace(url="iwarp://127.0.0.1:2", pid=2)
AGAIN = types.SimpleNamespace(url="iwarp://127.0.0.1:3", pid=3)


class Servers:
    """Those of a session, which are their own links. It starts with the usual one."""

    def __init__(self):
        self.present = USUAL
        self.asked = []

    def serve_with(self, arguments, restarts):
        self.asked.append((arguments, restarts))
        self.present = OTHER
        return OTHER

    def restart_target(self):
        self.present = AGAIN
        return AGAIN


def bench_of(servers, risk="safe"):
    """A bench at the usual server."""
    target = Target(url=USUAL.url, bundled=True, profile=None)
    run = types.SimpleNamespace(
        recorder=types.SimpleNamespace(gap=""), case=types.SimpleNamespace(risk=risk)
    )
    administrator = Administrator(lambda: servers.present, {})
    return Bench(target, USUAL, run, None, None, administrator, servers)


@pytest.fixture
def signals(monkeypatch):
    """[(process id, signal)] of what was sent."""
    sent = []
    monkeypatch.setattr(os, "kill", lambda *each: sent.append(each))
    return sent


def test_the_administrator_is_that_of_the_server_that_serves(signals):
    servers = Servers()
    bench = bench_of(servers)
    bench.administer("recall-layouts")
    bench.serve_with("--no-crc")
    bench.administer("replace-device")
    assert signals == [(1, SIGNALS["recall-layouts"]), (2, SIGNALS["replace-device"])]
    assert servers.asked == [(("--no-crc",), False)]


def test_a_third_party_without_commands_has_no_administrator():
    with pytest.raises(NotTestable, match="no request of a client makes a server do this"):
        Administrator(lambda: None, {}).act("move-data-server")


def test_a_restarted_target_is_where_it_is_now():
    servers = Servers()
    bench = bench_of(servers, "destructive")
    bench.serve_with(restarts=True)
    bench.restart()
    assert servers.asked == [((), True)]
    assert bench.target.url == AGAIN.url


def test_only_destructive_cases_restart_their_target():
    servers = Servers()
    with pytest.raises(HarnessError, match="a case that restarts its target is destructive"):
        bench_of(servers).restart()
    assert servers.present is USUAL
