"""How many chunks and segments a server takes in one call of NFS version 4 (RFC 8267 6.4.2)."""

import pytest

from steertag.suite import case, expect, kinds
from steertag.suite.nfs_client.nfs4_client import putfh, read, write
from ..chunk_checks import MOST_SEGMENTS, expect_alive
from ..nfs4_checks import (
    COPIED,
    expect_content,
    expect_reads,
    need_inline,
    read_operations,
    with_file,
)
from ..proofs import is_answered

LIMITS = "RFC8267-6.4.2-1"
INLINE = "RFC8166-4.3.2.3-2"
OCTETS = 512  # of a file, so that a READ of it fits inline


@case(
    "server.nfs4.binding.limits-{name}",
    requirements=["RFC8267-6.4.2-5", COPIED],
    needs=["nfs41"],
)
@pytest.mark.parametrize("name", ["read", "write", "long-call", "everything"])
def test_within_limits(bench, name):
    """The limits that every server supports: sixteen segments in each chunk, and one chunk of each
    kind. The kinds are position-zero read chunk, read chunk, write chunk and reply chunk."""
    content = bench.random.randbytes(4096)
    session, handle = with_file(bench, content)
    conn, pieces = session.conn, [256] * 16
    operations = [putfh(handle)]
    if name != "read":
        operations.append(write(content[::-1]))
    if name != "write":
        operations.append(read(4096))
    call = session.call(*operations)
    if name in ("write", "everything"):
        conn.reduce_all(call, pieces)
    if name in ("read", "everything"):
        conn.write_chunk(call, sizes=pieces)
    if name in ("long-call", "everything"):
        length = len(call.payload)
        conn.long_call(call, [8] * 15 + [length - 120])
    if name in ("long-call", "everything"):
        conn.reply_chunk(call, sizes=[1024] * 16)
    need_inline(bench, conn, call)
    outcome = conn.exchange(call)
    expect(outcome, "RFC8267-6.4.2-5", must=[kinds.REPLY])
    stored = content if name == "read" else content[::-1]
    if name != "write":
        expect_reads(outcome, "RFC8267-6.4.2-5", stored)
    expect_content(session, handle, stored, "RFC8267-6.4.2-5")


def split_write_chunk(session, handle, count):
    """READ into a write chunk of so many segments."""
    call = session.call(*read_operations(handle, (0, OCTETS)))
    session.conn.write_chunk(call, sizes=[OCTETS - count + 1] + [1] * (count - 1))
    return call


def empty_write_chunks(session, handle, count):
    """READ with so many empty write chunks, so that its data come inline."""
    call = session.call(*read_operations(handle, (0, OCTETS)))
    for _ in range(count):
        call.add_write_chunk([])
    return call


def write_chunks(session, handle, count):
    """READ with so many write chunks: the first has its data, and the others stay unused."""
    call = session.call(*read_operations(handle, (0, OCTETS)))
    for number in range(count):
        session.conn.write_chunk(call, length=4 if number else OCTETS)
    return call


def read_chunks(session, handle, count):
    """So many WRITEs, each with its data in a read chunk."""
    writes = [write(b"abcd", offset=4 * number) for number in range(count)]
    call = session.call(putfh(handle), *writes)
    session.conn.reduce_all(call)
    return call


# What makes the call, how many it has of what it is about, and how many of them every server takes.
COMPLEX = {
    "17-segments": (split_write_chunk, 17, MOST_SEGMENTS),
    "100-chunks": (empty_write_chunks, 100, 1),
    "150-segments": (split_write_chunk, 150, MOST_SEGMENTS),
    "10-read-chunks": (read_chunks, 10, 1),
}


REFUSED = [kinds.ERR_CHUNK, "rpc:GARBAGE_ARGS"]


def is_for_number(bench, name, content):
    """Whether the number is the cause: as few as every server takes are answered. As many chunks that are not empty
    are not answered either."""
    make, count, few = COMPLEX[name]
    session, handle = with_file(bench, content)
    if not is_answered(session.conn, make(session, handle, few)):
        return False
    if make is not empty_write_chunks:
        return True
    session, handle = with_file(bench, content)
    control = write_chunks(session, handle, count)
    need_inline(bench, session.conn, control)
    return not is_answered(session.conn, control)


@case(
    "server.nfs4.binding.complex-{name}",
    requirements=[LIMITS, "RFC8267-6.4.2-6", "RFC8267-6.4.2-7", INLINE],
    needs=["nfs41"],
    hostile=True,
)
@pytest.mark.parametrize("name", COMPLEX)
def test_complex(bench, name):
    """More segments or chunks than a server must take: taken, or ERR_CHUNK or GARBAGE_ARGS. Without a reply, other calls
    show whether their number is the cause. If it is not, an empty write chunk has to leave its result inline.
    """
    make, count, _ = COMPLEX[name]
    content = bench.random.randbytes(OCTETS)
    session, handle = with_file(bench, content)
    call = make(session, handle, count)
    need_inline(bench, session.conn, call)
    outcome = session.conn.exchange(call)
    legal, ends = [kinds.REPLY, *REFUSED], {}
    requirement_id = LIMITS
    if outcome.kind in (*REFUSED, *kinds.CLOSED):
        if is_for_number(bench, name, content):
            ends = dict.fromkeys(kinds.CLOSED, "more than this server takes")
        else:
            legal = [kinds.REPLY]
            requirement_id = INLINE if make is empty_write_chunks else LIMITS
    expect(outcome, requirement_id, must=legal, warn=ends)
    if outcome.kind == kinds.REPLY and "READ" in outcome.result:
        expect_reads(outcome, "RFC8267-6.4.2-6", content)
    expect_alive(session.conn, "RFC8267-6.4.2-7")
