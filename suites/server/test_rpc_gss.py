"""RPCSEC_GSS: who serves it over RDMA serves NFS over TCP too, where clients make their contexts (RFC 8166
8.2.2.1)."""

import struct

from steertag import rpc
from steertag.suite import case, expect, kinds

RULE = "RFC8166-8.2.2.1-1"
# RFC 2203 5: version, RPCSEC_GSS_DATA, sequence number, service rpc_gss_svc_none, a handle that nobody gave.
UNKNOWN_CONTEXT = struct.pack(">5I8s", 1, 0, 1, 1, 8, b"steertag")
# RFC 2203 5.3.3.3: what only a server with RPCSEC_GSS says.
KNOWN = (rpc.AuthStatus.RPCSEC_GSS_CREDPROBLEM, rpc.AuthStatus.RPCSEC_GSS_CTXPROBLEM)


def _asked(conn):
    """The outcome of a NULL call of NFS with an unknown context."""
    call = conn.null_call()
    header, arguments = rpc.Call.decode(bytes(call.payload))
    header.credential = rpc.OpaqueAuth(flavor=rpc.AuthFlavor.RPCSEC_GSS, body=UNKNOWN_CONTEXT)
    call.payload = header.encode(arguments)
    return conn.exchange(call)


def _knows(outcome):
    return outcome.kind == kinds.DENIED and outcome.reply.auth_status in KNOWN


@case("server.rpc-gss.context-over-tcp", requirements=[RULE])
def test_context_over_tcp(bench):
    """A server that knows RPCSEC_GSS over RDMA answers NFS over TCP, and knows it there."""
    outcome = _asked(bench.connect())
    if not _knows(outcome):
        bench.unsupported("an unknown context of RPCSEC_GSS is not denied for being unknown")
    conn = bench.connect_nfs_over_tcp()
    expect.true(conn.open, RULE, "NFS is served over TCP")
    expect(conn.exchange(conn.null_call()), RULE, must=[kinds.REPLY])
    expect.true(_knows(_asked(conn)), RULE, "RPCSEC_GSS is known over TCP")
