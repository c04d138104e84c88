"""MOUNT version 3: from the export's path to the root's file handle, over RDMA or over TCP."""

import random
import socket
import struct
import urllib.parse

from . import kinds
from .outcome import read_reply
from .rpc_message import AuthSys, encode_call, opaque
from .verdict import HarnessError

MOUNT_PROGRAM, MOUNT_VERSION, MNT = 100005, 3, 1
# A MNT reply is a handle and a few flavours.
LARGEST_REPLY = 65536
# Fragments of one record; real servers send one.
MOST_FRAGMENTS = 16
_LAST = 0x80000000


def export_of(target):
    """The path to mount: the profile's, else the URL's, else the root."""
    return target.profile.export or urllib.parse.urlsplit(target.url).path or "/"


def mount(target, conn, deadlines):
    """The root's file handle as the profile says to get it; raises HarnessError."""
    how = target.profile.mount
    if "handle" in how:
        return bytes.fromhex(how["handle"])
    path = export_of(target)
    if how["transport"] == "tcp":
        kind, _, _, result, _ = _over_tcp(target, how, path, deadlines)
    else:
        call = conn.rpc_call(MOUNT_PROGRAM, MOUNT_VERSION, MNT, opaque(path), conn.settings.auth)
        outcome = conn.exchange(call)
        kind, result = outcome.kind, outcome.result
    if kind != kinds.REPLY:
        raise HarnessError(f"harness-error: mounting {path} gave {kind}")
    return result.fhandle


def _over_tcp(target, how, path, deadlines):
    auth = AuthSys(uid=target.profile.uid, gid=target.profile.gid)
    xid = random.getrandbits(32)
    call = encode_call(xid, MOUNT_PROGRAM, MOUNT_VERSION, MNT, auth) + opaque(path)
    try:
        with socket.create_connection(
            (how["host"], how["port"]), deadlines.answer_ms / 1000
        ) as tcp:
            tcp.sendall(struct.pack(">I", _LAST | len(call)) + call)
            record = _record(tcp)
    except OSError as error:
        place = f"{how['host']}:{how['port']}"
        raise HarnessError(f"harness-error: MOUNT over TCP at {place}: {error}") from None
    return read_reply(record, (MOUNT_PROGRAM, MOUNT_VERSION, MNT))


def _record(tcp):
    """One record-marked message (RFC 5531 11)."""
    record = b""
    for _ in range(MOST_FRAGMENTS):
        (mark,) = struct.unpack(">I", _exactly(tcp, 4))
        length = mark & ~_LAST
        if len(record) + length > LARGEST_REPLY:
            raise OSError("the reply is too large")
        record += _exactly(tcp, length)
        if mark & _LAST:
            return record
    raise OSError("the reply has too many fragments")


def _exactly(tcp, length):
    octets = b""
    while len(octets) < length:
        part = tcp.recv(length - len(octets))
        if not part:
            raise OSError("the connection ended in the middle of the reply")
        octets += part
    return octets
