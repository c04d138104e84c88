"""Latitude that names a cause: the case proves it by a control, or the other answer is a failure."""

from steertag.suite import expect, kinds
from steertag.suite.nfs_client.nfs4_client import getattr_of

ONE_XID = dict.fromkeys(kinds.CLOSED, "the second call breaks the use of XIDs")


def expect_reply_unless(outcome, requirement_id, legal, is_cause):
    """A reply, or one of the legal kinds, {kind: cause}, if `is_cause()` proves that cause by another
    exchange. Returns whether it is a reply."""
    latitude = legal if outcome.kind in legal and is_cause() else None
    expect(outcome, requirement_id, must=[kinds.REPLY], latitude=latitude)
    return outcome.kind == kinds.REPLY


def is_answered(conn, call):
    """Whether the control gets a reply."""
    return conn.exchange(call).kind == kinds.REPLY


def takes_two_calls(bench):
    """Whether two calls in flight are answered that have XIDs of their own."""
    conn = bench.connect()
    outcomes = conn.collect([conn.null_call(), conn.null_call()])
    return all(outcome.kind == kinds.REPLY for outcome in outcomes.values())


def takes_write_chunks(bench, count):
    """Whether a COMPOUND with so many write chunks, none of them empty, is answered."""
    session = bench.nfs4_session()
    call = session.call("PUTROOTFH", getattr_of("type"))
    for _ in range(count):
        session.conn.write_chunk(call, length=64)
    return is_answered(session.conn, call)
