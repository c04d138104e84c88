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
