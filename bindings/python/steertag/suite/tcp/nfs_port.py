"""The NFS port of the target's host: whether NFS is served there over TCP."""

import dataclasses

from ... import fabric
from ..cases import kinds
from ..exchange.deadline import Deadlines, NFS_PORT_TRY_MS
from ..exchange.link import Refused
from .record_link import RecordLink, tcp_url

NFS_PORT = 2049
# Answers to a NULL call of version 3 from a server of NFS: it executes it, or has other versions.
_FROM_NFS = (kinds.REPLY, "rpc:PROG_MISMATCH")


@dataclasses.dataclass(frozen=True)
class Found:
    """What a try of the port gave: the URL if NFS is served there, or else why not, in one
    sentence."""

    url: str = ""
    sentence: str = ""


def nfs_url(target_url):
    """The URL of the NFS port on the host of a target."""
    return tcp_url(fabric.parse_url(target_url).host, NFS_PORT)


def try_nfs_port(target_url, profile, limit_ms=NFS_PORT_TRY_MS):
    """The Found of one NULL call; `limit_ms` is the limit of the connection and of the answer."""
    url = nfs_url(target_url)
    try:
        conn = RecordLink(url, profile).helper(Deadlines(), limit_ms)
    except Refused as refused:
        return Found(sentence=f"port {NFS_PORT} was tried: {refused}")
    outcome = conn.probe(limit_ms)
    conn.abort()
    if outcome.kind in _FROM_NFS:
        return Found(url)
    return Found(sentence=f"port {NFS_PORT} was tried: a NULL call of NFS gave {outcome.kind}")
