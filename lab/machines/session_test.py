"""Tests of what a session declares to the suite, without a machine."""

import types

import yaml

from lab import target as targets
from lab.machines import control, link, session


def test_the_profile_names_the_server_over_tcp_too(tmp_path, monkeypatch):
    monkeypatch.setattr(targets, "BUILD", tmp_path)
    monkeypatch.chdir(tmp_path)
    for module in (control, session):
        monkeypatch.setattr(module, "PROJECT", tmp_path)
    monkeypatch.setattr(session.Image, "version", lambda _: "6.1.0")
    target = targets.load("linux-6.1-siw")
    target.directory.mkdir()
    made = session.Session(target)
    try:
        made.write_profile("console.log", ["bring", "back"])
    finally:
        made.close()
    profile = yaml.safe_load(made.profile.read_text())
    assert len(set(made.ports.values())) == len(target.ports) == 3
    assert profile["tcp"] == f"tcp://127.0.0.1:{made.ports['tcp']}"
    assert profile["mount"]["port"] == made.ports["mountd"]
    assert made.url() == f"iwarp://127.0.0.1:{made.ports['rdma']}/export"


def test_another_machine_reaches_it_at_its_own_address_and_ports(tmp_path, monkeypatch):
    monkeypatch.setattr(targets, "BUILD", tmp_path)
    monkeypatch.chdir(tmp_path)
    for module in (control, session):
        monkeypatch.setattr(module, "PROJECT", tmp_path)
    target = targets.load("linux-6.1-rxe")
    target.directory.mkdir()
    made = session.Session(target, link.pair(tmp_path)[0])
    made.close()
    assert made.ports == target.ports
    assert made.url() == "verbs://10.0.9.1:20049/export"


def test_a_dead_machine_of_a_network_of_its_own_leaves_a_file_for_the_suite(tmp_path, monkeypatch):
    monkeypatch.setattr(targets, "BUILD", tmp_path)
    monkeypatch.chdir(tmp_path)
    for module in (control, session):
        monkeypatch.setattr(module, "PROJECT", tmp_path)
    monkeypatch.setattr(session.Image, "version", lambda _: "6.1.0")
    network = types.SimpleNamespace(close=lambda: None)
    monkeypatch.setattr(session.own_network, "make_network", lambda _: network)
    target = targets.load("linux-6.1-roce")
    target.directory.mkdir()
    made = session.Session(target)
    try:
        made.write_profile("console.log", ["bring", "back"])
    finally:
        made.close()
    profile = yaml.safe_load(made.profile.read_text())
    assert made.url() == "roce://10.0.2.15:20049/export"
    assert profile["translated"] is False
    assert profile["died"] == ["test", "-e", "linux-6.1-roce/died"]
