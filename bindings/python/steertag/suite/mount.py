"""MOUNT version 3: from the export's path to the root's file handle, over RDMA or over TCP."""

import socket
import urllib.parse

from .. import nfs, rpc, wire
from . import kinds
from .outcome import read_reply
from .verdict import HarnessError, unprepared

MOUNT = nfs.mount3
# A MNT reply is a handle and a few flavours.
LARGEST_REPLY = 65536


def export_of(target):
    """The path to mount: the profile's, else the URL's, else the root."""
    return target.profile.export or urllib.parse.urlsplit(target.url).path or "/"


def mount(target, conn, deadlines):
    """The root's file handle as the profile says to get it; raises HarnessError."""
    how = target.profile.mount
    if "handle" in how:
        return bytes.fromhex(how["handle"])
    path = export_of(target)
    arguments = MOUNT.encode_args("MNT", MOUNT.DirPath(path=path))
    asked = (MOUNT.PROGRAM, MOUNT.VERSION, int(MOUNT.Procedure.MNT))
    call = conn.rpc_call(*asked, arguments, conn.settings.credential)
    if how["transport"] == "tcp":
        kind, result = _over_tcp(how, call.payload, asked, deadlines)
    else:
        outcome = conn.exchange(call)
        kind, result = outcome.kind, outcome.result
    if kind != kinds.REPLY:
        raise unprepared(f"mounting {path}", kind)
    return result.fhandle


def _over_tcp(how, call, asked, deadlines):
    """(kind, result) of the call over TCP with record marking."""
    place = (how["host"], how["port"])
    reader = rpc.RecordReader(record_limit=LARGEST_REPLY)
    try:
        with socket.create_connection(place, deadlines.answer_ms / 1000) as tcp:
            tcp.sendall(rpc.record(call))
            records = []
            while not records:
                octets = tcp.recv(LARGEST_REPLY)
                if not octets:
                    raise OSError("the connection ended before the reply")
                records = reader.feed(octets)
    except (OSError, wire.DecodeError) as error:
        reason = "MOUNT over TCP failed"
        raise HarnessError(reason, f"{place[0]}:{place[1]}: {error}") from None
    read = read_reply(records[0], asked)
    return read.kind, read.result
