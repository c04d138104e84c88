#!/usr/bin/env python3
"""A client that copies as it should, and beside that sends calls with extremes: `hostile_client.py COUNTER URL`.

COUNTER is a file that counts the runs of the program: each goes on with the turns of extremes.py. The calls stand on a
connection of their own, before the copy."""

import os
import pathlib
import sys
import tempfile

from extremes import Turns
from steertag import fabric, nfs, peer, wire
from steertag.suite.cases.case_end import CaseEnd
from steertag.suite.exchange.callbacks import Callbacks
from steertag.suite.exchange.deadline import Deadlines
from steertag.suite.nfs_client import nfs4_client
from steertag.suite.rdma.rdma_link import RdmaLink
from steertag.suite.run.profile import Profile

NFS3, MOUNT, NFS4 = nfs.nfs3, nfs.mount3, nfs.nfs4
CALL_S, STEP_S = 5.0, 1.0
# Turns of each kind of call in one run.
TURNS = 3
# A bent call may have no answer.
WAIT_MS = 20
OCTETS = b"\x11" * 8192


class Bent:
    """Stands in place of a fabric.Connection, and bends what is sent."""

    def __init__(self, raw, kind, turns):
        self._raw, self._kind, self._turns = raw, kind, turns

    def __getattr__(self, name):
        return getattr(self._raw, name)

    def send(self, octets, **options):
        self._raw.send(self._turns.bent(self._kind, bytes(octets)), **options)


class Calls:
    """The calls of a copy, as this server takes them: makers by kind, each of a connection."""

    def __init__(self, conn):
        self._root = conn.exchange(_mount(conn)).result.fhandle
        self._source = self._found(conn, "source")
        self._bent = self._made(conn, "bent")
        self.kinds = {
            "null": lambda conn: conn.null_call(),
            "mount": _mount,
            "fsinfo": lambda conn: conn.nfs_call("FSINFO", fsroot=self._root),
            "lookup": lambda conn: conn.nfs_call("LOOKUP", what=self._in_root("source")),
            "read": self._read,
            "long reply": self._long_reply,
            "write": self._write,
            "long call": self._long_call,
            "exchange id": lambda conn: conn.compound_call(_identity()),
            "sequence": lambda conn: conn.compound_call(_sequence(), "PUTROOTFH", "GETFH"),
        }

    def _in_root(self, name):
        return {"dir": self._root, "name": name}

    def _found(self, conn, name):
        return conn.exchange(conn.nfs_call("LOOKUP", what=self._in_root(name))).result.ok.object

    def _made(self, conn, name):
        how = {"mode": 0, "obj_attributes": {"mode": 0o666}}
        conn.exchange(conn.nfs_call("CREATE", where=self._in_root(name), how=how))
        return self._found(conn, name)

    def _read(self, conn):
        call = conn.nfs_call("READ", file=self._source, offset=0, count=len(OCTETS))
        conn.write_chunk(call, sizes=[4096, len(OCTETS) - 4096])
        return call

    def _long_reply(self, conn):
        call = conn.nfs_call("READDIRPLUS", dir=self._root, dircount=4096, maxcount=8192)
        conn.reply_chunk(call, 16384)
        return call

    def _write(self, conn):
        fields = {"file": self._bent, "offset": 0, "count": len(OCTETS), "stable": 2}
        call = conn.nfs_call("WRITE", data=OCTETS, **fields)
        conn.reduce(call)
        return call

    def _long_call(self, conn):
        call = conn.nfs_call("GETATTR", object=self._root)
        conn.long_call(call)
        return call


def _mount(conn):
    arguments = MOUNT.encode_args("MNT", MOUNT.DirPath(path="/export"))
    asked = (MOUNT.PROGRAM, MOUNT.VERSION, int(MOUNT.Procedure.MNT))
    return conn.rpc_call(*asked, arguments)


def _identity():
    owner = {"co_verifier": b"extremes", "co_ownerid": b"a client with extremes"}
    return nfs4_client.operation("EXCHANGE_ID", eia_clientowner=owner, eia_flags=0)


def _sequence():
    return nfs4_client.operation("SEQUENCE", sa_sessionid=bytes(16), sa_sequenceid=1, sa_slotid=0)


def send_extremes(url, turns):
    link = RdmaLink(url, Profile())
    calls = Calls(link.helper(Deadlines()))
    for kind, make in calls.kinds.items():
        for _ in range(TURNS):
            conn = link.helper(Deadlines())
            call = make(conn)
            conn.tap(lambda raw, kind=kind: Bent(raw, kind, turns))
            conn.send(call)
            conn.receive(WAIT_MS)
            conn.abort()
    answer_callbacks(link, turns)


def answer_callbacks(link, turns):
    """Makes a session with a backchannel, bent itself, and answers what the server calls with extremes."""
    conn = link.helper(Deadlines())
    conn.tap(lambda raw: Bent(raw, "session", turns))
    Callbacks(conn)
    client = nfs4_client.Nfs4Client(conn, "another client with extremes")
    client.exchange_id()
    client.create_session(csa_flags=NFS4.CREATE_SESSION4_FLAG_CONN_BACK_CHAN)
    conn.callbacks.wait_seen(1, WAIT_MS)
    conn.abort()


def copy(url):
    files = peer.Files(url, version=3, timeout_s=CALL_S)
    with tempfile.TemporaryFile() as local:
        run(files.fetch(files.find("/export/source"), local.fileno()))
        length = local.seek(0, os.SEEK_END)
        run(files.store(local.fileno(), length, files.find("/export"), "copy", 0o644))
    files.end()


def run(transfer):
    while not transfer.step(STEP_S):
        pass


def main(counter, url):
    runs = pathlib.Path(counter)
    number = int(runs.read_text()) if runs.exists() else 0
    runs.write_text(str(number + 1))
    try:
        send_extremes(url, Turns(number * TURNS))
    except (CaseEnd, fabric.FabricError, AttributeError, wire.DecodeError):
        pass  # the server of a case does not always serve
    copy(url)


if __name__ == "__main__":
    main(*sys.argv[1:])
