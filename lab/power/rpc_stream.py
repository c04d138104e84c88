"""RPC calls over TCP, one at a time, by octets written by hand; as smoke.py, without the engine."""

from __future__ import annotations

import os
import socket
import struct

from lab.failure import LabFailure

ANSWER_LIMIT_S = 60  # an emulated disk is slow to flush
MAX_MESSAGE_BYTES = 65536
UID = GID = 1000  # of the caller: the owner of the export's root

CALL, REPLY, ACCEPTED, SUCCESS = 0, 1, 0, 0
AUTH_NONE, AUTH_SYS = 0, 1
LAST_FRAGMENT = 0x80000000


class RpcStream:
    """A connection. A call that the server does not accept is a LabFailure."""

    def __init__(self, host: str, port: int) -> None:
        try:
            self._stream = socket.create_connection((host, port), ANSWER_LIMIT_S)
        except OSError as error:
            raise LabFailure(f"there is no connection to the server: {error}")
        self._xid = int.from_bytes(os.urandom(4), "big")

    def close(self) -> None:
        self._stream.close()

    def call(self, program: int, version: int, procedure: int, arguments: bytes) -> bytes:
        """The results of a procedure."""
        self._xid = (self._xid + 1) & 0xFFFFFFFF
        credential = struct.pack("!I", 0) + string("power") + struct.pack("!III", UID, GID, 0)
        call = struct.pack("!6I", self._xid, CALL, 2, program, version, procedure)
        call += struct.pack("!I", AUTH_SYS) + opaque(credential)
        call += struct.pack("!II", AUTH_NONE, 0) + arguments
        self._stream.sendall(struct.pack("!I", LAST_FRAGMENT | len(call)) + call)
        (mark,) = struct.unpack("!I", self._receive(4))
        reply = self._receive(mark & ~LAST_FRAGMENT)
        fields = struct.unpack("!6I", reply[:24])
        if fields != (self._xid, REPLY, ACCEPTED, 0, 0, SUCCESS):
            raise LabFailure(f"the server did not accept procedure {procedure}: {reply.hex()}")
        return reply[24:]

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


def opaque(octets: bytes) -> bytes:
    """The octets with their length and roundup."""
    return struct.pack("!I", len(octets)) + octets + bytes(-len(octets) % 4)


def string(text: str) -> bytes:
    """The same of a text."""
    return opaque(text.encode())


def opaque_at(octets: bytes, at: int) -> bytes:
    """The octets whose length stands there."""
    (length,) = struct.unpack_from("!I", octets, at)
    return octets[at + 4 : at + 4 + length]
