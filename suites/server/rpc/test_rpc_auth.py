"""Credentials and verifiers of RPC calls (RFC 5531 8.2, 9, appendix A).

The server accepts them within their limits. Beyond the limits it refuses them with a reason."""

import pytest

from steertag import rpc
from steertag.suite import ANY, case, expect, kinds
from ..chunk_checks import expect_alive
from ..message_words import may_end

REFUSED = "RFC5531-9-8"
NONE = "RFC5531-10-1"
LIMITS = "RFC5531-A-1"
LENGTH = "RFC5531-8.2-1"
FLAVORS = {"dh": 3, "undefined": 4711, "gss-without-context": 6, "largest": 0xFFFFFFFF}
UNCHECKED = {kinds.REPLY: "NULL is executed whoever calls"}
WITHIN = {
    "bare": {},
    "no-name": {"machine_name": ""},
    "one-octet-name": {"machine_name": "a"},
    "name-of-64": {"machine_name": "n" * 64},
    "name-of-255": {"machine_name": "n" * 255},
    "sixteen-groups": {"gids": tuple(range(100, 116))},
    "largest-stamp": {"stamp": 0xFFFFFFFF},
}
BEYOND = {
    "name-of-256": {"machine_name": "n" * 256},
    "seventeen-groups": {"gids": tuple(range(100, 117))},
    "sixty-groups": {"gids": tuple(range(100, 160))},
}


def words(*values):
    """The octets of some words."""
    return b"".join(value.to_bytes(4, "big") for value in values)


# Bodies of AUTH_SYS that do not decode.
BROKEN = {
    "empty": b"",
    "stamp-only": words(7),
    "name-beyond-body": words(7, 255, 0),
    "name-length-largest": words(7, 0xFFFFFFFF, 0, 0, 0),
    "groups-beyond-body": words(7, 0, 0, 0, 16),
    "group-count-largest": words(7, 0, 0, 0, 0xFFFFFFFF),
}


def null_call(conn, credential, verifier=None):
    """NULL with this credential and verifier."""
    call = conn.null_call()
    header = rpc.Call(xid=call.xid, program=call.program, version=call.version, procedure=0)
    header.credential = credential
    if verifier is not None:
        header.verifier = verifier
    call.payload = header.encode()
    return call


def expect_denied(outcome, requirement_id, latitude=None):
    """Denied with AUTH_ERROR and a reason."""
    expect(outcome, requirement_id, must=[kinds.DENIED], latitude=latitude)
    if outcome.kind != kinds.DENIED:
        return
    reason = outcome.reply.reject_status.name
    expect.equal(reason, "AUTH_ERROR", REFUSED, "reason of the denial", outcome=outcome)
    told = outcome.reply.auth_status != rpc.AuthStatus.AUTH_OK
    expect.true(told, REFUSED, "the status says why", outcome=outcome)
    expect.equal(outcome.results, b"", REFUSED, "octets behind the status", outcome=outcome)


@case("server.rpc-auth.none", requirements=[NONE], over=ANY)
def test_none(bench):
    """NULL with AUTH_NONE, which every server supports."""
    conn = bench.connect(greet=False)
    expect(conn.exchange(conn.null_call()), NONE, must=[kinds.REPLY])


@case("server.rpc-auth.none-with-body-{octets}", requirements=[NONE], over=ANY)
@pytest.mark.parametrize("octets", [4, 400])
def test_none_with_body(bench, octets):
    """AUTH_NONE with meaningless octets in its body: accepted, or refused as a bad credential."""
    conn = bench.connect()
    credential = rpc.OpaqueAuth(flavor=rpc.AuthFlavor.AUTH_NONE, body=b"\xa5" * octets)
    outcome = expect(
        conn.exchange(null_call(conn, credential)),
        NONE,
        must=[kinds.REPLY],
        latitude={kinds.DENIED: "a body of AUTH_NONE is refused (RFC 5531 10.1 advises none)"},
    )
    expect_alive(conn, NONE)
    if outcome.kind == kinds.DENIED:
        reason = outcome.reply.reject_status.name
        expect.equal(reason, "AUTH_ERROR", NONE, "reason of the denial", outcome=outcome)


@case("server.rpc-auth.sys-{name}", requirements=[LIMITS], over=ANY)
@pytest.mark.parametrize("name", WITHIN)
def test_sys_within_limits(bench, name):
    """NULL with AUTH_SYS, up to the limits of its name and groups, is answered."""
    conn = bench.connect()
    expect(conn.exchange(null_call(conn, rpc.auth_sys(**WITHIN[name]))), LIMITS, must=[kinds.REPLY])


@case("server.rpc-auth.sys-{name}", requirements=[LIMITS, REFUSED], over=ANY)
@pytest.mark.parametrize("name", BEYOND)
def test_sys_beyond_limits(bench, name):
    """NULL with an AUTH_SYS beyond its limits: denied with AUTH_ERROR."""
    conn = bench.connect()
    outcome = conn.exchange(null_call(conn, rpc.auth_sys(**BEYOND[name])))
    latitude = {**UNCHECKED, "rpc:GARBAGE_ARGS": "reported as an error of decoding"}
    expect_denied(outcome, LIMITS, latitude)
    expect_alive(conn, LIMITS)


@case("server.rpc-auth.sys-broken-{name}", requirements=[REFUSED], over=ANY)
@pytest.mark.parametrize("name", BROKEN)
def test_sys_broken(bench, name):
    """NULL with an AUTH_SYS body that does not decode: denied with AUTH_ERROR. The server reads
    nothing beyond the body."""
    conn = bench.connect()
    credential = rpc.OpaqueAuth(flavor=rpc.AuthFlavor.AUTH_SYS, body=BROKEN[name])
    outcome = conn.exchange(null_call(conn, credential))
    latitude = {**UNCHECKED, "rpc:GARBAGE_ARGS": "reported as an error of decoding"}
    expect_denied(outcome, REFUSED, latitude)
    expect_alive(conn, REFUSED)


@case("server.rpc-auth.flavor-{name}", requirements=[REFUSED], over=ANY)
@pytest.mark.parametrize("name", FLAVORS)
def test_flavor(bench, name):
    """A flavour that the server cannot check: denied with AUTH_ERROR and a status that gives the
    reason."""
    conn = bench.connect()
    credential = rpc.OpaqueAuth(flavor=FLAVORS[name], body=b"\xa5" * 8)
    latitude = {**UNCHECKED, "rpc:GARBAGE_ARGS": "reported as an error of decoding"}
    expect_denied(conn.exchange(null_call(conn, credential)), REFUSED, latitude)
    expect_alive(conn, REFUSED)


@case("server.rpc-auth.not-executed-{name}", requirements=[REFUSED], over=ANY)
@pytest.mark.parametrize("name", FLAVORS)
def test_not_executed(bench, name):
    """A CREATE with a flavour that the server cannot check: denied, and nothing is created."""
    where = {"dir": bench.directory(), "name": bench.name("denied")}
    conn = bench.connect()
    call = conn.nfs_call("CREATE", where=where)
    header, arguments = rpc.Call.decode(bytes(call.payload))
    header.credential = rpc.OpaqueAuth(flavor=FLAVORS[name], body=b"\xa5" * 8)
    call.payload = header.encode(arguments)
    latitude = {"rpc:GARBAGE_ARGS": "reported as an error of decoding"}
    expect_denied(conn.exchange(call), REFUSED, latitude)
    found = conn.exchange(conn.nfs_call("LOOKUP", what=where))
    expect(found, REFUSED, must=["nfs:NFS3ERR_NOENT"])


@case("server.rpc-auth.length-{octets}", requirements=[LENGTH], over=ANY)
@pytest.mark.parametrize("octets", [400, 404])
def test_length(bench, octets):
    """A credential of an unknown flavour is never executed. With 400 octets it is denied for its
    flavour. With more it does not decode, and may end the connection."""
    conn = bench.connect()
    credential = rpc.OpaqueAuth(flavor=4711, body=b"\xa5" * octets)
    expect(
        conn.exchange(null_call(conn, credential)),
        LENGTH,
        must=[kinds.DENIED] if octets <= 400 else [*kinds.REFUSED, kinds.DENIED],
        latitude={
            "rpc:GARBAGE_ARGS": "reported as an error of decoding",
            **(may_end(conn) if octets > 400 else {}),
        },
    )
    expect_alive(conn, LENGTH)


@case("server.rpc-auth.verifier-{name}", requirements=[REFUSED], over=ANY)
@pytest.mark.parametrize("name", ["sys", "undefined", "body-of-400"])
def test_verifier(bench, name):
    """AUTH_SYS with a verifier that the server does not use: ignored, or denied with AUTH_ERROR."""
    conn = bench.connect()
    verifier = {
        "sys": rpc.auth_sys(),
        "undefined": rpc.OpaqueAuth(flavor=4711, body=b"\xa5" * 8),
        "body-of-400": rpc.OpaqueAuth(flavor=rpc.AuthFlavor.AUTH_NONE, body=b"\xa5" * 400),
    }[name]
    outcome = conn.exchange(null_call(conn, rpc.auth_sys(), verifier))
    expect_denied(outcome, REFUSED, {kinds.REPLY: "the verifier of AUTH_SYS is not looked at"})
    expect_alive(conn, REFUSED)
