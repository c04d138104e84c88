"""Tests of a network of the lab's own, where this host gives one."""

import subprocess

import pytest

from lab.failure import LabFailure
from lab.machines import own_network


@pytest.fixture
def network():
    try:
        made = own_network.OwnNetwork()
    except LabFailure as failure:
        pytest.skip(str(failure))
    yield made
    made.close()


def addresses(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_only_what_is_inside_has_its_addresses(network):
    show = ["ip", "-brief", "address"]
    inside, outside = addresses(network.inside(show)), addresses(show)
    for address in own_network.TAPS.values():
        assert address in inside
        assert address not in outside
    assert "127.0.0.1" in inside


def test_its_end_leaves_no_keeper(network):
    network.close()
    again = subprocess.run(network.inside(["true"]), capture_output=True)
    assert again.returncode != 0
