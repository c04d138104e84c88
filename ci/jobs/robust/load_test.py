"""The load ends with the command, and its early end is seen."""

import os
import select

import pytest

from ci.jobs.robust.load import Load, LoadEnded

LIMIT_S = 60


def test_workers_of_the_load_end_with_it(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with Load(tmp_path, ["sh", "-c", "sleep 600 >pipe & wait"]) as load:
        pipe = os.open(tmp_path / "pipe", os.O_RDONLY)  # waits for the worker
        load.check()
    ended, _, _ = select.select([pipe], [], [], LIMIT_S)
    assert ended, "a worker still lives"
    assert os.read(pipe, 1) == b""
    os.close(pipe)


def test_a_load_that_ended_is_an_error(tmp_path):
    with Load(tmp_path, ["false"]) as load:
        load.wait()
        with pytest.raises(LoadEnded, match="the load ended with status 1"):
            load.check()
