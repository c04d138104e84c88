"""Tests of the workload's results (lines of the guest, verdicts and the table) and of its machine."""

import types

import pytest

from lab import target as targets
from lab.failure import LabFailure
from lab.kernel_client import client, workload
from lab.machines import agent, channel, guest_machine
from lab.machines.emulator import Emulator
from lab.machines.machine import MOST_STARTS

FSX = next(step for step in workload.STEPS if step.name == "fsx")


def test_a_result_has_seconds_and_a_sentence():
    result = client.parse("step fsx v3 pass 2.5 600 operations, seed 3", FSX, "v3", "memory")
    assert (result.verdict, result.seconds) == (client.PASS, 2.5)
    assert result.detail == "600 operations, seed 3"
    assert result.column() == "v3 memory"


def test_a_result_without_a_sentence():
    assert client.parse("step fsx v3 hang 300", FSX, "v3", "memory").verdict == client.HANG


def test_other_lines_are_no_results():
    for line in (
        "",
        "log step fsx v3 pass 1 x",
        "step fsx v4.1 pass 1 of another version",
        "step big v3 pass 1 of another step",
        "step fsx v3 perhaps 1 x",
        "step fsx v3 pass soon x",
    ):
        assert client.parse(line, FSX, "v3", "memory") is None


def test_what_was_not_run_is_not_good():
    results = [client.Result("fsx", "v3", "memory", verdict) for verdict in (client.PASS, "-")]
    assert all(map(client.is_good, results))
    for verdict in (client.FAIL, client.HANG, client.NOT_RUN):
        assert not client.is_good(client.Result("fsx", "v3", "memory", verdict))


def test_the_table_has_a_column_for_each_version_and_storage():
    results = [
        client.Result("mount", "v3", "memory", client.PASS),
        client.Result("fsx", "v3", "memory", client.FAIL),
        client.Result("mount", "v4.1", "directory", client.HANG),
        client.Result("fsx", "v4.1", "directory", client.NOT_RUN),
    ]
    lines = client.table("a-client", "Linux 6", results).splitlines()
    assert lines[2].split() == ["step", "v3", "memory", "v4.1", "directory"]
    assert lines[4].split() == ["fsx", "FAIL", "not", "run"]
    assert lines[-1] == "workload: 1 passed, 2 failed, 1 not run"


@pytest.fixture
def guest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(channel, "PROJECT", tmp_path)
    monkeypatch.setattr(workload, "pack", lambda root, scratch, add: root)
    image = types.SimpleNamespace(kernel=tmp_path / "vmlinux", root=tmp_path / "root.cpio")
    made = guest_machine.Guest(targets.load("client-linux-6.1-siw"), image, tmp_path)
    yield made
    made.power_off()


def test_a_machine_that_dies_while_it_boots_is_started_again(guest, tmp_path, monkeypatch):
    emulator = Emulator(monkeypatch, tmp_path / "count", MOST_STARTS - 1, agent.READY)
    guest.boot()
    assert guest.machine.alive()
    assert guest.machine.complaints() == []
    assert emulator.starts() == MOST_STARTS


def test_a_machine_that_dies_in_every_boot_is_told_with_its_last_words(
    guest, tmp_path, monkeypatch
):
    emulator = Emulator(monkeypatch, tmp_path / "count", MOST_STARTS, agent.READY)
    with pytest.raises(LabFailure, match="(?s)died before it was ready.*BUG at the beginning"):
        guest.boot()
    assert emulator.starts() == MOST_STARTS


def test_an_agent_that_says_nothing_is_told(guest, tmp_path, monkeypatch):
    monkeypatch.setattr(agent, "READY_LIMIT_S", 0)
    Emulator(monkeypatch, tmp_path / "count", 0, "")
    with pytest.raises(LabFailure, match="the guest did not say that it listens within 0 s"):
        guest.boot()


def test_a_machine_that_ended_between_two_steps_is_a_step_that_hangs(guest, tmp_path, monkeypatch):
    Emulator(monkeypatch, tmp_path / "count", 0, agent.READY)
    guest.boot()
    guest.machine.power_off()
    result = client.run_step(guest, FSX, "v3", "memory", None)
    assert result.verdict == client.HANG
    assert "the machine" in result.detail
