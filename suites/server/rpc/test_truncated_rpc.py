"""RPC messages that end too early, behind a good header or in a good record.

The server reports them, never executes them, and never reads beyond their end (RFC 8166 4.5.2, RFC
5531 9)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from ..chunk_checks import expect_alive
from ..message_words import either, may_end

CUT = "RFC8166-4.5.2-5"
GARBAGE = "RFC5531-9-7"  # over TCP
NO_TYPE = "RFC5531-9-2"  # over TCP
REPORTED = [*kinds.REFUSED, kinds.DENIED]
# The length word of the credential, with eight octets behind it.
CREDENTIAL_LENGTHS = {
    "one-word-too-long": 12,
    "longest-legal": 400,
    "above-the-limit": 401,
    "negative": 0xFFFFFFFC,
    "largest": 0xFFFFFFFF,
}


def unanswered(conn):
    """Latitude for a message that is no whole RPC call."""
    return {kinds.SILENCE: "discarded, as it is no whole RPC call", **may_end(conn)}


@case("server.truncated-rpc.null-{octets}", requirements=[CUT, GARBAGE], bugs=["B129"], over=ANY)
@pytest.mark.parametrize("octets", range(8, 40, 4))
def test_header_cut(bench, octets):
    """A NULL call that ends inside its RPC header."""
    conn = bench.connect()
    call = conn.null_call()
    call.payload = bytes(call.payload)[:octets]
    cut = either(conn, CUT, GARBAGE)
    expect(conn.exchange(call), cut, must=REPORTED, latitude=unanswered(conn))
    expect_alive(conn, cut)


@case(
    "server.truncated-rpc.start-{octets}",
    requirements=["RFC8166-4.5.2-4", NO_TYPE],
    bugs=["B129"],
    hostile=True,
    over=ANY,
)
@pytest.mark.parametrize("octets", [0, 4])
def test_nothing_but_xid(bench, octets):
    """No RPC message at all, or only its XID. It is neither a call nor a reply, so the server
    reports an error or is silent."""
    conn = bench.connect()
    call = conn.null_call()
    call.payload = bytes(call.payload)[:octets]
    no_call = either(conn, "RFC8166-4.5.2-4", NO_TYPE)
    expect(
        conn.exchange(call),
        no_call,
        must=REPORTED,
        latitude=unanswered(conn),
    )
    expect_alive(conn, no_call)


@case(
    "server.truncated-rpc.credential-{name}", requirements=[CUT, GARBAGE], bugs=["B129"], over=ANY
)
@pytest.mark.parametrize("name", CREDENTIAL_LENGTHS)
def test_credential_length(bench, name):
    """The credential has a length beyond the end of the message."""
    conn = bench.connect()
    call = conn.null_call()
    payload = bytearray(call.payload)[:28]
    payload += CREDENTIAL_LENGTHS[name].to_bytes(4, "big") + bytes(8)
    call.payload = bytes(payload)
    cut = either(conn, CUT, GARBAGE)
    expect(conn.exchange(call), cut, must=REPORTED, latitude=unanswered(conn))
    expect_alive(conn, cut)


@case("server.truncated-rpc.arguments-{procedure}-{left}", requirements=[CUT, GARBAGE], over=ANY)
@pytest.mark.parametrize("left", [0, 4, 8])
@pytest.mark.parametrize("procedure", ["getattr", "lookup", "create", "read", "write"])
def test_arguments_cut(bench, procedure, left):
    """Arguments that end after this many octets, which is too early: GARBAGE_ARGS."""
    conn = bench.connect()
    handle = bench.file(b"content")
    where = {"dir": bench.files.base, "name": bench.name("cut")}
    fields = {
        "getattr": {"object": handle},
        "lookup": {"what": where},
        "create": {"where": where},
        "read": {"file": handle, "offset": 0, "count": 7},
        "write": {"file": handle, "offset": 0, "count": 7, "stable": 2, "data": b"replace"},
    }[procedure]
    call = conn.nfs_call(procedure.upper(), **fields)
    payload = bytes(call.payload)
    first = where["dir"] if procedure in ("lookup", "create") else handle
    arguments = payload.index(bytes(first)) - 4
    call.payload = payload[: arguments + left]
    cut = either(conn, CUT, GARBAGE)
    expect(
        conn.exchange(call),
        cut,
        must=["rpc:GARBAGE_ARGS"],
        latitude={kinds.ERR_CHUNK: "reported at transport level"},
    )
    expect_alive(conn, cut)
    expect.data(bench.read_back(handle), b"content", cut, "content of the file")
