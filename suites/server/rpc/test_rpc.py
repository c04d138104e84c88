"""Faulty RPC calls with good framing, over RDMA and TCP (RFC 5531 9)."""

import pytest

from steertag import rpc, wire
from steertag.suite import ANY, case, expect, kinds
from ..chunk_checks import expect_alive
from ..message_words import either, in_a_row, may_end, may_end_over_reply, with_word, words

PROGRAM, VERSION = 100003, 3
FRAMED = "RFC8166-4.1.2-6"
DIRECTION = "RFC5531-9-2"
MISMATCH = "RFC5531-9-3"
NO_PROGRAM = "RFC5531-9-4"
NO_VERSION = "RFC5531-9-5"
NO_PROCEDURE = "RFC5531-9-6"
GARBAGE = "RFC5531-9-7"
VOID = "RFC5531-9-9"
EXECUTES = "RFC8166-4.2.4-1"
# Words of an RPC call.
TYPE_WORD, RPCVERS_WORD = 1, 2

RPC_VERSIONS = {"zero": 0, "one": 1, "three": 3, "largest": 0xFFFFFFFF}
PROGRAMS = {
    "zero": 0,
    "local-range": 0x2000FFFF,
    "transient-range": 0x40000001,
    "neighbour": 100002,
    "largest": 0xFFFFFFFF,
}
VERSIONS = {"zero": 0, "one": 1, "ninety-nine": 99, "largest": 0xFFFFFFFF}
PROCEDURES = {"first-behind": 22, "thousand": 1000, "sign": 0x80000000, "largest": 0xFFFFFFFF}
UNDECODABLE = {
    kinds.SILENCE: "not to be told from a reply, which is discarded",
    **dict.fromkeys(kinds.CLOSED, "no reply can be formed (RFC 8166 4.5.4)"),
}


def expect_framed(outcome):
    """Over RDMA, the RPC reply follows a transport header of RDMA_MSG without chunks."""
    if not outcome.conn.has_header:
        return
    seen = words(outcome.raw)[1:7]
    credit = seen[1] if len(seen) > 1 else 0
    wanted = (1, credit, int(wire.Procedure.MSG), 0, 0, 0)
    framed = seen == wanted and credit > 0
    expect.true(framed, FRAMED, "the RPC reply is behind a transport header", outcome=outcome)


def patched(conn, number, value):
    """A NULL call with one word of its RPC message replaced."""
    call = conn.null_call()
    call.payload = with_word(bytes(call.payload), number, value)
    return call


@case("server.rpc.version-{name}", requirements=[MISMATCH, FRAMED], bugs=["B130"], over=ANY)
@pytest.mark.parametrize("name", RPC_VERSIONS)
def test_rpc_version(bench, name):
    """A NULL call with an rpcvers other than 2: denied with RPC_MISMATCH, 2 to 2."""
    conn = bench.connect()
    outcome = conn.exchange(patched(conn, RPCVERS_WORD, RPC_VERSIONS[name]))
    expect_rpc_mismatch(outcome)
    expect_alive(conn, MISMATCH)


def expect_rpc_mismatch(outcome):
    expect(outcome, MISMATCH, must=[kinds.DENIED])
    expect_framed(outcome)
    reply = outcome.reply
    expect.equal(reply.reject_status.name, "RPC_MISMATCH", MISMATCH, "reason of the denial")
    versions = reply.mismatch.low, reply.mismatch.high
    expect.equal(versions, (2, 2), MISMATCH, "supported RPC versions", outcome=outcome)
    expect.equal(outcome.results, b"", MISMATCH, "octets behind the range", outcome=outcome)


@case(
    "server.rpc.version-before-program",
    requirements=[MISMATCH, FRAMED],
    bugs=["B130"],
    over=ANY,
)
def test_rpc_version_before_program(bench):
    """rpcvers 3 and an unknown program. The rest has no meaning under this rpcvers, so the answer
    is RPC_MISMATCH."""
    conn = bench.connect()
    call = conn.rpc_call(PROGRAMS["local-range"], 1, 0)
    call.payload = with_word(bytes(call.payload), RPCVERS_WORD, 3)
    expect_rpc_mismatch(conn.exchange(call))
    expect_alive(conn, MISMATCH)


@case(
    "server.rpc.program-{name}",
    requirements=[NO_PROGRAM, FRAMED, VOID],
    bugs=["B131", "B134"],
    over=ANY,
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_unknown_program(bench, name):
    """A NULL call to a program that does not exist: PROG_UNAVAIL behind a transport header, and
    nothing after it."""
    conn = bench.connect()
    outcome = conn.exchange(conn.rpc_call(PROGRAMS[name], 1, 0))
    expect(outcome, NO_PROGRAM, must=["rpc:PROG_UNAVAIL"])
    expect_framed(outcome)
    expect.equal(outcome.results, b"", VOID, "octets behind PROG_UNAVAIL", outcome=outcome)
    expect_alive(conn, NO_PROGRAM)


@case(
    "server.rpc.program-version-{name}",
    requirements=[NO_VERSION, FRAMED],
    bugs=["B131"],
    over=ANY,
)
@pytest.mark.parametrize("name", VERSIONS)
def test_unknown_version(bench, name):
    """A NULL call to a version of NFS that does not exist: PROG_MISMATCH with the right range, the
    same each time."""
    conn = bench.connect()
    ranges = []
    for _ in range(2):
        outcome = conn.exchange(conn.rpc_call(PROGRAM, VERSIONS[name], 0))
        expect(outcome, NO_VERSION, must=["rpc:PROG_MISMATCH"])
        expect_framed(outcome)
        low, high = outcome.reply.mismatch.low, outcome.reply.mismatch.high
        holds = low <= VERSION <= high and not low <= VERSIONS[name] <= high
        expect.true(
            holds,
            NO_VERSION,
            "the range holds version 3 and lacks the refused one",
            outcome=outcome,
        )
        expect.equal(outcome.results, b"", NO_VERSION, "octets behind the range", outcome=outcome)
        ranges.append((low, high))
    expect.equal(ranges[1], ranges[0], NO_VERSION, "range of the second refusal")
    expect_alive(conn, NO_VERSION)


@case(
    "server.rpc.procedure-{name}",
    requirements=[NO_PROCEDURE, FRAMED, VOID],
    bugs=["B130"],
    over=ANY,
)
@pytest.mark.parametrize("name", PROCEDURES)
def test_unknown_procedure(bench, name):
    """A procedure number that NFS version 3 lacks: PROC_UNAVAIL, and nothing after it."""
    conn = bench.connect()
    outcome = conn.exchange(conn.rpc_call(PROGRAM, VERSION, PROCEDURES[name]))
    expect(outcome, NO_PROCEDURE, must=["rpc:PROC_UNAVAIL"])
    expect_framed(outcome)
    expect.equal(outcome.results, b"", VOID, "octets behind PROC_UNAVAIL", outcome=outcome)
    expect_alive(conn, NO_PROCEDURE)


HANDLE = b"\x5e" * 32
# Arguments that no decoder of RFC 1813 accepts: (procedure, octets).
GARBAGE_ARGUMENTS = {
    "nothing": ("GETATTR", b""),
    "handle-too-long": ("GETATTR", (68).to_bytes(4, "big") + bytes(68)),
    "handle-length-largest": ("GETATTR", b"\xff\xff\xff\xff" + HANDLE),
    "handle-beyond-message": ("GETATTR", (64).to_bytes(4, "big") + HANDLE),
    "name-beyond-message": (
        "LOOKUP",
        (32).to_bytes(4, "big") + HANDLE + (200).to_bytes(4, "big") + b"name",
    ),
    "name-length-largest": (
        "LOOKUP",
        (32).to_bytes(4, "big") + HANDLE + b"\xff\xff\xff\xff" + b"name",
    ),
    "write-data-beyond-message": (
        "WRITE",
        (32).to_bytes(4, "big")
        + HANDLE
        + bytes(8)
        + (4096).to_bytes(4, "big")
        + (2).to_bytes(4, "big")
        + (4096).to_bytes(4, "big")
        + b"data",
    ),
}


@case("server.rpc.garbage-{name}", requirements=[GARBAGE, VOID, "RFC8166-4.5.2-5"], over=ANY)
@pytest.mark.parametrize("name", GARBAGE_ARGUMENTS)
def test_garbage_arguments(bench, name):
    """Arguments that do not decode: GARBAGE_ARGS, over RDMA in an RDMA_MSG, and nothing after
    it."""
    conn = bench.connect()
    procedure, octets = GARBAGE_ARGUMENTS[name]
    outcome = conn.exchange(conn.nfs_call(procedure, octets))
    expect(
        outcome,
        either(conn, "RFC8166-4.5.2-5", GARBAGE) if outcome.kind in kinds.UNANSWERED else GARBAGE,
        must=["rpc:GARBAGE_ARGS"],
        latitude={kinds.ERR_CHUNK: "reported at transport level"},
    )
    if outcome.kind == "rpc:GARBAGE_ARGS":
        if conn.has_header:
            proc = outcome.header.proc
            expect.equal(proc, wire.Procedure.MSG, "RFC8166-4.5.2-5", "rdma_proc of the reply")
        expect.equal(outcome.results, b"", VOID, "octets behind GARBAGE_ARGS", outcome=outcome)
    expect_alive(conn, GARBAGE)


@case("server.rpc.behind-arguments-{octets}", requirements=[EXECUTES, GARBAGE], over=ANY)
@pytest.mark.parametrize("octets", [4, 64, 400])
def test_octets_behind_arguments(bench, octets):
    """GETATTR with octets behind its arguments: ignored or refused."""
    conn = bench.connect()
    call = conn.nfs_call("GETATTR", object=bench.root)
    call.payload = bytes(call.payload) + b"\xa5" * octets
    executes = either(conn, EXECUTES, GARBAGE)
    expect(
        conn.exchange(call),
        executes,
        must=[kinds.REPLY],
        latitude={"rpc:GARBAGE_ARGS": "octets behind the arguments are an error"},
    )
    expect_alive(conn, executes)


def taken_for_a_call(conn):
    """Latitude for a message that is no call."""
    why = "taken for a call in error"
    return dict.fromkeys(kinds.REFUSED, either(conn, f"{why} (RFC 8166 4.5.2)", why))


TYPES = {"reply": 1, "two": 2, "largest": 0xFFFFFFFF}


@case("server.rpc.type-{name}", requirements=[DIRECTION], bugs=["B126"], hostile=True, over=ANY)
@pytest.mark.parametrize("name", TYPES)
def test_message_type(bench, name):
    """A CREATE whose msg_type is not CALL is not executed. As a reply over RDMA it does not end the connection."""
    where = {"dir": bench.directory(), "name": bench.name("typed")}
    conn = bench.connect()
    call = conn.nfs_call("CREATE", where=where)
    call.payload = with_word(bytes(call.payload), TYPE_WORD, TYPES[name])
    latitude = taken_for_a_call(conn)
    if name == "reply":
        latitude |= may_end_over_reply(conn)
    else:
        latitude |= {kinds.DENIED: "taken for a call in error", **may_end(conn)}
    expect(conn.exchange(call), DIRECTION, must=[kinds.SILENCE], latitude=latitude)
    expect_alive(conn, DIRECTION)
    looking = conn if conn.open else bench.connect()
    found = looking.exchange(looking.nfs_call("LOOKUP", what=where))
    expect(found, DIRECTION, must=["nfs:NFS3ERR_NOENT"])


@case(
    "server.rpc.stray-reply-{name}",
    requirements=[DIRECTION],
    bugs=["B126"],
    hostile=True,
    over=ANY,
)
@pytest.mark.parametrize("name", ["accepted", "denied", "cut", "of-pending-call", "in-a-row"])
def test_stray_reply(bench, name):
    """RPC replies that match no call of the server are discarded, even with the XID of a client's call
    in flight. Over TCP they may end the connection."""
    conn = bench.connect()
    latitude = taken_for_a_call(conn) | may_end_over_reply(conn)
    for _ in range(in_a_row(conn) if name == "in-a-row" else 1):
        stray = stray_reply(conn, name)
        if name == "in-a-row":
            conn.send(stray)
            answer = conn.probe()
            while answer.xid == stray.xid and answer.kind not in kinds.UNANSWERED:
                bench.latitude(DIRECTION, latitude[kinds.ERR_CHUNK])
                answer = conn.await_outcome(stray)
            expect(answer, DIRECTION, must=[kinds.REPLY], latitude=may_end_over_reply(conn))
            if not conn.open:
                break
        elif name == "of-pending-call":
            pending = conn.rpc_call(PROGRAM, VERSION, 0, xid=stray.xid)
            conn.send(stray)
            expect(conn.exchange(pending), DIRECTION, must=[kinds.REPLY], latitude=latitude)
        else:
            expect(conn.exchange(stray), DIRECTION, must=[kinds.SILENCE], latitude=latitude)
    expect_alive(conn, DIRECTION)


def stray_reply(conn, name):
    call = conn.null_call()
    reply = rpc.Reply(xid=call.xid)
    if name == "denied":
        reply.status = rpc.ReplyStatus.MSG_DENIED
        reply.reject_status = rpc.RejectStatus.AUTH_ERROR
        reply.auth_status = rpc.AuthStatus.AUTH_TOOWEAK
    call.payload = reply.encode()[: 12 if name == "cut" else None]
    return call


# Octets in front of the RPC message: a record mark with its length, or junk.
PREFIXES = ("record-mark", "zero-word", "all-ones", "three-words")


@case("server.rpc.prefix-{name}", requirements=["RFC8166-4.5.2-4", "RFC8166-3.2-2"], hostile=True)
@pytest.mark.parametrize("name", PREFIXES)
def test_prefix(bench, name):
    """Octets between the header and the RPC message make the XIDs differ. The answer is ERR_CHUNK,
    or an RPC error if the server uses only the header's XID. Nothing is executed."""
    where = {"dir": bench.directory(), "name": bench.name("prefix")}
    conn = bench.connect()
    call = conn.nfs_call("CREATE", where=where)
    prefix = {
        "record-mark": (0x80000000 | len(call.payload)).to_bytes(4, "big"),
        "zero-word": bytes(4),
        "all-ones": b"\xff" * 4,
        "three-words": bytes(12),
    }[name]
    call.payload = prefix + bytes(call.payload)
    expect(
        conn.exchange(call),
        "RFC8166-4.5.2-4",
        must=[kinds.ERR_CHUNK],
        latitude={
            "rpc:GARBAGE_ARGS": "the header's XID alone is used (RFC 8166 4.2.1)",
            kinds.DENIED: "the header's XID alone is used (RFC 8166 4.2.1)",
        },
        warn={kinds.SILENCE: "the header's XID alone is used, and the RPC error is not reported"},
    )
    expect_alive(conn, "RFC8166-3.2-2")
    found = conn.exchange(conn.nfs_call("LOOKUP", what=where))
    expect(found, "RFC8166-3.2-2", must=["nfs:NFS3ERR_NOENT"])


@case("server.rpc.no-record-mark", requirements=["RFC8166-3.2-2"])
def test_no_record_mark(bench):
    """The RPC message of a reply follows the header immediately, with its XID."""
    conn = bench.connect()
    call = conn.null_call()
    outcome = conn.exchange(call)
    if len(outcome.raw) < 32:
        expect(outcome, "RFC8166-3.2-2", must=[kinds.REPLY])
    first = words(outcome.raw)[7]
    marked = first & 0x80000000 and first & 0x7FFFFFFF == len(outcome.raw) - 32
    expect.true(not marked, "RFC8166-3.2-2", "no record mark stands before the RPC reply")
    expect(outcome, "RFC8166-3.2-2", must=[kinds.REPLY])


@case("server.rpc.xid-doubled", requirements=["RFC8166-3.2-1"], hostile=True)
def test_xid_doubled(bench):
    """The RPC message has its XID twice. The XIDs match, and the message has no valid type."""
    conn = bench.connect()
    call = conn.null_call()
    call.payload = call.xid.to_bytes(4, "big") + bytes(call.payload)
    expect(
        conn.exchange(call),
        "RFC8166-3.2-1",
        must=[*kinds.REFUSED, kinds.DENIED],
        latitude=UNDECODABLE,
    )
    expect_alive(conn, "RFC8166-3.2-1")
