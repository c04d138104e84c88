"""The fixed words of a call's transport header: version, procedure and XID (RFC 8166 4.2, 4.5)."""

import pytest

from steertag.suite import case, expect, kinds
from ..message_words import VERS_SHAPE, expect_err_vers, expect_one_xid

UNSUPPORTED_VERSIONS = {"zero": 0, "two": 2, "three": 3, "largest": 0xFFFFFFFF}
UNKNOWN_PROCEDURES = {
    "five": 5,
    "swapped-one": 0x01000000,
    "sign": 0x80000000,
    "largest": 0xFFFFFFFF,
}


def highest_version(conn):
    """The highest version that the server names in ERR_VERS."""
    call = conn.null_call()
    call.vers = UNSUPPORTED_VERSIONS["largest"]
    outcome = conn.exchange(call)
    return outcome.header.vers_high if outcome.kind == kinds.ERR_VERS else 1


@case(
    "server.header.version-{name}",
    requirements=VERS_SHAPE,
    bugs=["B107", "B124"],
    hostile=True,
)
@pytest.mark.parametrize("name", UNSUPPORTED_VERSIONS)
def test_unsupported_version(bench, name):
    """A NULL call of an unsupported version gets ERR_VERS. Its range is around 1 and lacks the
    version of the call. The error has that version in its header."""
    conn = bench.connect()
    version = UNSUPPORTED_VERSIONS[name]
    if 1 < version <= highest_version(conn):
        bench.not_testable(f"the server says that it speaks version {version}")
    call = conn.null_call()
    call.vers = version
    expect_err_vers(conn.exchange(call), call)


@case("server.header.version-before-body", requirements=["RFC8166-4.5.1-1"], hostile=True)
def test_only_the_fixed_words_of_another_version_are_read(bench):
    """What follows the fixed words of an unknown version is not decoded."""
    conn = bench.connect()
    call = conn.null_call()
    call.vers = 2
    call.cut_to = 16
    call.append = b"\xff" * 64
    expect(conn.exchange(call), "RFC8166-4.5.1-1", must=[kinds.ERR_VERS])


@case(
    "server.header.procedure-{name}",
    requirements=["RFC8166-4.5.2-2", "RFC8166-4.5-4"],
    bugs=["B107"],
    hostile=True,
)
@pytest.mark.parametrize("name", UNKNOWN_PROCEDURES)
def test_unknown_procedure(bench, name):
    """An undefined procedure number gets ERR_CHUNK under the XID of the call."""
    conn = bench.connect()
    call = conn.null_call()
    call.proc = UNKNOWN_PROCEDURES[name]
    outcome = expect(conn.exchange(call), "RFC8166-4.5.2-2", must=[kinds.ERR_CHUNK])
    expect.equal(outcome.header.xid, call.xid, "RFC8166-4.5-4", "rdma_xid of the error", show=False)


@case("server.header.error-from-requester", requirements=["RFC8166-4.2.4-5"], hostile=True)
def test_error_message_from_a_requester_is_discarded(bench):
    """RDMA_ERROR in the wrong direction is discarded silently. It is padded to 28 octets, so that
    its length is no reason."""
    conn = bench.connect()
    call = conn.null_call()
    call.proc = 4
    call.payload = b""
    call.append = bytes(8)
    expect(conn.exchange(call), "RFC8166-4.2.4-5", must=[kinds.SILENCE])


@case(
    "server.header.xid-differs",
    requirements=["RFC8166-4.5.2-4", "RFC8166-4.2.1-1"],
    hostile=True,
)
def test_header_xid_differs_from_rpc_xid(bench):
    """The header's XID is not that of the RPC call: ERR_CHUNK, or a reply if the server uses only
    the header's. Such a reply has the header's XID twice."""
    conn = bench.connect()
    call = conn.null_call()
    call.xid = conn.next_xid()
    outcome = expect(
        conn.exchange(call),
        "RFC8166-4.5.2-4",
        must=[kinds.ERR_CHUNK],
        latitude={kinds.REPLY: "the header's XID alone is used (RFC 8166 4.2.1)"},
    )
    expect_one_xid(outcome, "RFC8166-4.2.1-1")


@case("server.header.null", requirements=["RFC8166-4.2.4-1", "RFC8166-3.3.1-5"])
def test_legal_null_call(bench):
    """A legal NULL call is answered with at least one credit."""
    conn = bench.connect()
    outcome = expect(conn.exchange(conn.null_call()), "RFC8166-4.2.4-1", must=[kinds.REPLY])
    expect.at_least(outcome.header.credit, 1, "RFC8166-3.3.1-5", "credit grant")
