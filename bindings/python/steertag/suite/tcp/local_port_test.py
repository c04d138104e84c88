"""A port to connect from is one that no socket has."""

import random
import socket

import pytest

from steertag.suite.tcp import local_port
from steertag.suite.tcp.local_port import free_port, OWN_PORTS


def test_a_port_in_use_is_not_given(monkeypatch):
    port = free_port(random.Random(1))
    assert port in OWN_PORTS
    monkeypatch.setattr(local_port, "OWN_PORTS", range(port, port + 1))
    monkeypatch.setattr(local_port, "MOST_PORTS", 1)
    assert free_port(random.Random(1)) == port
    with socket.socket() as user:
        user.bind(("", port))
        with pytest.raises(OSError, match="all in use"):
            free_port(random.Random(1))


def test_ports_in_a_row_are_all_free(monkeypatch):
    first = free_port(random.Random(1), in_a_row=3)
    assert first + 2 in OWN_PORTS
    monkeypatch.setattr(local_port, "OWN_PORTS", range(first, first + 3))
    monkeypatch.setattr(local_port, "MOST_PORTS", 1)
    assert free_port(random.Random(1), in_a_row=3) == first
    with socket.socket() as user:
        user.bind(("", first + 2))
        with pytest.raises(OSError, match="all in use"):
            free_port(random.Random(1), in_a_row=3)
