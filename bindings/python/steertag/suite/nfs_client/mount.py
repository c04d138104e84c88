"""MOUNT version 3: from the path of the export to its file handle, over the target's transport or
TCP."""

import urllib.parse

from ... import nfs
from ..cases import kinds
from ..cases.case_end import HarnessError, unprepared
from ..exchange.link import Refused
from ..tcp.record_link import RecordLink, tcp_url

MOUNT = nfs.mount3
# The step of a case's preparation that asks for the root's file handle.
MOUNTING = "mounting"


def export_of(target):
    """The path to mount: the URL's, else the profile's, else the root."""
    return path_of(target.url) or target.profile.export or "/"


def path_of(url):
    """The export that a URL names, or ""."""
    path = urllib.parse.urlsplit(url).path
    return path if path.strip("/") else ""


def mount(target, conn, deadlines):
    """The root's file handle, by the `mount` key of the profile. Raises HarnessError."""
    how = target.profile.mount
    if "handle" in how:
        return bytes.fromhex(how["handle"])
    path = export_of(target)
    outcome = _ask(target, conn, deadlines, "MNT", MOUNT.DirPath(path=path))
    if outcome.kind != kinds.REPLY:
        raise unprepared(conn.owed, f"{MOUNTING} {path}", outcome.kind)
    return outcome.result.fhandle


def exports(target, conn, deadlines):
    """The paths that the server says it exports."""
    outcome = _ask(target, conn, deadlines, "EXPORT")
    return [one.dir for one in outcome.result.exports] if outcome.kind == kinds.REPLY else []


def _ask(target, conn, deadlines, procedure, arguments=None):
    """The Outcome of a call of MOUNT, over the connection or where the profile says. Raises HarnessError."""
    asked = (MOUNT.PROGRAM, MOUNT.VERSION, int(MOUNT.Procedure[procedure]))
    octets = MOUNT.encode_args(procedure, arguments)
    how = target.profile.mount
    if how["transport"] == "rdma":
        return conn.exchange(conn.rpc_call(*asked, octets, conn.credential))
    url = tcp_url(how["host"], how["port"])
    link = RecordLink(url, target.profile)
    try:
        other = link.helper(deadlines)
    except Refused as error:
        raise _failed(str(error)) from None
    outcome = other.exchange(other.rpc_call(*asked, octets, other.credential))
    other.abort()
    if outcome.kind in kinds.UNANSWERED:
        raise _failed(f"{url}: {outcome.kind}: {outcome.detail}")
    return outcome


def _failed(detail):
    end = HarnessError("MOUNT over TCP failed", detail)
    end.step = MOUNTING
    return end
