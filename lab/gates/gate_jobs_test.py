"""Tests of gates side by side, with targets that need no machine."""

import os
import signal
import types

import pytest

from lab.failure import LabFailure
from lab.gates import gate_jobs
from lab.gates.gate_table import PASSED, Row


@pytest.fixture
def targets(tmp_path):
    return [types.SimpleNamespace(name=name, directory=tmp_path / name) for name in "abc"]


def passes(target):
    print(f"output of {target.name}")
    return [Row(target.name, "suite", {"pass": 1}, PASSED)]


def test_rows_are_in_the_order_of_the_targets_and_nothing_written_is_lost(targets, capfd):
    rows = gate_jobs.run(targets, passes, most=2)
    assert [row.target for row in rows] == ["a", "b", "c"]
    assert [row.outcome for row in rows] == [PASSED] * 3
    written = capfd.readouterr().out
    for name in "abc":
        assert f"output of {name}\n" in written


def test_a_failure_and_a_death_are_rows_and_stop_no_other_target(targets):
    def gate(target):
        if target.name == "a":
            raise LabFailure("no image\nand much more")
        if target.name == "b":
            os._exit(7)
        return passes(target)

    outcomes = [row.outcome for row in gate_jobs.run(targets, gate, most=3)]
    assert outcomes == ["error: no image", "error: its gate ended with 7", PASSED]


def test_so_many_run_at_a_time(targets):
    """Each of two waits for the other, so that one after the other they would never end."""
    ends = {"a": os.pipe(), "b": os.pipe()}

    def meets(target):
        other = "b" if target.name == "a" else "a"
        os.write(ends[other][1], b"!")
        assert os.read(ends[target.name][0], 1) == b"!"
        return passes(target)

    rows = gate_jobs.run(targets[:2], meets, most=2)
    for end in (*ends["a"], *ends["b"]):
        os.close(end)
    assert [row.outcome for row in rows] == [PASSED] * 2


def test_those_under_way_are_stopped_when_the_lab_is_told_to_stop(targets, monkeypatch):
    def told_to_stop(_):
        raise KeyboardInterrupt

    alive, held = os.pipe()

    def gate(target):
        return passes(target) if target.name == "a" else signal.pause()

    monkeypatch.setattr(gate_jobs.Job, "finish", told_to_stop)
    with pytest.raises(KeyboardInterrupt):
        gate_jobs.run(targets[:2], gate, most=2)
    os.close(held)
    # The end of the pipe shows once no process has the other end open any more.
    assert os.read(alive, 1) == b""
    os.close(alive)
