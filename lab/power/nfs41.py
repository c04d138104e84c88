"""WRITE and COMMIT of NFSv4.1 in a session, by octets written by hand. Files are found by their names."""

from __future__ import annotations

import os
import struct

from lab import smoke
from lab.failure import LabFailure
from lab.power.rpc_stream import RpcStream, opaque, string

VERSION_4, MINOR_VERSION, COMPOUND = 4, 1, 1
OP_COMMIT, OP_LOOKUP, OP_PUTROOTFH, OP_WRITE = 5, 15, 24, 38
OP_EXCHANGE_ID, OP_CREATE_SESSION = 42, 43
OP_SEQUENCE, OP_RECLAIM_COMPLETE = 53, 58
SESSION_BYTES = 16
VERIFIER_BYTES = 8
# Of a channel: no padding, COMPOUNDs with one WRITE, few operations, one slot, no RDMA.
CHANNEL = struct.pack("!7I", 0, 65536, 65536, 4096, 16, 1, 0)
ANONYMOUS = bytes(16)  # RFC 8881 8.2.3
CALLBACK_PROGRAM = 0x40000000  # which no server calls: the session has no backchannel


class Nfs41:
    """A session of one slot. A COMPOUND that the server refuses is a LabFailure."""

    def __init__(self, host: str, port: int, export: str, name: str) -> None:
        self._stream = RpcStream(host, port)
        self._export = [word for word in export.split("/") if word]
        self._session = self._make_session(name)
        self._sequence = 0
        self._in_session(struct.pack("!II", OP_RECLAIM_COMPLETE, 0))

    def close(self) -> None:
        self._stream.close()

    def write(self, path: str, offset: int, data: bytes, stable: int) -> bytes:
        """The verifier of a WRITE to the file with this path in the export."""
        head = struct.pack("!I", OP_WRITE) + ANONYMOUS + struct.pack("!QI", offset, stable)
        result = self._in_session(*self._find(path), head + opaque(data))
        count, committed = struct.unpack_from("!II", result, -8 - VERIFIER_BYTES)
        if count != len(data) or committed < stable:
            raise LabFailure(f"WRITE of {len(data)} octets, stable {stable}: {count}, {committed}")
        return result[-VERIFIER_BYTES:]

    def commit(self, path: str) -> bytes:
        """The verifier."""
        whole = struct.pack("!IQI", OP_COMMIT, 0, 0)
        return self._in_session(*self._find(path), whole)[-VERIFIER_BYTES:]

    def _find(self, path: str) -> list[bytes]:
        """Operations from the root to the file."""
        names = [*self._export, *path.split("/")]
        lookups = [struct.pack("!I", OP_LOOKUP) + string(name) for name in names]
        return [struct.pack("!I", OP_PUTROOTFH), *lookups]

    def _make_session(self, name: str) -> bytes:
        """The id of a new session of a new client."""
        owner = os.urandom(VERIFIER_BYTES) + string(f"power-{name}-{os.getpid()}")
        known = self._compound(struct.pack("!I", OP_EXCHANGE_ID) + owner + bytes(12))
        client = known[8:20]  # behind operation and status: client id and sequence
        flags, program = struct.pack("!I", 0), struct.pack("!I", CALLBACK_PROGRAM)
        security = struct.pack("!II", 1, 0)  # one flavor, AUTH_NONE
        asked = client + flags + CHANNEL + CHANNEL + program + security
        made = self._compound(struct.pack("!I", OP_CREATE_SESSION) + asked)
        return made[8 : 8 + SESSION_BYTES]

    def _in_session(self, *operations: bytes) -> bytes:
        """The results of operations behind SEQUENCE."""
        self._sequence += 1
        slot = struct.pack("!4I", self._sequence, 0, 0, 0)
        sequence = struct.pack("!I", OP_SEQUENCE) + self._session + slot
        return self._compound(sequence, *operations)

    def _compound(self, *operations: bytes) -> bytes:
        """The results of a COMPOUND, which has to succeed, from the first operation's number on."""
        head = string("") + struct.pack("!II", MINOR_VERSION, len(operations))
        arguments = head + b"".join(operations)
        result = self._stream.call(smoke.NFS_PROGRAM, VERSION_4, COMPOUND, arguments)
        status, tag_bytes = struct.unpack_from("!II", result)
        if status != 0 or tag_bytes != 0:
            raise LabFailure(f"the server answered a COMPOUND with status {status}")
        return result[12:]
