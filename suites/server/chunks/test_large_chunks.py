"""Chunks of 64 KiB to 16 MiB with an octet more or less, and first segments around a page.

FSINFO tells how much a server takes of a WRITE and returns of a READ (RFC 1813 3.3.19). A chunk may be larger."""

import pytest

from steertag.suite import case, expect, kinds
from ..chunk_checks import (
    READ_RESULT,
    TRANSFER_FAILED,
    WRITTEN,
    expect_alive,
    expect_read,
    expect_read_data,
    expect_written,
    read_call,
    write_call,
)
from ..proofs import expect_reply_unless, is_answered
from ..reply_chunk_checks import LONG_REPLY, expect_long_reply

KIB, MIB = 1 << 10, 1 << 20
BESIDE = (-1, 0, 1)
# Octets of chunks where servers change their way, and an octet beside each.
EDGES = (64 * KIB, MIB, 2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB)
SIZES = [edge + near for edge in EDGES for near in BESIDE]
# Octets of the data where the server carries less than the chunk holds.
LESS = 64 * KIB + 1
# Octets of the first segment, and of those behind it.
FIRST = [page + near for page in (4 * KIB, 8 * KIB, 64 * KIB) for near in BESIDE]
BEHIND_FIRST = [4 * KIB - 1, 5]
LIMIT = "RFC8166-8.1.4-1"
FILLED = "RFC8166-3.4.6-3"
JOINED = "RFC8166-3.4.5-5"
TOO_LARGE = {
    **dict.fromkeys(TRANSFER_FAILED, "larger than FSINFO says that a WRITE may be"),
    "rpc:GARBAGE_ARGS": "larger than FSINFO says, found when the arguments are decoded",
    "nfs:NFS3ERR_INVAL": "larger than FSINFO says, refused at NFS level",
    "nfs:NFS3ERR_FBIG": "larger than FSINFO says, refused at NFS level",
}
BESIDE_DATA = 512  # octets of the reply to a READ without its data


def limits(bench, conn, requirement_id):
    """FSINFO3resok of the export, which the server has to tell."""
    outcome = conn.exchange(conn.nfs_call("FSINFO", fsroot=bench.root))
    return expect(outcome, requirement_id, must=[kinds.REPLY]).result.ok


def takes_largest(bench, largest):
    """Whether the server takes a WRITE of as many octets as FSINFO says, in one segment."""
    conn = bench.connect()
    call = write_call(conn, bench.file(), bytes(largest))
    conn.reduce(call)
    return is_answered(conn, call)


@case("server.large-chunk.write-{octets}", requirements=[*WRITTEN, LIMIT, JOINED])
@pytest.mark.parametrize("octets", SIZES)
def test_write(bench, octets):
    """WRITE with so many octets in one segment: they are stored. What is more than FSINFO says may be refused, or
    stored in part, and what was asked for before is still taken."""
    conn = bench.connect()
    largest = limits(bench, conn, "RFC8267-4-1").wtmax
    content = bench.random.randbytes(octets)
    handle = bench.file()
    call = write_call(conn, handle, content)
    conn.reduce(call)
    outcome = conn.exchange(call)
    legal = TOO_LARGE if octets > largest else {}
    if expect_reply_unless(outcome, LIMIT, legal, lambda: takes_largest(bench, largest)):
        expect_written(bench, outcome, handle, content)
    else:
        expect_alive(conn, LIMIT)
        expect.data(bench.read_back(handle), b"", JOINED, "content of the file", outcome=outcome)


@case("server.large-chunk.read-{octets}", requirements=READ_RESULT)
@pytest.mark.parametrize("octets", SIZES)
def test_read(bench, octets):
    """READ into one segment of so many octets. It is full, or the file or the server's largest READ ends before."""
    conn = bench.connect()
    length = octets if octets <= limits(bench, conn, "RFC8267-4-3").rtmax else LESS
    content = bench.random.randbytes(length)
    call = read_call(conn, bench.file(content), octets)
    conn.write_chunk(call)
    expect_read(bench, conn.exchange(call), call, content)


@case("server.large-chunk.reply-{octets}", requirements=LONG_REPLY)
@pytest.mark.parametrize("octets", SIZES)
def test_reply(bench, octets):
    """READ without a write chunk. Its reply chunk has so many octets in two segments, which meet at an odd place."""
    conn = bench.connect()
    most = octets - BESIDE_DATA
    length = most if most <= limits(bench, conn, "RFC8267-4-3").rtmax else LESS
    content = bench.random.randbytes(length)
    call = read_call(conn, bench.file(content), length)
    first = octets // 2 | 1
    conn.reply_chunk(call, sizes=[first, octets - first])
    outcome = conn.exchange(call)
    expect_long_reply(outcome, call)
    expect_read_data(bench, outcome, call, content, outcome.result.ok.data)


@case("server.large-chunk.first-{octets}", requirements=[*WRITTEN, *READ_RESULT, JOINED])
@pytest.mark.parametrize("octets", FIRST)
def test_first(bench, octets):
    """The first segment is as long as some pages, or an octet more or less. Shorter ones follow. The same shape
    brings the data and takes them back."""
    sizes = [octets, *BEHIND_FIRST]
    content = bench.random.randbytes(sum(sizes))
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, content)
    conn.reduce(call, sizes)
    expect_written(bench, conn.exchange(call), handle, content, JOINED)
    call = read_call(conn, handle, len(content))
    conn.write_chunk(call, sizes=sizes)
    expect_read(bench, conn.exchange(call), call, content, FILLED)
