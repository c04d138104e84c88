"""Calls of NFSv3 that change files, by octets written by hand over TCP; as smoke.py, without the engine."""

from __future__ import annotations

import os
import socket
import struct

from lab import smoke
from lab.failure import LabFailure

ANSWER_LIMIT_S = 60  # an emulated disk is slow to flush
MAX_MESSAGE_BYTES = 65536
UID = GID = 1000  # of the caller: the owner of the export's root

CALL, REPLY, ACCEPTED, SUCCESS = 0, 1, 0, 0
AUTH_NONE, AUTH_SYS = 0, 1
LAST_FRAGMENT = 0x80000000
SETATTR, LOOKUP, WRITE, CREATE, MKDIR, SYMLINK = 2, 3, 7, 8, 9, 10
REMOVE, RMDIR, RENAME, LINK, COMMIT = 12, 13, 14, 15, 21
UNSTABLE, FILE_SYNC = 0, 2
GUARDED = 1
VERIFIER_BYTES = 8


class Nfs3:
    """A connection with one call at a time. A call that the server refuses is a LabFailure."""

    def __init__(self, host: str, port: int, export: str) -> None:
        self.root = smoke.tcp_mount(host, port, export)
        try:
            self._stream = socket.create_connection((host, port), ANSWER_LIMIT_S)
        except OSError as error:
            raise LabFailure(f"there is no connection to the server: {error}")
        self._xid = int.from_bytes(os.urandom(4), "big")

    def close(self) -> None:
        self._stream.close()

    def look_up(self, directory: bytes, name: str) -> bytes:
        return _opaque_at(self._call(LOOKUP, _opaque(directory) + _string(name)), 0)

    def create(self, directory: bytes, name: str, mode: int) -> bytes:
        how = struct.pack("!I", GUARDED) + _attributes(mode=mode)
        return _made(self._call(CREATE, _opaque(directory) + _string(name) + how))

    def make_directory(self, directory: bytes, name: str, mode: int) -> bytes:
        arguments = _opaque(directory) + _string(name) + _attributes(mode=mode)
        return _made(self._call(MKDIR, arguments))

    def make_symlink(self, directory: bytes, name: str, text: str) -> None:
        arguments = _opaque(directory) + _string(name) + _attributes() + _string(text)
        self._call(SYMLINK, arguments)

    def write(self, file: bytes, offset: int, data: bytes, stable: int) -> bytes:
        """The verifier. That the server takes all is part of the call's success."""
        head = struct.pack("!QII", offset, len(data), stable)
        result = self._call(WRITE, _opaque(file) + head + _opaque(data))
        count, committed = struct.unpack_from("!II", result, _wcc_end(result))
        if count != len(data) or committed < stable:
            raise LabFailure(f"WRITE of {len(data)} octets, stable {stable}: {count}, {committed}")
        return result[-VERIFIER_BYTES:]

    def commit(self, file: bytes) -> bytes:
        """The verifier."""
        return self._call(COMMIT, _opaque(file) + bytes(12))[-VERIFIER_BYTES:]

    def set_attributes(self, object_: bytes, mode: int | None = None, size: int | None = None):
        self._call(SETATTR, _opaque(object_) + _attributes(mode, size) + struct.pack("!I", 0))

    def remove(self, directory: bytes, name: str) -> None:
        self._call(REMOVE, _opaque(directory) + _string(name))

    def remove_directory(self, directory: bytes, name: str) -> None:
        self._call(RMDIR, _opaque(directory) + _string(name))

    def rename(self, directory: bytes, name: str, to_directory: bytes, to_name: str) -> None:
        source, target = _opaque(directory) + _string(name), _opaque(to_directory)
        self._call(RENAME, source + target + _string(to_name))

    def link(self, file: bytes, directory: bytes, name: str) -> None:
        self._call(LINK, _opaque(file) + _opaque(directory) + _string(name))

    def _call(self, procedure: int, arguments: bytes) -> bytes:
        """The results behind the status, which has to be NFS3_OK."""
        self._xid = (self._xid + 1) & 0xFFFFFFFF
        program = (smoke.NFS_PROGRAM, smoke.VERSION_3, procedure)
        credential = struct.pack("!I", 0) + _string("power") + struct.pack("!III", UID, GID, 0)
        call = struct.pack("!6I", self._xid, CALL, 2, *program)
        call += struct.pack("!I", AUTH_SYS) + _opaque(credential)
        call += struct.pack("!II", AUTH_NONE, 0) + arguments
        self._stream.sendall(struct.pack("!I", LAST_FRAGMENT | len(call)) + call)
        (mark,) = struct.unpack("!I", self._receive(4))
        reply = self._receive(mark & ~LAST_FRAGMENT)
        fields = struct.unpack("!6I", reply[:24])
        if fields != (self._xid, REPLY, ACCEPTED, 0, 0, SUCCESS):
            raise LabFailure(f"the server did not accept procedure {procedure}: {reply.hex()}")
        (status,) = struct.unpack_from("!I", reply, 24)
        if status != 0:
            raise LabFailure(f"the server answered procedure {procedure} with status {status}")
        return reply[28:]

    def _receive(self, length: int) -> bytes:
        if length > MAX_MESSAGE_BYTES:
            raise LabFailure(f"the server announces {length} octets where a short answer belongs")
        data = b""
        try:
            while len(data) < length:
                part = self._stream.recv(length - len(data))
                if not part:
                    raise LabFailure("the server closed the connection")
                data += part
        except OSError as error:
            raise LabFailure(f"the server did not answer: {error}")
        return data


def _opaque(octets: bytes) -> bytes:
    return struct.pack("!I", len(octets)) + octets + bytes(-len(octets) % 4)


def _string(text: str) -> bytes:
    return _opaque(text.encode())


def _attributes(mode: int | None = None, size: int | None = None) -> bytes:
    """sattr3: neither owner nor times."""
    packed = struct.pack("!I", 0) if mode is None else struct.pack("!II", 1, mode)
    packed += struct.pack("!II", 0, 0)
    packed += struct.pack("!I", 0) if size is None else struct.pack("!IQ", 1, size)
    return packed + struct.pack("!II", 0, 0)


def _opaque_at(octets: bytes, at: int) -> bytes:
    (length,) = struct.unpack_from("!I", octets, at)
    return octets[at + 4 : at + 4 + length]


def _made(result: bytes) -> bytes:
    """The handle of a new object (post_op_fh3)."""
    if struct.unpack_from("!I", result)[0] == 0:
        raise LabFailure("the server gives no handle of a new object")
    return _opaque_at(result, 4)


def _wcc_end(result: bytes) -> int:
    """Where wcc_data at the beginning ends."""
    before_bytes, after_bytes = 24, 84
    at = 4 + (before_bytes if struct.unpack_from("!I", result)[0] else 0)
    return at + 4 + (after_bytes if struct.unpack_from("!I", result, at)[0] else 0)
