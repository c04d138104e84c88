"""The calls by hand of the lab's test of power loss reach our server, and it has what their journal expects."""

import contextlib
import os
import random
import tempfile
import time

import pytest

from lab.power.caller import Caller
from lab.power.nfs3 import Nfs3
from lab.power.nfs41 import Nfs41
from lab.power.rpc_stream import UID
from lab.power.tree import File
from steertag import build_paths, peer
from steertag.suite.run.server_process import BundledServer

CALLS = 200
LIMIT_S = 60
NAME = "caller"


@pytest.fixture
def address(tmp_path):
    """(host, port) of a fresh server over TCP."""
    program = os.environ.get("STEERTAG_SERVE") or build_paths.tool("steertag-serve")
    server = BundledServer(program, "iwarp://127.0.0.1:0", [], tmp_path, "power")
    server.start()
    host, port = server.urls["tcp"].removesuffix("/export").removeprefix("tcp://").split(":")
    yield host, int(port)
    server.stop()


def test_the_server_has_what_the_journal_expects(address):
    host, port = address
    with contextlib.ExitStack() as connections:
        nfs = connections.enter_context(contextlib.closing(Nfs3(host, port, "/export")))
        nfs41 = connections.enter_context(contextlib.closing(Nfs41(host, port, "/export", NAME)))
        caller = Caller(nfs, NAME, random.Random(1), lambda: 0, nfs41)
        caller.work(CALLS, time.monotonic() + LIMIT_S)
    files = {
        path: one
        for path, one in caller.journal.tree.objects.items()
        if isinstance(one, File) and not one.pending
    }
    assert any(one.content for one in files.values())
    for path, one in files.items():
        assert read(address, f"/export/{NAME}/{path}") == one.content, path


def read(address, path):
    """What the file has, by the reference client."""
    host, port = address
    url = f"tcp://{host}:{port}/export"
    remote = peer.Files(url, version=3, uid=UID, mount_port=port, timeout_s=LIMIT_S)
    with tempfile.TemporaryFile() as local:
        fetching = remote.fetch(remote.find(path), local.fileno())
        while not fetching.step(LIMIT_S):
            pass
        remote.end()
        local.seek(0)
        return local.read()
