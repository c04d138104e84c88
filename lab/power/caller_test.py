"""What a caller does reaches the server, and its journal expects what is then there."""

import random
import time

import pytest

from lab.failure import LabFailure
from lab.power.caller import SHARES, Caller
from lab.power.tree import Directory, File, Link, Tree

CALLS = 400
LIMIT_S = 60


class Server:
    """In place of a connection: does the calls at once. A handle is the first path of its object."""

    def __init__(self):
        self.objects = {}
        self.root = ""
        self.verifier = b"verifier"
        self._handles = {}

    def create(self, directory, name, mode):
        return self._add(directory, name, File(mode))

    def make_directory(self, directory, name, mode):
        return self._add(directory, name, Directory(mode))

    def make_symlink(self, directory, name, text):
        self._add(directory, name, Link(text))

    def link(self, file, directory, name):
        self._add(directory, name, self._handles[file])

    def rename(self, directory, name, to_directory, to_name):
        self.objects[f"{to_directory}/{to_name}"] = self.objects.pop(f"{directory}/{name}")

    def remove(self, directory, name):
        del self.objects[f"{directory}/{name}"]

    remove_directory = remove

    def write(self, file, offset, data, stable):
        put(self._handles[file], offset, data)
        return self.verifier

    def commit(self, file):
        return self.verifier

    def set_attributes(self, handle, mode=None, size=None):
        if mode is not None:
            self._handles[handle].mode = mode
        if size is not None:
            self._handles[handle].resize(size)

    def _add(self, directory, name, made):
        path = f"{directory}/{name}"
        assert path not in self.objects
        self.objects[path] = made
        # A directory keeps its name; a file is found by its first one.
        self._handles[path] = made
        return path

    def tree(self):
        found = Tree()
        for path, one in self.objects.items():
            found.objects[path.removeprefix("/dir").removeprefix("/")] = one
        return found


class Over41:
    """In place of a session with that server, which finds files by their paths."""

    def __init__(self, server):
        self.calls = set()
        self._server = server

    def write(self, path, offset, data, stable):
        self.calls.add("write")
        put(self._server.objects[f"/{path}"], offset, data)
        return b"another verifier"

    def commit(self, path):
        self.calls.add("commit")
        assert f"/{path}" in self._server.objects
        return b"another verifier"


def put(file, offset, data):
    file.content.extend(bytes(max(0, offset + len(data) - len(file.content))))
    file.content[offset : offset + len(data)] = data


def caller(server, seed=1):
    return Caller(server, "dir", random.Random(seed), lambda: len(server.objects))


@pytest.mark.parametrize("seed", range(5))
def test_the_server_has_what_the_journal_expects(seed):
    server = Server()
    made = caller(server, seed)
    made.work(CALLS, time.monotonic() + LIMIT_S)
    assert len(made.journal.acknowledged) >= CALLS
    assert made.journal.tree.faults(server.tree()) == []


def test_data_go_over_both_versions():
    server = Server()
    over_41 = Over41(server)
    made = Caller(server, "dir", random.Random(1), lambda: len(server.objects), over_41)
    made.work(CALLS, time.monotonic() + LIMIT_S)
    assert over_41.calls == {"write", "commit"}
    assert made.journal.tree.faults(server.tree()) == []


def test_every_kind_of_call_is_made(monkeypatch):
    made = caller(Server())
    seen = set()
    for name in SHARES:
        act = getattr(made, f"_{name}")
        monkeypatch.setattr(made, f"_{name}", lambda name=name, act=act: (seen.add(name), act()))
    made.work(CALLS, time.monotonic() + LIMIT_S)
    assert seen == SHARES.keys()


def test_a_server_that_forgets_unstable_writes_on_the_way_is_no_subject():
    server = Server()
    made = caller(server)
    made._create()
    made._write()
    server.verifier = b"restarts"
    with pytest.raises(LabFailure, match="write verifier changed"):
        made._write()


def test_callers_end_at_their_deadline():
    with pytest.raises(LabFailure, match="of 400 calls took too long"):
        caller(Server()).work(CALLS, time.monotonic() - 1)
