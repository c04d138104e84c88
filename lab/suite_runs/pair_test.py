"""Tests of the command that a machine with the host's files runs, and of that machine's start."""

import subprocess
import types

import pytest

from lab import target as targets
from lab.failure import LabFailure
from lab.machines import channel
from lab.machines.emulator import Emulator
from lab.machines.machine import MOST_STARTS
from lab.suite_runs import pair


def test_the_command_runs_in_the_project_with_its_arguments_as_they_are(tmp_path, monkeypatch):
    packed = {}

    def extend(root, directory, whole):
        packed["run"] = (directory / "lab/program/run").read_text()
        return whole

    monkeypatch.setattr(pair, "extend", extend)
    command = ["sh", "-c", 'printf "<%s>" "$@"; exit 7', "sh", "a b", "it's", "$HOME"]
    pair.pack(tmp_path / "root.cpio", command, tmp_path / "new")
    # The same line without the change of root.
    line = packed["run"].replace("{ chroot /host ", "{ pwd; ")
    line = line.replace("/tmp/status", str(tmp_path / "status"))
    shown = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True)
    assert shown.returncode == 7
    assert shown.stdout == f"{tmp_path}\n<a b><it's><$HOME>"
    assert f"cd {pair.PROJECT}" in packed["run"]


LOST = "ERROR: target verbs://10.0.9.1:20049/export: no connection within 15000 ms"
DEATH = pair.TesterDied("the tester died; its console says: soft lockup")


@pytest.mark.parametrize(
    "ends, boots, status",
    [
        ([(4, LOST), (1, "12 failed")], 2, 1),
        ([(4, LOST)] * pair.MOST_RUNS, pair.MOST_RUNS, 4),
        ([(4, "ERROR: --over is for the bundled server")], 1, 4),
        ([(DEATH, "90 passed"), (0, "100 passed")], 2, 0),
        ([(DEATH, "90 passed")] * pair.MOST_RUNS, pair.MOST_RUNS, None),
    ],
)
def test_what_says_nothing_on_the_server_is_run_again(tmp_path, monkeypatch, ends, boots, status):
    target = types.SimpleNamespace(directory=tmp_path, report=tmp_path / "report")
    (tmp_path / pair.CONSOLE).write_text("the server's console")
    left = list(ends)

    def run_once(_, arguments, directory):
        assert arguments == ["-k", "xid"] and list(target.report.iterdir()) == []
        end, line = left.pop(0)
        (directory / pair.OUTPUT).write_text(f"{line}\n")
        (target.report / "left by this run").touch()
        if end is DEATH:
            raise DEATH
        return end

    monkeypatch.setattr(pair, "run_once", run_once)
    if status is None:
        with pytest.raises(LabFailure, match="the tester died"):
            pair.run(target, ["-k", "xid"])
    else:
        assert pair.run(target, ["-k", "xid"]) == status
    assert len(ends) - len(left) == boots
    for number in range(1, boots):
        kept = tmp_path / "pair" / f"run-{number}"
        assert (kept / pair.OUTPUT).read_text() == f"{ends[number - 1][1]}\n"
        assert (kept / pair.CONSOLE).read_text() == "the server's console"


@pytest.fixture
def new_tester(tmp_path, monkeypatch):
    """Makes a tester, of a class; its machine is an Emulator that was made before."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(channel, "PROJECT", tmp_path)
    monkeypatch.setattr(pair, "pack", lambda root, command, scratch: root)
    target = targets.load("linux-6.1-rxe")
    return lambda kind: kind(target, ["true"], tmp_path, tmp_path / "report", None)


def test_a_tester_that_dies_while_it_boots_is_started_again(new_tester, tmp_path, monkeypatch):
    emulator = Emulator(monkeypatch, tmp_path / "count", MOST_STARTS - 1, "the first line")
    tester = new_tester(pair.Tester)
    try:
        tester.boot()
        with open(tmp_path / "output", "w") as output:
            assert pair.copy_lines(tester.channel, output) == 1
    finally:
        tester.close()
    assert (tmp_path / "output").read_text() == "the first line\n"
    assert emulator.starts() == MOST_STARTS


class Mortal(pair.Tester):
    """Dies once it is up."""

    def boot(self):
        super().boot()
        self.channel.send("die")


def test_a_tester_that_dies_is_named_with_its_last_words(new_tester, tmp_path, monkeypatch):
    Emulator(monkeypatch, tmp_path / "count", 0, "")
    with pytest.raises(pair.TesterDied, match="(?s)the tester died.*kernel BUG in the middle"):
        pair.run_program(new_tester(Mortal), None)
