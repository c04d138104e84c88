"""RPCSEC_GSS over RDMA and TCP (RFC 8166 8.2.2).

A server that supports it over RDMA serves NFS over TCP too, where clients create their contexts
(8.2.2.1). No part of it travels in chunks."""

import struct

from steertag import rpc
from steertag.suite import case, expect, kinds
from ..chunk_checks import chunk_length, reduce_at

RULE, WHOLE = "RFC8166-8.2.2.1-1", "RFC8166-8.2.2-1"
SERVES = "RFC8166-3.3.3-1"
# RFC 2203 5: version, RPCSEC_GSS_DATA, sequence number, service rpc_gss_svc_none, a handle that the
# server never issued.
UNKNOWN_CONTEXT = struct.pack(">5I8s", 1, 0, 1, 1, 8, b"steertag")
# RFC 2203 5.2.2: version, RPCSEC_GSS_INIT, sequence number, service, no handle yet. The token
# belongs to no mechanism.
NEW_CONTEXT = struct.pack(">5I", 1, 1, 0, 1, 0)
TOKEN = bytes(range(256)) * 2
AT_RPC_LEVEL = "RPCSEC_GSS denies the call, whatever becomes of its token"
# RFC 2203 5.3.3.3: only a server with RPCSEC_GSS returns these.
KNOWN = (rpc.AuthStatus.RPCSEC_GSS_CREDPROBLEM, rpc.AuthStatus.RPCSEC_GSS_CTXPROBLEM)


def _call(conn, credential, arguments=b""):
    """A NULL call of NFS with this credential of RPCSEC_GSS."""
    call = conn.null_call()
    header, _ = rpc.Call.decode(bytes(call.payload))
    header.credential = rpc.OpaqueAuth(flavor=rpc.AuthFlavor.RPCSEC_GSS, body=credential)
    call.payload = header.encode(arguments)
    return call


def _init(conn):
    """A call that requests a context."""
    return _call(conn, NEW_CONTEXT, struct.pack(">I", len(TOKEN)) + TOKEN)


def _asked(conn):
    """The outcome of a NULL call of NFS with an unknown context."""
    return conn.exchange(_call(conn, UNKNOWN_CONTEXT))


def _knows(outcome):
    return outcome.kind == kinds.DENIED and outcome.reply.auth_status in KNOWN


@case("server.rpc-gss.context-over-tcp", requirements=[RULE])
def test_context_over_tcp(bench):
    """A server that supports RPCSEC_GSS over RDMA serves NFS over TCP, and supports it there."""
    outcome = _asked(bench.connect())
    if not _knows(outcome):
        bench.unsupported("an unknown context of RPCSEC_GSS is not denied for being unknown")
    conn = bench.connect_nfs_over_tcp()
    expect.true(conn.open, RULE, "NFS is served over TCP")
    expect(conn.exchange(conn.null_call()), RULE, must=[kinds.REPLY])
    expect.true(_knows(_asked(conn)), RULE, "RPCSEC_GSS is known over TCP")


def _answered(bench):
    """The outcome of a correct request for a context. The case ends without one."""
    if not _knows(_asked(bench.connect())):
        bench.unsupported("an unknown context of RPCSEC_GSS is not denied for being unknown")
    conn = bench.connect()
    outcome = conn.exchange(_init(conn))
    if outcome.reply is None:  # whatever becomes of the context
        expect(outcome, SERVES, must=[kinds.REPLY, kinds.DENIED])
    return outcome


@case("server.rpc-gss.reduced-token", requirements=[WHOLE, SERVES], hostile=True)
def test_reduced_token(bench):
    """A client's token in a request for a context is in a read chunk. The server does not accept it
    from there."""
    _answered(bench)
    conn = bench.connect()
    call = _init(conn)
    reduce_at(conn, call, bytes(call.payload).index(TOKEN), len(TOKEN))
    outcome = conn.exchange(call)
    latitude = {kinds.DENIED: AT_RPC_LEVEL}
    expect(outcome, WHOLE, must=kinds.REFUSED, latitude=latitude)


@case("server.rpc-gss.write-chunk", requirements=[WHOLE, SERVES], hostile=True)
def test_write_chunk(bench):
    """A write chunk beside the request for a context. The server's token does not use it, and the
    chunk is returned unused. Nothing in the reply is eligible, so the server may refuse the
    call."""
    _answered(bench)
    conn = bench.connect()
    call = _init(conn)
    conn.write_chunk(call, sizes=[1024])
    outcome = conn.exchange(call)
    if outcome.reply is None:
        latitude = dict.fromkeys(kinds.REFUSED, "no write chunk belongs to this call")
        expect(outcome, WHOLE, must=[kinds.DENIED, kinds.REPLY], latitude=latitude)
        return
    octets = sum(chunk_length(chunk) for chunk in outcome.header.write_list)
    expect.equal(octets, 0, WHOLE, "octets in the write chunk", outcome=outcome)
