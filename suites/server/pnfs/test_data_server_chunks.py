"""Chunks at data servers: the data of READ and WRITE, and write chunks that stay unused (RFC 8267 6)."""

import pytest

from steertag.suite import case, expect, kinds
from steertag.suite.nfs_client.nfs4_client import ANONYMOUS, putfh, read, write
from ..chunk_checks import OVERRUN, OVERRUN_LATITUDE, expect_alive
from ..nfs4_checks import COPIED, expect_chunks
from .layout_checks import BAD_STATEID, FENCED, NEEDS, NFS4, user_with_layout, written

WRITE_DATA, READ_DATA = "RFC8267-6.1-1", "RFC8267-6.1-3"
IN_CHUNK, UNUSED, TOO_SMALL = "RFC8267-6.4.1-4", "RFC8267-6.4.1-6", "RFC8267-3.1-1"
LIMITS = "RFC8267-6.4.2-5"
FORM, NO_LAYOUT = "RFC8881-13.9.1-3", "RFC8881-13.6-2"
# Of READ and WRITE: no multiple of four, and the whole message fits inline.
MOST_OCTETS = 301
# Octets of the write chunk beyond the data, by segment. None: the chunk has one segment.
ROOMS = {"exact": 0, "longer": 64, "segments": 64}
SEGMENTS = 3
REFUSALS = {"stateid": BAD_STATEID, "returned": FENCED, "handle": FENCED}


def _start(bench, requirement_id):
    """(user, part, octets): a file at data servers, and the first octets of a part."""
    user = user_with_layout(bench)
    content = written(bench, user, requirement_id)
    part = user.parts()[0]
    count = min(MOST_OCTETS, part.length)
    return user, part, content[part.start : part.start + count]


def _read_call(user, part, count, slot=0, handle=None, stateid=None):
    """A READ at the data server of this part, without a write chunk."""
    wanted = read(count, part.offset, stateid or user.for_io)
    session = user.data_server(part.server)
    return session.conn, session.call(putfh(handle or part.handle), wanted, slot=slot)


def _sizes(octets):
    """Of the segments of a chunk with so many octets."""
    each = octets // SEGMENTS
    return [each] * (SEGMENTS - 1) + [octets - (SEGMENTS - 1) * each]


@case("server.pnfs.chunk.read-{name}", requirements=[READ_DATA, IN_CHUNK, COPIED], needs=NEEDS)
@pytest.mark.parametrize("name", ROOMS)
def test_read(bench, name):
    """READ at a data server into a write chunk of its length, into a longer one, and into one of three segments. The
    octets are in the chunk, and its returned length is theirs."""
    user, part, octets = _start(bench, READ_DATA)
    conn, call = _read_call(user, part, len(octets))
    room = len(octets) + ROOMS[name]
    conn.write_chunk(call, room, _sizes(room) if name == "segments" else None)
    outcome = expect(conn.exchange(call), READ_DATA, must=[kinds.REPLY])
    found = outcome.result["READ"].resok4.data
    expect.data(found, octets, READ_DATA, "octets of a READ", outcome=outcome)
    expect_chunks(outcome, [len(octets)], IN_CHUNK)
    expect.data(outcome.data, octets, IN_CHUNK, "octets of the chunk", outcome=outcome)


@case("server.pnfs.chunk.read-too-small", requirements=[TOO_SMALL], needs=NEEDS, hostile=True)
def test_too_small(bench):
    """READ at a data server into a write chunk that lacks one octet. The server reports an error and truncates
    nothing, and the connection works."""
    user, part, octets = _start(bench, TOO_SMALL)
    conn, call = _read_call(user, part, len(octets), slot=1)
    conn.write_chunk(call, len(octets) - 1)
    allowed = {**OVERRUN_LATITUDE, "nfs:NFS4ERR_REP_TOO_BIG": "an error at NFS level"}
    expect(conn.exchange(call), TOO_SMALL, must=OVERRUN, latitude=allowed)
    expect_alive(conn, TOO_SMALL)


@case(
    "server.pnfs.chunk.refused-{name}",
    requirements=[UNUSED, FORM, NO_LAYOUT, COPIED],
    needs=NEEDS,
    hostile=True,
)
@pytest.mark.parametrize("name", REFUSALS)
def test_refused(bench, name):
    """A READ at a data server is refused for a special stateid, behind the return of the layout, or for a filehandle of
    no layout. Its write chunk comes back unused, and the memory of it is untouched."""
    user, part, octets = _start(bench, UNUSED)
    handle, stateid = part.handle, None
    if name == "stateid":
        stateid = NFS4.StateId(**ANONYMOUS)
    elif name == "handle":
        handle = bytes(each ^ 0xA5 for each in part.handle)
    else:
        expect(user.layout_return(), NO_LAYOUT, must=[kinds.REPLY])
    conn, call = _read_call(user, part, len(octets), handle=handle, stateid=stateid)
    offer = conn.write_chunk(call, len(octets))
    outcome = conn.exchange(call)
    expect(outcome, FORM if name == "stateid" else NO_LAYOUT, must=REFUSALS[name])
    expect_chunks(outcome, [0], UNUSED)
    untouched = offer.bytes() == offer.filled
    expect.true(untouched, UNUSED, "the memory of the write chunk is untouched", outcome=outcome)


@case("server.pnfs.chunk.write-{name}", requirements=[WRITE_DATA, LIMITS], needs=NEEDS)
@pytest.mark.parametrize("name", ["one-segment", "segments", "long-call"])
def test_write(bench, name):
    """WRITE at a data server, with its data in a read chunk at their position. The chunk has one segment, or three, or
    the call is in a position-zero chunk besides. READ gives the octets."""
    user, part, octets = _start(bench, WRITE_DATA)
    octets = octets[::-1]
    session = user.data_server(part.server)
    conn = session.conn
    how = NFS4.StableHow.UNSTABLE4
    call = session.call(putfh(part.handle), write(octets, part.offset, user.for_io, how))
    conn.reduce_all(call, _sizes(len(octets)) if name == "segments" else None)
    if name == "long-call":
        conn.long_call(call)
    about = LIMITS if name == "long-call" else WRITE_DATA
    outcome = expect(conn.exchange(call), about, must=[kinds.REPLY])
    count = outcome.result["WRITE"].resok4.count
    expect.equal(count, len(octets), WRITE_DATA, "count of WRITE", outcome=outcome)
    again = user.read_at(session, part.handle, part.offset, len(octets))
    expect(again, WRITE_DATA, must=[kinds.REPLY])
    found = again.result["READ"].resok4.data
    expect.data(found, octets, WRITE_DATA, "octets behind the WRITE", outcome=again)
