"""A check of the lab itself, by bytes written by hand: MPA, NULL over RDMA, MOUNT over TCP.

It shares no code with the engine, so that a fault of the lab can be told from a fault of the
engine. If this passes and the suite cannot connect, look at the engine.
"""

from __future__ import annotations

import os
import socket
import struct

from lab.failure import LabFailure

ANSWER_LIMIT_S = 10
MAX_MESSAGE_BYTES = 4096

# RFC 6581: request, CRC wanted, enhanced, revision 2. Then 4 octets of IRD/ORD (16 and 16, no
# peer-to-peer) and the 8 octets of RFC 8797 private data (version 1, no flags, 4096/4096).
MPA_REQUEST = bytes.fromhex("4d504120494420526571204672616d65 5002000c 00100010 f6ab0e18 01000303")
MPA_REPLY_KEY = b"MPA ID Rep Frame"
MPA_FRAME_BYTES = 20
MPA_REJECTED = 0x20

DDP_SEND_LAST = 0x41
RDMAP_SEND = 0x43
UNTAGGED_HEADER_BYTES = 18
CRC32C_POLYNOMIAL = 0x82F63B78

RDMA_MSG = 0
CREDITS_WANTED = 8
CALL, REPLY, ACCEPTED, SUCCESS = 0, 1, 0, 0
NFS_PROGRAM, MOUNT_PROGRAM = 100003, 100005
VERSION_3 = 3
NULL, MNT = 0, 1
LAST_FRAGMENT = 0x80000000


def rdma_null(host: str, port: int) -> int:
    """NFSv3 NULL over an enhanced MPA connection; returns the credits that the reply grants."""
    with socket.create_connection((host, port), ANSWER_LIMIT_S) as stream:
        stream.sendall(MPA_REQUEST)
        frame = _receive(stream, MPA_FRAME_BYTES)
        flags, _, length = struct.unpack("!BBH", frame[16:])
        if not frame.startswith(MPA_REPLY_KEY) or flags & MPA_REJECTED:
            raise LabFailure(f"the guest refused the MPA request: {frame.hex()}")
        _receive(stream, length)
        xid = int.from_bytes(os.urandom(4), "big")
        header = struct.pack("!7I", xid, 1, CREDITS_WANTED, RDMA_MSG, 0, 0, 0)
        stream.sendall(_fpdu(header + _call(xid, NFS_PROGRAM, NULL)))
        message = _read_fpdu(stream)
        if message[1] != RDMAP_SEND and message[1] & 0x0F not in (3, 4):
            raise LabFailure(f"the guest answered NULL with something else: {message.hex()}")
        payload = message[UNTAGGED_HEADER_BYTES:]
        reply_xid, version, credits, kind = struct.unpack("!4I", payload[:16])
        if (reply_xid, version, kind) != (xid, 1, RDMA_MSG):
            raise LabFailure(f"the guest answered NULL with another header: {payload.hex()}")
        _accepted(payload[28:], xid)
        return credits


def tcp_mount(host: str, port: int, export: str) -> bytes:
    """MOUNT version 3 of the export over TCP; returns the file handle."""
    with socket.create_connection((host, port), ANSWER_LIMIT_S) as stream:
        xid = int.from_bytes(os.urandom(4), "big")
        path = export.encode()
        padded = struct.pack("!I", len(path)) + path + bytes(-len(path) % 4)
        call = _call(xid, MOUNT_PROGRAM, MNT) + padded
        stream.sendall(struct.pack("!I", LAST_FRAGMENT | len(call)) + call)
        (mark,) = struct.unpack("!I", _receive(stream, 4))
        result = _accepted(_receive(stream, mark & ~LAST_FRAGMENT), xid)
        status, length = struct.unpack("!II", result[:8].ljust(8, b"\0"))
        if status != 0:
            raise LabFailure(f"the guest refuses to mount {export} with status {status}")
        return result[8 : 8 + length]


def _call(xid: int, program: int, procedure: int) -> bytes:
    """An RPC call of version 3 of a program, with AUTH_NONE."""
    return struct.pack("!10I", xid, CALL, 2, program, VERSION_3, procedure, 0, 0, 0, 0)


def _accepted(reply: bytes, xid: int) -> bytes:
    """The results of an RPC reply, which must be a success."""
    fields = struct.unpack("!6I", reply[:24])
    if fields != (xid, REPLY, ACCEPTED, 0, 0, SUCCESS):
        raise LabFailure(f"the guest did not accept the call: {reply.hex()}")
    return reply[24:]


def _fpdu(message: bytes) -> bytes:
    """The first Send of a connection, as one FPDU with CRC."""
    ulpdu = struct.pack("!BBIIII", DDP_SEND_LAST, RDMAP_SEND, 0, 0, 1, 0) + message
    framed = struct.pack("!H", len(ulpdu)) + ulpdu
    framed += bytes(-len(framed) % 4)
    return framed + struct.pack("<I", _crc32c(framed))


def _read_fpdu(stream: socket.socket) -> bytes:
    """The ULPDU of the next FPDU, its CRC checked."""
    prefix = _receive(stream, 2)
    (length,) = struct.unpack("!H", prefix)
    rest = _receive(stream, length + -(length + 2) % 4 + 4)
    if _crc32c(prefix + rest[:-4]) != struct.unpack("<I", rest[-4:])[0]:
        raise LabFailure("the guest sent an FPDU with a wrong CRC")
    return rest[:length]


def _receive(stream: socket.socket, length: int) -> bytes:
    if length > MAX_MESSAGE_BYTES:
        raise LabFailure(f"the guest announces {length} octets where a short answer belongs")
    data = b""
    try:
        while len(data) < length:
            part = stream.recv(length - len(data))
            if not part:
                raise LabFailure(f"the guest closed the connection after {len(data)} octets")
            data += part
    except OSError as error:
        raise LabFailure(f"the guest did not answer: {error}")
    return data


def _crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for octet in data:
        crc ^= octet
        for _ in range(8):
            crc = crc >> 1 ^ (CRC32C_POLYNOMIAL if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF
