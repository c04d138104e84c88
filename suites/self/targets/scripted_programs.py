"""Servers of RPC programs over TCP that answer from a table, for what the suite does before its cases."""

import contextlib
import socketserver
import struct
import threading

from steertag import nfs, rpc, wire

READ_BYTES = 65536
END_S = 20
NFS3, MOUNT3, RPCBIND2 = (100003, 3), (100005, 3), (100000, 2)
HANDLE = b"root"
# Answers by (program, version, procedure): the octets of the results.
NULL = {(*NFS3, 0): b""}


def words(*values):
    return struct.pack(f">{len(values)}I", *values)


# No attributes, seven sizes, the largest file, the granularity of times, no properties.
FSINFO_OK = words(0, 0, *[65536] * 7, 256, 0, 0, 1, 0)


def string(text):
    return words(len(text)) + text + bytes(-len(text) % 4)


def mounting(status, *exported):
    """MOUNT gives this status, and lists these exports."""
    root = words(status) if status else words(0) + string(HANDLE) + words(1, 1)
    listed = b"".join(words(1) + string(each) + words(0) for each in exported) + words(0)
    program = {0: b"", 1: root, 5: listed}
    return {(*MOUNT3, number): octets for number, octets in program.items()}


def root_gives(**statuses):
    """NFS version 3 with a root on which these procedures give these statuses."""
    table = NULL | {(*NFS3, nfs.nfs3.Procedure.FSINFO.value): FSINFO_OK}
    for name, status in statuses.items():
        # A status, and neither attributes nor what was before.
        octets = words(status, 0) if name == "FSINFO" else words(status, 0, 0)
        table[(*NFS3, nfs.nfs3.Procedure[name].value)] = octets
    return table


def answer(record, table):
    """The reply to a call."""
    call, _ = rpc.Call.decode(record)
    versions = sorted(version for program, version, _ in table if program == call.program)
    procedure = (call.program, call.version, call.procedure)
    if procedure in table:
        return rpc.Reply(xid=call.xid).encode() + table[procedure]
    if not versions:
        return rpc.Reply(xid=call.xid, accept_status=rpc.AcceptStatus.PROG_UNAVAIL).encode()
    if call.version in versions:
        return rpc.Reply(xid=call.xid, accept_status=rpc.AcceptStatus.PROC_UNAVAIL).encode()
    offered = rpc.VersionRange(low=versions[0], high=versions[-1])
    lacks = rpc.AcceptStatus.PROG_MISMATCH
    return rpc.Reply(xid=call.xid, accept_status=lacks, mismatch=offered).encode()


class _Connection(socketserver.BaseRequestHandler):
    def handle(self):
        reader = rpc.RecordReader()
        with contextlib.suppress(OSError, wire.DecodeError):
            while octets := self.request.recv(READ_BYTES):
                replies = [answer(record, self.server.table) for record in reader.feed(octets)]
                self.request.sendall(b"".join(map(rpc.record, replies)))


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


@contextlib.contextmanager
def programs(table):
    """The port of a server with these answers."""
    with _Server(("127.0.0.1", 0), _Connection) as server:
        server.table = table
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join(END_S)
