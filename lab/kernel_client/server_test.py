"""Tests of how our server is started, killed and ended, with programs that only look like one."""

import pytest

from lab.failure import LabFailure
from lab.kernel_client import server

# Writes its process id where the ports belong and waits.
WAITS = """#!/bin/sh
trap 'exit {status}' TERM
while [ "$1" != --port-file ]; do shift; done
echo $$ > "$2"
while :; do sleep 0.05; done
"""
ENDS = """#!/bin/sh
echo nothing works
exit 3
"""


@pytest.fixture
def make(tmp_path, monkeypatch):
    monkeypatch.setattr(server, "PROJECT", tmp_path)
    made = []

    def make(text, storage=server.MEMORY, data_servers=0):
        program = tmp_path / "serve"
        program.write_text(text)
        program.chmod(0o755)
        made.append(server.Server(program, storage, tmp_path / "work", data_servers=data_servers))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_a_restart_is_another_process_at_the_same_ports(make, tmp_path):
    serving = make(WAITS.format(status=0))
    serving.start()
    ports, first = dict(serving.ports), (tmp_path / "work/port").read_text()
    serving.restart()
    assert (tmp_path / "work/port").read_text() != first
    assert serving.ports == ports
    assert serving.stop() is None


def test_a_bad_end_is_told(make):
    serving = make(WAITS.format(status=5))
    serving.start()
    assert serving.stop().startswith("the server ended with 5;")


def test_a_server_that_does_not_start_is_told_with_its_log(make):
    sentence = make(ENDS).start()
    assert sentence.startswith("the server did not start; ")
    assert sentence.endswith("\n    nothing works")


def test_a_server_that_died_is_not_started_again(make):
    serving = make(WAITS.format(status=0))
    serving.start()
    serving.kill()
    serving.restart()
    assert serving.died()
    assert serving.stop().startswith("the server ended with status -9;")


def test_a_server_that_survives_a_kill_is_told(make, monkeypatch):
    serving = make(WAITS.format(status=0))
    serving.start()
    monkeypatch.setattr(server, "KILL_LIMIT_S", 0)
    monkeypatch.setattr(serving._process, "kill", lambda: None)
    with pytest.raises(LabFailure, match="did not end within 0 s of SIGKILL"):
        serving.kill()
    monkeypatch.undo()


# What each data server of a start has pulled.
COUNTED = {
    "both": ([(5, 7)], False),
    "one-of-them": ([(5, 0)], True),
    "one-is-missing": ([(5,)], True),
    "both-before-a-restart": ([(5, 7), (0, 7)], True),
    "both-after-a-restart": ([(0, 0), (5, 7)], False),
}


@pytest.mark.parametrize("name", COUNTED)
def test_data_servers_that_carry_nothing_are_named(make, name):
    starts, idle = COUNTED[name]
    serving = make(WAITS.format(status=0), data_servers=2)
    lines = [
        f"data server {number}: 9 messages, {octets} octets pulled, 3 octets pushed\n"
        for pulled in starts
        for number, octets in enumerate(pulled, 1)
    ]
    serving.log.write_text("".join(lines))
    assert bool(serving.idle_data_servers()) is idle


def test_a_directory_is_exported_and_goes_away(make, tmp_path):
    serving = make(WAITS.format(status=0), server.DIRECTORY)
    assert (tmp_path / "work/export").is_dir()
    serving.close()
    assert not (tmp_path / "work/export").exists()


def test_a_missing_program_is_told():
    with pytest.raises(LabFailure, match="nowhere/serve is missing"):
        server.find_program("nowhere/serve")
