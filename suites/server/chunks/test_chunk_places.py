"""Where read chunks begin and end: at the ends of other segments, around their item, within it.

The item is the data of a WRITE in a COMPOUND, with operations before and behind it (RFC 8166 3.4.5, 6.1)."""

import pytest

from steertag.suite import case, expect, kinds
from steertag.suite.nfs_client.nfs4_client import getattr_of, putfh, write
from ..chunk_checks import expect_alive, reduce_at
from ..nfs4_checks import NFS4, expect_content, need_inline, status, with_file

JOINED = "RFC8166-3.4.5-5"
NOT_PROCESSED, REPORTED = "RFC8166-6.1-3", "RFC8166-6.1-4"
OLD = b"as it was"
# Octets of data: with roundup, and without.
LENGTHS = {"odd": 4093, "even": 1024}
# From the place of the item to the end of a segment of the position-zero chunk.
ENDS = {"word-before": -4, "before": -1, "at": 0, "behind": 1, "word-behind": 4}
# Octets that a chunk holds besides its item: so many before, so many behind.
AROUND = {
    "count-word": (4, 0),
    "stable-word": (8, 0),
    "next-operation": (0, 4),
    "both-sides": (4, 4),
}
# The part of 1024 octets of data that a chunk holds.
WITHIN = {
    "first-half": (0, 512),
    "last-half": (512, 512),
    "middle": (256, 512),
    "all-but-first-word": (4, 1020),
    "all-but-last-word": (0, 1020),
}
REFUSED = [*kinds.REFUSED, status("NFS4ERR_BADXDR")]
PUT_TOGETHER = {kinds.REPLY: "chunk and payload stream are put together octet by octet"}
CLOSED = dict.fromkeys(kinds.CLOSED, "the connection ends (RFC 8166 4.5.4)")


def write_between(session, handle, content):
    """A WRITE with operations before and behind it."""
    return session.call(putfh(handle), getattr_of("type"), write(content), getattr_of("size"))


def expect_stored(session, outcome, handle, content, requirement_id):
    """The data were stored, and the operation behind the WRITE was executed."""
    expect(outcome, requirement_id, must=[kinds.REPLY])
    last = outcome.result.all("GETATTR")[-1].resok4
    size = NFS4.attributes(last.obj_attributes)["size"]
    expect.equal(size, len(content), requirement_id, "size behind the WRITE", outcome=outcome)
    expect_content(session, handle, content, requirement_id)


@case(
    "server.chunk-place.end-{name}-{length}",
    requirements=[JOINED],
    needs=["nfs41", "multiple-read-chunks"],
)
@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("length", LENGTHS)
def test_end(bench, name, length):
    """A long call whose data have a chunk of their own. A segment of the position-zero chunk ends where that chunk
    belongs, or shortly before or behind. The operations behind the data are in the next segment."""
    content = bench.random.randbytes(LENGTHS[length])
    session, handle = with_file(bench, OLD)
    call = write_between(session, handle, content)
    session.conn.reduce_all(call)
    end = call.read_list[0].segment.position + ENDS[name]
    session.conn.long_call(call, [end, len(call.payload) - end])
    expect_stored(session, session.conn.exchange(call), handle, content, JOINED)


@case(
    "server.chunk-place.around-{name}",
    requirements=[NOT_PROCESSED, REPORTED],
    needs=["nfs41"],
    hostile=True,
)
@pytest.mark.parametrize("name", AROUND)
def test_around(bench, name):
    """A chunk holds the data of a WRITE, and octets before or behind them that are not eligible: an error, and
    nothing is stored."""
    before, behind = AROUND[name]
    content = bench.random.randbytes(1024)
    session, handle = with_file(bench, OLD)
    call = write_between(session, handle, content)
    position = bytes(call.payload).index(content)
    reduce_at(session.conn, call, position - before, before + len(content) + behind)
    need_inline(bench, session.conn, call)
    outcome = session.conn.exchange(call)
    expect(outcome, NOT_PROCESSED, must=REFUSED, latitude=CLOSED)
    expect_alive(session.conn, REPORTED)
    expect.data(bench.read_back(handle), OLD, NOT_PROCESSED, "content of the file", outcome=outcome)


@case(
    "server.chunk-place.within-{name}",
    requirements=[REPORTED, JOINED],
    needs=["nfs41", "large-inline"],
    hostile=True,
)
@pytest.mark.parametrize("name", WITHIN)
def test_within(bench, name):
    """A chunk holds a part of the data of a WRITE, and the rest is inline (against 3.4.4.1). The server reports an
    error, or it puts the parts together by position."""
    at, length = WITHIN[name]
    content = bench.random.randbytes(1024)
    session, handle = with_file(bench, OLD)
    call = write_between(session, handle, content)
    position = bytes(call.payload).index(content)
    reduce_at(session.conn, call, position + at, length)
    outcome = session.conn.exchange(call)
    expect(outcome, REPORTED, must=REFUSED, latitude={**CLOSED, **PUT_TOGETHER})
    if outcome.kind == kinds.REPLY:
        expect_stored(session, outcome, handle, content, JOINED)
    else:
        expect_alive(session.conn, REPORTED)
        expect.data(bench.read_back(handle), OLD, JOINED, "content of the file", outcome=outcome)
