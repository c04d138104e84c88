"""RPC programs other than NFS: which one a port serves, and the port of one by rpcbind (RFC 1833)."""

import struct

from ... import fabric
from ..cases import kinds
from ..exchange.deadline import Deadlines, NFS_PORT_TRY_MS
from ..exchange.link import Refused
from ..tcp.record_link import RecordLink, tcp_url
from .mount import MOUNT

# Name, number and a version of programs beside NFS.
_PROGRAMS = (
    ("rpcbind", 100000, 2),
    ("MOUNT", MOUNT.PROGRAM, MOUNT.VERSION),
    ("NLM", 100021, 4),
    ("NSM", 100024, 1),
    ("NFSACL", 100227, 3),
    ("rquota", 100011, 1),
)
_SERVED = (kinds.REPLY, "rpc:PROG_MISMATCH")
RPCBIND_PORT = 111
_RPCBIND, _RPCBIND_VERSION = _PROGRAMS[0][1:]
_GETPORT = 3  # PMAPPROC_GETPORT
_TCP = 6  # IPPROTO_TCP


def served_program(conn):
    """The name of a program that the other end serves, or ""."""
    for name, number, version in _PROGRAMS:
        if not conn.open:
            break
        if conn.exchange(conn.null_call(number, version)).kind in _SERVED:
            return name
    return ""


def port_by_rpcbind(target_url, program, version, profile):
    """The TCP port of a program on the target's host, or 0 if its rpcbind does not say."""
    url = tcp_url(fabric.parse_url(target_url).host, RPCBIND_PORT)
    try:
        conn = RecordLink(url, profile).helper(Deadlines(), NFS_PORT_TRY_MS)
    except Refused:
        return 0
    asked = struct.pack(">4I", program, version, _TCP, 0)
    outcome = conn.exchange(conn.rpc_call(_RPCBIND, _RPCBIND_VERSION, _GETPORT, asked))
    conn.abort()
    found = outcome.kind == kinds.REPLY and len(outcome.results) == 4
    port = int.from_bytes(outcome.results, "big") if found else 0
    return port if port < 65536 else 0
