"""steertag-serve under crowds of one address, while a client of another one works."""

import contextlib
import multiprocessing
import os
import selectors
import socket
import time

import pytest

from steertag import build_paths, nfs, peer, rpc
from steertag.suite.run.options import DEFAULT_LISTEN
from steertag.suite.run.server_process import BundledServer

PROGRAM = os.environ.get("STEERTAG_SERVE") or str(build_paths.tool("steertag-serve"))
DEADLINE_S = 60
CROWD = "127.0.0.2"  # the client is 127.0.0.1
# Of one source, see kStartupLimits and kRecordParts.
STARTUPS = 256
SILENT = 600
HALF_RECORDS = 400
PATIENCE_S = 1
WRITES = 15
# The fastest of these writes takes about this much longer at most: the crowd takes turns too. What else the machine
# does slows some of them.
MOST_RATIO = 10
LAST_FRAGMENT = 1 << 31
DATA = bytes(range(256)) * 4096
nfs3, mount3 = nfs.nfs3, nfs.mount3


@pytest.fixture
def server(tmp_path):
    made = BundledServer(PROGRAM, DEFAULT_LISTEN, [], tmp_path, "flood")
    made.start()
    yield made
    assert made.stop() is None


def address(url):
    host, port = url.removesuffix("/export").rpartition("//")[2].split(":")
    return host, int(port)


def silent_sockets(target, count):
    """Sockets of the crowd that send nothing."""
    made = []
    for _ in range(count):
        made.append(socket.create_connection(target, DEADLINE_S, source_address=(CROWD, 0)))
    return made


def await_ends(sockets, count):
    """Waits until the server has closed so many of them."""
    with selectors.DefaultSelector() as selector:
        for each in sockets:
            selector.register(each, selectors.EVENT_READ)
        while count > 0:
            ready = selector.select(DEADLINE_S)
            assert ready, f"{count} more sockets should be refused"
            for key, _ in ready:
                selector.unregister(key.fileobj)
            count -= len(ready)


def test_silent_sockets_of_one_address_shut_out_no_other(server):
    sockets = silent_sockets(address(server.urls["rdma"]), SILENT)
    try:
        await_ends(sockets, SILENT - STARTUPS)
        began = time.monotonic()
        client = peer.Client(server.urls["rdma"])
        client.call(nfs3.encode_call("NULL", None, xid=1, credential=rpc.auth_sys()))
        assert time.monotonic() - began < PATIENCE_S
    finally:
        for each in sockets:
            each.close()
    lines = [line for line in server.output().splitlines() if "half open: " in line]
    assert len(lines) == 1, f"one burst of refusals has {len(lines)} lines"
    assert f"{CROWD} has {STARTUPS}, as many as one source may have" in lines[0]


class Stream:
    """A client over TCP."""

    def __init__(self, target):
        self._socket = socket.create_connection(target, DEADLINE_S)
        self._file = self._socket.makefile("rb")

    def call(self, procedure, arguments, module=nfs3):
        call = module.encode_call(procedure, arguments, xid=1, credential=rpc.auth_sys())
        self._socket.sendall((LAST_FRAGMENT | len(call)).to_bytes(4, "big") + call)
        length = int.from_bytes(self._file.read(4), "big") & ~LAST_FRAGMENT
        return module.decode_reply(procedure, self._file.read(length))[1]

    def close(self):
        self._file.close()
        self._socket.close()


def write_s(target, handle):
    """How long it takes a new client to connect and write a mebibyte, in seconds."""
    began = time.monotonic()
    with contextlib.closing(Stream(target)) as stream:
        arguments = nfs3.WriteArgs(file=handle, count=len(DATA), data=DATA)
        assert stream.call("WRITE", arguments).ok.count == len(DATA)
    return time.monotonic() - began


def crowd_of_half_records(target, count, is_busy):
    """Peers that send half of a record and then nothing. When they are dropped they connect again, and the first
    time `is_busy` is set."""
    half = (LAST_FRAGMENT | len(DATA)).to_bytes(4, "big") + DATA[: len(DATA) // 2]
    selector = selectors.DefaultSelector()

    def connect():
        made = socket.socket()
        made.bind((CROWD, 0))
        made.setblocking(False)
        made.connect_ex(target)
        selector.register(made, selectors.EVENT_READ | selectors.EVENT_WRITE, [memoryview(half)])

    for _ in range(count):
        connect()
    while True:
        for key, events in selector.select():
            try:
                if events & selectors.EVENT_WRITE:
                    key.data[0] = key.data[0][key.fileobj.send(key.data[0]) :]
                    if not key.data[0]:
                        selector.modify(key.fileobj, selectors.EVENT_READ, key.data)
                if not events & selectors.EVENT_READ or key.fileobj.recv(1):
                    continue
            except OSError:
                pass
            selector.unregister(key.fileobj)
            key.fileobj.close()
            is_busy.set()
            connect()


@contextlib.contextmanager
def crowd(target):
    context = multiprocessing.get_context("fork")
    is_busy = context.Event()
    process = context.Process(
        target=crowd_of_half_records, args=(target, HALF_RECORDS, is_busy), daemon=True
    )
    process.start()
    try:
        assert is_busy.wait(DEADLINE_S), "no peer with half a record was dropped"
        yield
    finally:
        process.kill()
        process.join()


def test_half_records_of_one_address_slow_no_other_much(server, record_property):
    target = address(server.urls["tcp"])
    with contextlib.closing(Stream(target)) as stream:
        root = stream.call("MNT", mount3.DirPath(path="/export"), mount3).fhandle
        where = nfs3.DirOpArgs(dir=root, name="file")
        handle = stream.call("CREATE", nfs3.CreateArgs(where=where)).ok.obj
    alone_s = min(write_s(target, handle) for _ in range(WRITES))
    with crowd(target):
        beside_s = min(write_s(target, handle) for _ in range(WRITES))
    record_property("ratio", round(beside_s / alone_s, 1))
    assert beside_s < MOST_RATIO * alone_s, (
        f"a write of a mebibyte takes {alone_s * 1000:.1f} ms alone, and {beside_s * 1000:.1f} ms beside "
        f"{HALF_RECORDS} peers of another address with half a record each"
    )
