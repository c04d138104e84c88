"""Tests of the uses of a client: use.py asks, a channel that is written down takes the orders."""

import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent

from lab.kernel_client import client_uses

LIMIT_S = 30


class Channel:
    """Takes orders to the guest's agent."""

    def __init__(self):
        self.sent = []

    def send(self, line):
        self.sent.append(line)


@pytest.fixture
def channel():
    return Channel()


@pytest.fixture
def uses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(client_uses, "PROJECT", tmp_path)
    made = client_uses.Uses(tmp_path / "uses", "v4.1", {"rdma": 20049, "tcp": 2049})
    yield made
    made.close()


def start_user():
    """A run of use.py, which waits for its answer."""
    command = [sys.executable, "-SE", str(HERE / "use.py"), "uses"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def end(user):
    output, _ = user.communicate(timeout=LIMIT_S)
    return user.returncode, output


def test_a_use_ends_with_what_the_agent_says(uses, channel):
    user = start_user()
    uses.accept(channel)
    assert channel.sent == ["use 1 v4.1 20049 2049"]
    for line in ("log mount.nfs: Connection refused", "used 1 32"):
        uses.hear(line, channel)
    assert end(user) == (32, "mount.nfs: Connection refused\n")


def test_one_use_follows_the_other(uses, channel):
    first, second = start_user(), start_user()
    uses.accept(channel)
    uses.accept(channel)
    assert channel.sent == ["use 1 v4.1 20049 2049"]
    uses.hear("used 1 0", channel)
    assert channel.sent[1:] == ["use 2 v4.1 20049 2049"]
    uses.hear("used 2 0", channel)
    assert end(first) == end(second) == (0, "")


def test_the_use_of_a_user_that_is_killed_is_ended_and_the_next_waits_for_that(uses, channel):
    killed = start_user()
    uses.accept(channel)
    killed.kill()
    end(killed)
    (user,) = uses.users
    uses.hang_up(user, channel)
    assert channel.sent[1:] == ["end-use 1"]
    waiting = start_user()
    uses.accept(channel)
    assert len(channel.sent) == 2
    for line in ("log Killed", "used 1 137", "used 2 0"):
        uses.hear(line, channel)
    assert channel.sent[2:] == ["use 2 v4.1 20049 2049"]
    assert end(waiting) == (0, "")


def test_a_machine_that_is_gone_is_told_to_everybody(uses, channel):
    users = [start_user(), start_user()]
    for _ in users:
        uses.accept(channel)
    uses.drop()
    assert [end(user) for user in users] == [(1, "the guest is gone\n")] * 2
    uses.hear("used 1 0", channel)
    assert uses.users == []
