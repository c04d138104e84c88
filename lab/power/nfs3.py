"""Calls of NFSv3 that change files, by octets written by hand."""

from __future__ import annotations

import struct

from lab import smoke
from lab.failure import LabFailure
from lab.power.rpc_stream import RpcStream, opaque, opaque_at, string

SETATTR, LOOKUP, WRITE, CREATE, MKDIR, SYMLINK = 2, 3, 7, 8, 9, 10
REMOVE, RMDIR, RENAME, LINK, COMMIT = 12, 13, 14, 15, 21
UNSTABLE, FILE_SYNC = 0, 2
GUARDED = 1
VERIFIER_BYTES = 8


class Nfs3:
    """A connection with one call at a time. A call that the server refuses is a LabFailure."""

    def __init__(self, host: str, port: int, export: str) -> None:
        self.root = smoke.tcp_mount(host, port, export)
        self._stream = RpcStream(host, port)

    def close(self) -> None:
        self._stream.close()

    def look_up(self, directory: bytes, name: str) -> bytes:
        return opaque_at(self._call(LOOKUP, opaque(directory) + string(name)), 0)

    def create(self, directory: bytes, name: str, mode: int) -> bytes:
        how = struct.pack("!I", GUARDED) + _attributes(mode=mode)
        return _made(self._call(CREATE, opaque(directory) + string(name) + how))

    def make_directory(self, directory: bytes, name: str, mode: int) -> bytes:
        arguments = opaque(directory) + string(name) + _attributes(mode=mode)
        return _made(self._call(MKDIR, arguments))

    def make_symlink(self, directory: bytes, name: str, text: str) -> None:
        arguments = opaque(directory) + string(name) + _attributes() + string(text)
        self._call(SYMLINK, arguments)

    def write(self, file: bytes, offset: int, data: bytes, stable: int) -> bytes:
        """The verifier. That the server takes all is part of the call's success."""
        head = struct.pack("!QII", offset, len(data), stable)
        result = self._call(WRITE, opaque(file) + head + opaque(data))
        count, committed = struct.unpack_from("!II", result, _wcc_end(result))
        if count != len(data) or committed < stable:
            raise LabFailure(f"WRITE of {len(data)} octets, stable {stable}: {count}, {committed}")
        return result[-VERIFIER_BYTES:]

    def commit(self, file: bytes) -> bytes:
        """The verifier."""
        return self._call(COMMIT, opaque(file) + bytes(12))[-VERIFIER_BYTES:]

    def set_attributes(self, object_: bytes, mode: int | None = None, size: int | None = None):
        self._call(SETATTR, opaque(object_) + _attributes(mode, size) + struct.pack("!I", 0))

    def remove(self, directory: bytes, name: str) -> None:
        self._call(REMOVE, opaque(directory) + string(name))

    def remove_directory(self, directory: bytes, name: str) -> None:
        self._call(RMDIR, opaque(directory) + string(name))

    def rename(self, directory: bytes, name: str, to_directory: bytes, to_name: str) -> None:
        source, target = opaque(directory) + string(name), opaque(to_directory)
        self._call(RENAME, source + target + string(to_name))

    def link(self, file: bytes, directory: bytes, name: str) -> None:
        self._call(LINK, opaque(file) + opaque(directory) + string(name))

    def _call(self, procedure: int, arguments: bytes) -> bytes:
        """The results behind the status, which has to be NFS3_OK."""
        result = self._stream.call(smoke.NFS_PROGRAM, smoke.VERSION_3, procedure, arguments)
        (status,) = struct.unpack_from("!I", result)
        if status != 0:
            raise LabFailure(f"the server answered procedure {procedure} with status {status}")
        return result[4:]


def _attributes(mode: int | None = None, size: int | None = None) -> bytes:
    """sattr3: neither owner nor times."""
    packed = struct.pack("!I", 0) if mode is None else struct.pack("!II", 1, mode)
    packed += struct.pack("!II", 0, 0)
    packed += struct.pack("!I", 0) if size is None else struct.pack("!IQ", 1, size)
    return packed + struct.pack("!II", 0, 0)


def _made(result: bytes) -> bytes:
    """The handle of a new object (post_op_fh3)."""
    if struct.unpack_from("!I", result)[0] == 0:
        raise LabFailure("the server gives no handle of a new object")
    return opaque_at(result, 4)


def _wcc_end(result: bytes) -> int:
    """Where wcc_data at the beginning ends."""
    before_bytes, after_bytes = 24, 84
    at = 4 + (before_bytes if struct.unpack_from("!I", result)[0] else 0)
    return at + 4 + (after_bytes if struct.unpack_from("!I", result, at)[0] else 0)
