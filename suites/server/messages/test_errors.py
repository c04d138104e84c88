"""RDMA_ERROR: its octets, its XID, and the connection after it (RFC 8166 4.5)."""

import pytest

from steertag import wire
from steertag.suite import case, expect, kinds
from ..message_words import (
    ANSWERED,
    CHUNK_SHAPE,
    VERS_SHAPE,
    expect_err_chunk,
    expect_err_vers,
    in_a_row,
    RECEIVES,
    with_word,
)

XIDS = {
    "zero": 0,
    "one": 1,
    "ascending": 0x01020304,
    "sign": 0x80000000,
    "largest": 0xFFFFFFFF,
}
VERSIONS = {"zero": 0, "two": 2, "three": 3, "swapped-one": 0x01000000, "largest": 0xFFFFFFFF}
CREDITS = {"zero": 0, "one": 1, "largest": 0xFFFFFFFF}


def break_list(call):
    """A read list that ends in neither 0 nor 1."""
    call.read_list_end = 0xDEADBEEF


def huge_count(call):
    """A write chunk that counts 2^28 segments and has none."""
    call.write_list = [wire.DraftChunk(count=0x10000000)]


def unknown_procedure(call):
    call.proc = 5


def msgp(call):
    call.proc = wire.Procedure.MSGP


def nothing_to_fetch(call):
    """RDMA_NOMSG without chunk lists."""
    call.proc, call.payload = wire.Procedure.NOMSG, b""


def other_version(call):
    call.vers = 2


FAULTS = {
    "broken-list": break_list,
    "huge-count": huge_count,
    "unknown-procedure": unknown_procedure,
    "nomsg-without-chunk": nothing_to_fetch,
}
# The requirement for ERR_CHUNK.
DUE = {
    break_list: "RFC8166-4.5.2-1",
    huge_count: "RFC8166-4.5.2-1",
    unknown_procedure: "RFC8166-4.5.2-2",
    nothing_to_fetch: "RFC8166-4.5.2-3",
}


def bad_call(conn, spoil):
    """A NULL call with one of FAULTS."""
    call = conn.null_call()
    spoil(call)
    return call


def expect_refused(conn, spoil, answered=ANSWERED):
    """Expects the error that one faulty call requires. `answered` is broken where nothing comes."""
    call = bad_call(conn, spoil)
    if spoil is other_version:
        expect_err_vers(conn.exchange(call), call, answered)
    else:
        expect_err_chunk(conn.exchange(call), call, DUE[spoil], answered)


def expect_answered(conn, requirement_id=ANSWERED):
    """A valid call on the same connection is answered."""
    expect(conn.probe(), requirement_id, must=[kinds.REPLY])


@case("server.errors.err-chunk-octets.{name}", requirements=CHUNK_SHAPE, hostile=True)
@pytest.mark.parametrize("name", FAULTS)
def test_err_chunk_octets(bench, name):
    """A faulty header gets RDMA_ERROR with ERR_CHUNK in exactly 20 octets. The connection stays
    open."""
    conn = bench.connect()
    expect_refused(conn, FAULTS[name])
    expect_answered(conn)


@case(
    "server.errors.err-vers-octets.{name}",
    requirements=VERS_SHAPE,
    bugs=["B107", "B124"],
    hostile=True,
)
@pytest.mark.parametrize("name", VERSIONS)
def test_err_vers_octets(bench, name):
    """Another version gets ERR_VERS in exactly 28 octets, with a range around 1. The connection
    stays open."""
    conn = bench.connect()
    call = conn.null_call()
    call.vers = VERSIONS[name]
    expect_err_vers(conn.exchange(call), call)
    expect_answered(conn)


@case("server.errors.err-vers-28-octets", requirements=VERS_SHAPE, hostile=True)
def test_shortest_message_of_another_version(bench):
    """28 octets of another version are enough to trust the XID: ERR_VERS."""
    conn = bench.connect()
    call = bad_call(conn, other_version)
    call.cut_to = 28
    expect_err_vers(conn.exchange(call), call)
    expect_answered(conn)


@case("server.errors.version-before-{name}", requirements=VERS_SHAPE, hostile=True)
@pytest.mark.parametrize("name", ["unknown-procedure", "msgp", "broken-list", "huge-count"])
def test_version_comes_first(bench, name):
    """A message has another version and a fault of version 1. The version is checked first, so the
    answer is ERR_VERS."""
    conn = bench.connect()
    call = bad_call(conn, {**FAULTS, "msgp": msgp}[name])
    call.vers = 2
    expect_err_vers(conn.exchange(call), call)


@case("server.errors.xid-{name}", requirements=CHUNK_SHAPE, hostile=True)
@pytest.mark.parametrize("name", XIDS)
def test_err_chunk_xid(bench, name):
    """ERR_CHUNK echoes the XID unchanged, for any value and octet order."""
    conn = bench.connect()
    call = bad_call(conn, break_list)
    call.xid = XIDS[name]
    call.payload = with_word(bytes(call.payload), 0, call.xid)
    expect_err_chunk(conn.exchange(call), call, DUE[break_list])
    expect_answered(conn)


@case("server.errors.version-xid-{name}", requirements=VERS_SHAPE, hostile=True)
@pytest.mark.parametrize("name", XIDS)
def test_err_vers_xid(bench, name):
    """ERR_VERS echoes the XID unchanged, for any value and octet order."""
    conn = bench.connect()
    call = bad_call(conn, other_version)
    call.xid = XIDS[name]
    call.payload = with_word(bytes(call.payload), 0, call.xid)
    expect_err_vers(conn.exchange(call), call)
    expect_answered(conn)


@case("server.errors.credit-{name}", requirements=CHUNK_SHAPE, hostile=True)
@pytest.mark.parametrize("name", CREDITS)
def test_credit_of_the_error(bench, name):
    """A faulty header requests zero, one or 2^32 - 1 credits. The error grants at least one."""
    conn = bench.connect()
    call = bad_call(conn, break_list)
    call.credit = CREDITS[name]
    expect_err_chunk(conn.exchange(call), call, DUE[break_list])
    expect_answered(conn)


@case("server.errors.first-message-{name}", requirements=[*CHUNK_SHAPE, *VERS_SHAPE], hostile=True)
@pytest.mark.parametrize("name", [*FAULTS, "other-version"])
def test_first_message(bench, name):
    """The very first message of a connection is faulty. The server answers with the error, and then
    serves calls."""
    conn = bench.connect(greet=False)
    expect_refused(conn, FAULTS.get(name, other_version))
    expect_answered(conn)


@case(
    "server.errors.hundred-{name}",
    requirements=[*CHUNK_SHAPE, *VERS_SHAPE, RECEIVES],
    hostile=True,
)
@pytest.mark.parametrize("name", [*FAULTS, "other-version"])
def test_many_in_a_row(bench, name):
    """More faults than the server has receives, each sent after the answer to the last: an error for each. Then a
    valid call is answered. What one fault had answered has cost a receive if no answer comes later.
    """
    conn = bench.connect()
    spoil = FAULTS.get(name, other_version)
    expect_refused(conn, spoil)
    for _ in range(in_a_row(conn) - 1):
        expect_refused(conn, spoil, RECEIVES)
    expect_answered(conn, RECEIVES)


@case("server.errors.pipelined", requirements=[*CHUNK_SHAPE, *VERS_SHAPE], hostile=True)
def test_pipelined(bench):
    """Good and bad calls alternate without waiting. Each gets its own answer under its own XID."""
    conn = bench.connect()
    spoilers = [None, break_list, None, other_version, None, unknown_procedure, None]
    calls = []
    for spoil in spoilers[: conn.window]:
        calls.append(conn.null_call() if spoil is None else bad_call(conn, spoil))
    outcomes = conn.collect(calls)
    for call, spoil in zip(calls, spoilers):
        if spoil is None:
            expect(outcomes[call.xid], "RFC8166-4.5-2", must=[kinds.REPLY])
        elif spoil is other_version:
            expect_err_vers(outcomes[call.xid], call)
        else:
            expect_err_chunk(outcomes[call.xid], call, DUE[spoil])
    expect_answered(conn)


@case("server.errors.xid-used-again", requirements=CHUNK_SHAPE, hostile=True)
def test_xid_used_again(bench):
    """RDMA_ERROR completes its transaction, so its XID may be used again. A valid call with the XID
    of a refused one is answered."""
    conn = bench.connect()
    call = bad_call(conn, break_list)
    expect_err_chunk(conn.exchange(call), call, DUE[break_list])
    again = conn.rpc_call(call.program, call.version, call.procedure, xid=call.xid)
    expect(conn.exchange(again), "RFC8166-4.5-2", must=[kinds.REPLY])


@case("server.errors.not-executed.{name}", requirements=["RFC8166-4.5-2"], hostile=True)
@pytest.mark.parametrize("name", [*FAULTS, "other-version"])
def test_not_executed(bench, name):
    """A CREATE in a message that is answered with RDMA_ERROR creates nothing."""
    where = {"dir": bench.directory(), "name": bench.name("spoilt")}
    conn = bench.connect()
    call = conn.nfs_call("CREATE", where=where)
    if name != "nomsg-without-chunk":
        {**FAULTS, "other-version": other_version}[name](call)
    else:
        call.proc = wire.Procedure.NOMSG
    due = kinds.ERR_VERS if name == "other-version" else kinds.ERR_CHUNK
    expect(conn.exchange(call), "RFC8166-4.5-2", must=[due])
    found = conn.exchange(conn.nfs_call("LOOKUP", what=where))
    expect(found, "RFC8166-4.5-2", must=["nfs:NFS3ERR_NOENT"])


@case(
    "server.errors.from-requester.{name}",
    requirements=["RFC8166-4.2.4-5"],
    bugs=["B124"],
    hostile=True,
)
@pytest.mark.parametrize(
    "name", ["err-vers", "err-chunk-padded", "unknown-code", "legacy-arm", "code-zero", "pending"]
)
def test_error_from_requester(bench, name):
    """RDMA_ERROR in the wrong direction, of 28 octets and more, is discarded silently."""
    conn = bench.connect()
    call = conn.null_call()
    call.proc, call.payload = wire.Procedure.ERROR, b""
    call.error = {"err-vers": 1, "unknown-code": 77, "legacy-arm": 3, "code-zero": 0}.get(name, 2)
    if name != "err-vers":
        # RFC 5666 4.3 had eight words behind an unknown code. Below 28 octets only the length
        # counts.
        call.append = bytes(32)
    if name == "pending":
        pending = conn.null_call()
        call.xid = pending.xid
        conn.send(call)
        expect(conn.exchange(pending), "RFC8166-4.2.4-5", must=[kinds.REPLY])
        call.xid = conn.next_xid()
    expect(conn.exchange(call), "RFC8166-4.2.4-5", must=[kinds.SILENCE])
    expect(conn.probe(), "RFC8166-4.2.4-5", must=[kinds.REPLY])


@case(
    "server.errors.from-requester-in-a-row",
    requirements=["RFC8166-4.2.4-5", RECEIVES],
    hostile=True,
)
def test_errors_from_requester_in_a_row(bench):
    """More RDMA_ERRORs from the requester than the server has receives, with a NULL call after each. None is answered,
    and none costs a receive."""
    conn = bench.connect()
    for _ in range(in_a_row(conn)):
        error = bad_call(conn, lambda call: None)
        error.proc, error.payload, error.append = wire.Procedure.ERROR, b"", bytes(8)
        conn.send(error)
        outcome = conn.probe()
        answered = outcome.header is not None and outcome.header.xid == error.xid
        expect.true(not answered, "RFC8166-4.2.4-5", "RDMA_ERROR has no answer", outcome=outcome)
        expect(outcome, RECEIVES, must=[kinds.REPLY])
