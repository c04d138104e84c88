"""Tests of the line to a guest, whose end is a socket of this process."""

import os
import socket
import time
import types

import pytest

from lab.failure import LabFailure
from lab.machines import channel

LIMIT_S = 20


@pytest.fixture
def line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(channel, "PROJECT", tmp_path)
    made = channel.Channel(tmp_path / "line")
    yield made
    made.close()


@pytest.fixture
def machine():
    """One that runs as long as the test."""
    end, other = os.pipe()
    yield types.SimpleNamespace(open_end=lambda: os.dup(end), last_words=lambda: "nothing")
    os.close(end)
    os.close(other)


def connect(line, machine):
    guest = socket.socket(socket.AF_UNIX)
    guest.connect("line")
    line.open(machine)
    return guest


def test_lines_of_the_guest_come_one_by_one(line, machine):
    with connect(line, machine) as guest:
        guest.sendall(b"one\ntwo\r\nthr")
        deadline = time.monotonic() + LIMIT_S
        assert [line.read_line(deadline) for _ in range(2)] == ["one", "two"]
        with pytest.raises(channel.Silent):
            line.read_line(time.monotonic())


def test_what_another_machine_said_before_is_forgotten(line, machine):
    with connect(line, machine) as first:
        first.sendall(b"half")
        with pytest.raises(channel.Silent):
            line.read_line(time.monotonic())
    with connect(line, machine) as second:
        second.sendall(b" a line\n")
        assert line.read_line(time.monotonic() + LIMIT_S) == " a line"


def test_a_machine_that_ends_with_an_order_unread_is_told(line, machine):
    with connect(line, machine):
        line.send("an order")
    with pytest.raises(LabFailure, match="the machine has ended"):
        line.read_line(time.monotonic() + LIMIT_S)
