"""Tests of how a machine is started: its network cards."""

import pathlib
import socket
import types

import pytest

from lab import target as targets
from lab.failure import LabFailure
from lab.machines import machine, own_network
from lab.machines.machine import Machine


def words(name, **options):
    """The words of the command that starts a machine of the target."""
    nowhere = pathlib.Path("nowhere")
    machine = Machine(targets.load(name), nowhere, nowhere, {"tcp": 1234}, nowhere, **options)
    return machine._qemu()


def after(option, command):
    return [command[at + 1] for at, word in enumerate(command) if word == option]


def test_a_server_is_only_reached_by_the_ports_of_the_host():
    (card,) = after("-netdev", words("linux-6.1-siw"))
    assert card == "user,id=net0,restrict=on,hostfwd=tcp:127.0.0.1:1234-:2049"


def test_each_network_of_the_users_is_a_card():
    cards = after("-netdev", words("client-linux-6.1-siw", networks=("10.0.2.0/24", "10.0.3.0/24")))
    assert cards == ["user,id=net0,net=10.0.2.0/24", "user,id=net1,net=10.0.3.0/24"]


def test_a_network_of_the_labs_own_has_a_card_for_each_device():
    network = types.SimpleNamespace(inside=None)
    cards = after("-netdev", words("client-linux-6.1-roce", networks=("x",), own_network=network))
    assert len(cards) == len(own_network.TAPS)
    assert cards[0] == "tap,id=net0,ifname=tap0,script=no,downscript=no"


def test_ports_in_a_row_are_all_free(monkeypatch):
    first = machine.first_of_free_ports(3)
    with socket.create_server((machine.HOST, first + 2)):
        made = socket.create_server
        given = []

        def create_server(place):
            """The first port that the system chooses is the one that was free."""
            given.append(place)
            return made((place[0], place[1] or first) if len(given) < 4 else place)

        monkeypatch.setattr(socket, "create_server", create_server)
        assert machine.first_of_free_ports(3) != first
        monkeypatch.setattr(machine, "MOST_PORT_TRIES", 0)
        with pytest.raises(LabFailure, match="no 3 free TCP ports in a row"):
            machine.first_of_free_ports(3)
