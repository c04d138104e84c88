"""Tests of what a session declares to the suite, without a machine."""

import types

import pytest
import yaml

from lab import target as targets
from lab.machines import control, link, session


@pytest.fixture(name="target_of")
def target_of_name(tmp_path, monkeypatch):
    """Loads a target by its name. What it builds goes into the test's folder."""
    monkeypatch.setattr(targets, "BUILD", tmp_path)
    monkeypatch.chdir(tmp_path)
    for module in (control, session):
        monkeypatch.setattr(module, "PROJECT", tmp_path)
    monkeypatch.setattr(session.Image, "version", lambda _: "6.1.0")

    def load(name):
        target = targets.load(name)
        target.directory.mkdir()
        return target

    return load


def profile_of(made):
    """The profile that a session writes for the suite. Closes the session."""
    try:
        made.write_profile("console.log", ["bring", "back"])
    finally:
        made.close()
    return yaml.safe_load(made.profile.read_text())


def test_the_profile_names_the_server_over_tcp_too(target_of):
    target = target_of("linux-6.1-siw")
    made = session.Session(target)
    profile = profile_of(made)
    assert len(set(made.ports.values())) == len(target.ports) == 3
    assert profile["tcp"] == f"tcp://127.0.0.1:{made.ports['tcp']}"
    assert profile["mount"]["port"] == made.ports["mountd"]
    assert made.url() == f"iwarp://127.0.0.1:{made.ports['rdma']}/export"


def test_another_machine_reaches_it_at_its_own_address_and_ports(tmp_path, target_of):
    target = target_of("linux-6.1-rxe")
    made = session.Session(target, link.pair(tmp_path)[0])
    made.close()
    assert made.ports == target.ports
    assert made.url() == "verbs://10.0.9.1:20049/export"


def test_a_dead_machine_of_a_network_of_its_own_leaves_a_file_for_the_suite(monkeypatch, target_of):
    network = types.SimpleNamespace(close=lambda: None)
    monkeypatch.setattr(session.own_network, "make_network", lambda _: network)
    target = target_of("linux-6.1-roce")
    made = session.Session(target)
    profile = profile_of(made)
    assert made.url() == "roce://10.0.2.15:20049/export"
    assert profile["translated"] is False
    assert profile["died"] == ["test", "-e", "linux-6.1-roce/died"]
