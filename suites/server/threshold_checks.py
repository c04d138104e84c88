"""Replies of a chosen size: those that fit the reply inline threshold, and those that do not."""

from steertag import wire
from steertag.suite import expect, kinds
from .chunk_checks import OVERRUN, OVERRUN_LATITUDE, expect_read_data, read_call

# Receives larger than announced: a Send that is too long arrives, and the case can see it.
WATCHING_RECEIVES = 16384
# The requirement that these functions assert, besides the one that they are given.
READ_DATA = "RFC8267-4-3"


def read_overhead(conn, handle):
    """Octets of a READ reply besides its data. They are the same for every count."""
    outcome = expect(conn.exchange(read_call(conn, handle, 4)), READ_DATA, must=[kinds.REPLY])
    return len(outcome.raw) - 4


def expect_inline(bench, conn, handle, content, count, requirement_id):
    """A READ without chunks whose reply fits the threshold: it is inline."""
    call = read_call(conn, handle, count)
    outcome = expect(conn.exchange(call), requirement_id, must=[kinds.REPLY])
    expect_read_data(bench, outcome, call, content, outcome.result.ok.data)
    return outcome


def expect_refused(bench, conn, handle, content, count, requirement_id):
    """A READ without chunks whose full reply exceeds the threshold: an error, or fewer octets (RFC
    1813 3.3.6)."""
    call = read_call(conn, handle, count)
    outcome = conn.exchange(call)
    if outcome.kind == kinds.REPLY:
        expect_within(conn, outcome, requirement_id)
        expect_read_data(bench, outcome, call, content, outcome.result.ok.data)
    else:
        expect(outcome, requirement_id, must=OVERRUN, latitude=OVERRUN_LATITUDE)
    return outcome


def expect_long_reply(bench, conn, handle, content, count, requirement_id):
    """A READ with a reply chunk whose full reply exceeds the threshold: the reply chunk holds
    it."""
    call = read_call(conn, handle, count)
    conn.reply_chunk(call)
    outcome = expect(conn.exchange(call), requirement_id, must=[kinds.REPLY])
    if outcome.header.proc != wire.Procedure.NOMSG:
        expect_within(conn, outcome, requirement_id)
    expect_read_data(bench, outcome, call, content, outcome.result.ok.data)
    return outcome


def expect_within(conn, outcome, requirement_id):
    """The Send that carried the answer keeps to the reply inline threshold."""
    limit = conn.negotiated.to_client_bytes
    what = "octets of the Send with the reply"
    expect.at_most(len(outcome.raw), limit, requirement_id, what, outcome=outcome)
