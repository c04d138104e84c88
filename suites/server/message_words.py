"""The 32-bit words of a message as they arrived, for the cases on errors and XIDs."""

import struct

from steertag import wire
from steertag.suite import expect, kinds

ERR_CHUNK_OCTETS = 20
ERR_VERS_OCTETS = 28
RPC_XID_WORD = 7  # behind a header without chunks
# Messages that use up the receives of a server, if none comes back. Some post 258 whatever they grant, others some more
# than they grant.
LEAST_IN_A_ROW, MORE_RECEIVES, MOST_IN_A_ROW = 300, 32, 1024
# A faulty header is answered. After one such answer, the server has to have a receive for the next message.
ANSWERED, RECEIVES = "RFC8166-4.5-2", "RFC8166-3.3.1-9"
# The requirements that expect_error asserts.
ERROR_SHAPE = (
    ANSWERED,
    "RFC8166-4.5-4",
    "RFC8166-4.5-5",
    "RFC8166-4.5-6",
    "RFC8166-4.1.2-9",
    "RFC8166-3.3.1-5",
)
# What each kind of error adds: its length, and the reasons that require it.
CHUNK_SHAPE = (
    *ERROR_SHAPE,
    "RFC8166-4.1.2-11",
    "RFC8166-4.5.2-1",
    "RFC8166-4.5.2-2",
    "RFC8166-4.5.2-3",
)
VERS_SHAPE = (*ERROR_SHAPE, "RFC8166-4.1.2-10", "RFC8166-4.5.1-1")


def in_a_row(conn):
    """How many messages, one after the other, are more than the receives that the server has for the connection."""
    grant = conn.grant if conn.has_header else 0
    return min(max(LEAST_IN_A_ROW, grant + MORE_RECEIVES), MOST_IN_A_ROW)


def words(octets):
    """The 32-bit words of a message, without up to three octets at its end."""
    return struct.unpack(f">{len(octets) // 4}I", octets[: len(octets) // 4 * 4])


def either(conn, over_rdma, over_tcp):
    """The requirement or the reason that applies to the connection's transport."""
    return over_rdma if conn.has_header else over_tcp


def no_reply(conn):
    """Why a message without a possible reply may end the connection."""
    recovery = "no reply can be formed, and recovery is left open (RFC 5531 11)"
    return either(conn, "no reply can be formed (RFC 8166 4.5.4)", recovery)


def may_end(conn):
    """Latitude for the end of the connection over a message without a possible reply."""
    return dict.fromkeys(kinds.CLOSED, no_reply(conn))


def may_end_over_reply(conn):
    """The same over an RPC reply that matches no call. RFC 8167 2.4 has it discarded over RDMA, and no clause over
    TCP."""
    return {} if conn.has_header else may_end(conn)


def with_word(octets, number, value):
    """The message with one word replaced."""
    start = 4 * number
    return octets[:start] + value.to_bytes(4, "big") + octets[start + 4 :]


def expect_one_xid(outcome, requirement_id):
    """A reply has one XID in both places. A server that uses only the header's may answer a call with two, but
    not with two (RFC 8166 4.2.1)."""
    if outcome.kind != kinds.REPLY:
        return
    xid, rpc_xid = words(outcome.raw)[0], words(outcome.raw)[RPC_XID_WORD]
    expect.equal(rpc_xid, xid, requirement_id, "XID of the RPC reply", show=False, outcome=outcome)


def expect_error(outcome, call, code, kind, requirement_id, answered=ANSWERED):
    """Checks an RDMA_ERROR with this code for the call, word by word. `answered` is broken where nothing comes."""
    if outcome.kind in (*kinds.CLOSED, kinds.HANG):
        expect(outcome, answered, must=[kind])
    misshapen = outcome.kind in (kinds.GARBAGE, kinds.ERROR_OTHER)
    if not misshapen or len(outcome.raw) < ERR_CHUNK_OCTETS:
        expect(outcome, requirement_id, must=[kind])
    xid, vers, credit, proc, err = words(outcome.raw)[:5]

    def check(actual, wanted, requirement_id, what, show=True):
        expect.equal(actual, wanted, requirement_id, what, show=show, outcome=outcome)

    check(proc, int(wire.Procedure.ERROR), "RFC8166-4.5-6", "rdma_proc of the error")
    check(xid, call.xid, "RFC8166-4.5-4", "rdma_xid of the error", show=False)
    check(vers, call.vers, "RFC8166-4.5-5", "rdma_vers of the error")
    check(err, int(code), "RFC8166-4.1.2-9", "rdma_err")
    expect.at_least(credit, 1, "RFC8166-3.3.1-5", "credit grant of the error", outcome=outcome)


def expect_err_chunk(outcome, call, requirement_id, answered=ANSWERED):
    """ERR_CHUNK for the call, in 20 octets. `requirement_id` is the clause that requires it."""
    expect_error(outcome, call, wire.ErrorCode.CHUNK, kinds.ERR_CHUNK, requirement_id, answered)
    length = len(outcome.raw)
    expect.equal(length, ERR_CHUNK_OCTETS, "RFC8166-4.1.2-11", "octets of ERR_CHUNK")


def expect_err_vers(outcome, call, answered=ANSWERED):
    """ERR_VERS for the call, in 28 octets. Its range has version 1 and lacks the call's version."""
    due = "RFC8166-4.5.1-1"
    expect_error(outcome, call, wire.ErrorCode.VERS, kinds.ERR_VERS, due, answered)
    length = len(outcome.raw)
    expect.equal(length, ERR_VERS_OCTETS, "RFC8166-4.1.2-10", "octets of ERR_VERS")
    low, high = words(outcome.raw)[5:7]
    expect.true(low <= high, "RFC8166-4.1.2-10", "ERR_VERS names the lowest version first")
    expect.true(low <= 1 <= high, "RFC8166-4.5.1-1", "the range of ERR_VERS holds version 1")
    expect.true(
        not low <= call.vers <= high, "RFC8166-4.5.1-1", "the range lacks the refused version"
    )


def renumber(call, xid):
    """Gives the call this XID, in its header and in its RPC message."""
    call.xid = xid
    call.payload = with_word(bytes(call.payload), 0, xid)
