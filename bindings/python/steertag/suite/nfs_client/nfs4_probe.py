"""Probes for NFS version 4.1, a backchannel, direct access and file layouts: a few exchanges each."""

import dataclasses

from ... import fabric, nfs
from ..cases import kinds
from ..cases.case_end import HarnessError, NotTestable
from ..exchange.callbacks import Callbacks
from ..exchange.deadline import Deadlines
from .nfs4_client import Nfs4Client, getattr_of, granted, lookup

DIRECT, NFS4 = nfs.direct, nfs.nfs4
USE_PNFS_MDS = 0x20000  # EXCHGID4_FLAG_USE_PNFS_MDS
# Answers of a server that has no NFS version 4, or no minor version 1 (RFC 5531 9, RFC 8881 2.6.3).
_LACKS_VERSION = (
    "rpc:PROG_UNAVAIL",
    "rpc:PROG_MISMATCH",
    "rpc:PROC_UNAVAIL",
    "nfs:NFS4ERR_MINOR_VERS_MISMATCH",
)


@dataclasses.dataclass(frozen=True)
class Lack:
    """What a target lacks, in one sentence. `proven`: its own answer says so. A server that is
    busy, or in its grace period for too long, proves nothing."""

    sentence: str
    proven: bool = True


def _open(link):
    deadlines = Deadlines(link.round_trip_ms)
    conn = link.helper(deadlines)
    conn.patient = True
    return conn


def _client(link, conn):
    return Nfs4Client(conn, f"steertag-probe-{link.unique}")


def probe_nfs41(link):
    """The Lack of NFS version 4.1, or None if the target understands EXCHANGE_ID. Waits for the end
    of a grace period. Cases judge an error of this version."""
    conn = _open(link)
    client = _client(link, conn)
    kind = client.exchange_id().kind
    lack = _grace(client) if kind == kinds.REPLY else None
    client.discard(conn)
    conn.abort()
    if kind in _LACKS_VERSION:
        return Lack(f"the target answers EXCHANGE_ID of minor version 1 with {kind}")
    return lack


def _grace(client):
    """Waits for the end of a grace period. Returns a Lack if it does not end, else None."""
    try:
        if client.create_session().kind == kinds.REPLY:
            client.sessions[0].reclaim_complete()
            client.sessions[0].outlast_grace()
    except NotTestable as reason:
        return Lack(str(reason), proven=False)
    except HarnessError:
        pass  # judged by cases
    return None


def probe_backchannel(link):
    """The Lack of a backchannel, or None if CREATE_SESSION grants one."""
    conn = _open(link)
    client = _client(link, conn)
    Callbacks(conn)
    client.exchange_id()
    made = client.create_session(csa_flags=NFS4.CREATE_SESSION4_FLAG_CONN_BACK_CHAN)
    granted = made.result["CREATE_SESSION"].resok4.csr_flags if made.kind == kinds.REPLY else None
    client.discard(conn)
    conn.abort()
    if granted is not None and not granted & NFS4.CREATE_SESSION4_FLAG_CONN_BACK_CHAN:
        return Lack("CREATE_SESSION does not grant CREATE_SESSION4_FLAG_CONN_BACK_CHAN")
    return None


def probe_direct_access(link):
    """The Lack of direct access, or None unless its program is unknown."""
    conn = _open(link)
    kind = conn.exchange(conn.null_call(DIRECT.PROGRAM, DIRECT.VERSION)).kind
    conn.abort()
    if kind in ("rpc:PROG_UNAVAIL", "rpc:PROG_MISMATCH"):
        return Lack(f"the target answers NULL of direct access with {kind}")
    return None


def probe_pnfs_files(link):
    """The Lack of file layouts, or None: the role in EXCHANGE_ID, then the fs_layout_types of the export."""
    conn = _open(link)
    client = _client(link, conn)
    known = granted(client.exchange_id(eia_flags=USE_PNFS_MDS), "EXCHANGE_ID")
    lack = None
    if known is not None and not known.eir_flags & USE_PNFS_MDS:
        lack = Lack("EXCHANGE_ID does not return EXCHGID4_FLAG_USE_PNFS_MDS")
    elif known is not None:
        lack = _lacks_file_layouts(client, link.url)
    client.discard(conn)
    conn.abort()
    return lack


def _lacks_file_layouts(client, url):
    if client.create_session().kind != kinds.REPLY:
        return None
    client.sessions[0].reclaim_complete()
    words = [word for word in fabric.parse_url(url).path.split("/") if word]
    asked = ["PUTROOTFH", *map(lookup, words), getattr_of("fs_layout_types")]
    found = granted(client.sessions[0].exchange(*asked), "GETATTR")
    if found is None:
        return None
    types = NFS4.attributes(found.obj_attributes).get("fs_layout_types") or []
    if NFS4.LayoutType.LAYOUT4_NFSV4_1_FILES in types:
        return None
    return Lack("fs_layout_types of the export has no LAYOUT4_NFSV4_1_FILES")


# Delegations have no probe: a server decides anew at each OPEN (RFC 8881 10.4). Each case proves
# the lack by its own OPEN.
PROBES = {
    "nfs41": probe_nfs41,
    "backchannel": probe_backchannel,
    "direct-access": probe_direct_access,
    "pnfs-files": probe_pnfs_files,
}
