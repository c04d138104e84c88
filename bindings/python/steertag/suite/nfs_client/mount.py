"""MOUNT version 3: from the path of the export to its file handle, over the target's transport or
TCP."""

import urllib.parse

from ... import nfs
from ..cases import kinds
from ..cases.case_end import HarnessError, unprepared
from ..exchange.link import Refused
from ..tcp.record_link import RecordLink

MOUNT = nfs.mount3


def export_of(target):
    """The path to mount: the profile's, else the URL's, else the root."""
    return target.profile.export or urllib.parse.urlsplit(target.url).path or "/"


def mount(target, conn, deadlines):
    """The root's file handle, by the `mount` key of the profile. Raises HarnessError."""
    how = target.profile.mount
    if "handle" in how:
        return bytes.fromhex(how["handle"])
    path = export_of(target)
    if how["transport"] == "tcp":
        outcome = _over_tcp(how, path, target.profile, deadlines)
    else:
        outcome = _ask(conn, path)
    if outcome.kind != kinds.REPLY:
        raise unprepared(conn.owed, f"mounting {path}", outcome.kind)
    return outcome.result.fhandle


def _ask(conn, path):
    arguments = MOUNT.encode_args("MNT", MOUNT.DirPath(path=path))
    asked = (MOUNT.PROGRAM, MOUNT.VERSION, int(MOUNT.Procedure.MNT))
    return conn.exchange(conn.rpc_call(*asked, arguments, conn.credential))


def _over_tcp(how, path, profile, deadlines):
    """The Outcome of MNT at the host and port of the profile."""
    reason = "MOUNT over TCP failed"
    host = f"[{how['host']}]" if ":" in how["host"] else how["host"]
    link = RecordLink(f"tcp://{host}:{how['port']}", profile)
    try:
        conn = link.helper(deadlines)
    except Refused as error:
        raise HarnessError(reason, str(error)) from None
    outcome = _ask(conn, path)
    conn.abort()
    if outcome.kind in kinds.UNANSWERED:
        raise HarnessError(reason, f"{link.url}: {outcome.kind}: {outcome.detail}")
    return outcome
