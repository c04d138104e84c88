"""Read chunks of every legal shape (RFC 8166 3.4.5).

The server pulls them, concatenates their segments in list order, and inserts them at their
position."""

import pytest

from steertag.suite import case, expect, kinds
from ..chunk_checks import (
    MOST_SEGMENTS,
    NO_WRITE,
    READ_RESULT,
    TOO_MANY,
    WITHOUT_OCTETS,
    WRITTEN,
    broken_row,
    expect_read,
    expect_written,
    read_call,
    reduce_item,
    write_call,
)
from ..proofs import expect_reply_unless, is_answered

LENGTHS = [1, 2, 3, 4, 5, 1023, 1024, 1025, 4096, 4097, 65536]
# Sizes of the segments of one read chunk.
SHAPES = {
    "two-halves": [4096, 4096],
    "odd": [1, 2, 3, 4095],
    "odd-then-even": [4095, 4096],
    "sixteen-single-octets": [1] * 16,
    "sixteen-odd": [257] * 16,
    "descending": [2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1],
    "page-and-octet": [4096, 1],
}
# Segments without octets have crashed deployed servers.
EMPTY_SEGMENTS = {
    "first": [0, 4096],
    "between": [2048, 0, 2048],
    "last": [4096, 0],
}
LARGE = 1 << 20


@case(
    "server.read-chunk.length-{length}",
    requirements=[*WRITTEN, "RFC8166-3.4.5-5", "RFC8166-3.4.5-6"],
    bugs=["B105"],
)
@pytest.mark.parametrize("length", LENGTHS)
def test_one_segment(bench, length):
    """WRITE data of any length in one segment, without roundup, is stored unchanged."""
    content = bench.random.randbytes(length)
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, content)
    conn.reduce(call)
    expect_written(bench, conn.exchange(call), handle, content)


@case(
    "server.read-chunk.one-mebibyte",
    requirements=[*WRITTEN, *READ_RESULT, "RFC8166-3.4.4-3"],
)
def test_one_mebibyte(bench):
    """The largest WRITE that FSINFO allows, at most 1 MiB, is stored whole and read back."""
    conn = bench.connect()
    told = conn.exchange(conn.nfs_call("FSINFO", fsroot=bench.root))
    limits = expect(told, "RFC8267-4-1", must=[kinds.REPLY]).result.ok
    content = bench.random.randbytes(min(LARGE, limits.wtmax, limits.rtmax))
    handle = bench.file()
    call = write_call(conn, handle, content)
    conn.reduce(call)
    outcome = expect(conn.exchange(call), "RFC8267-4-1", must=[kinds.REPLY])
    expect.equal(outcome.result.ok.count, len(content), "RFC8267-4-1", "count of WRITE")
    call = read_call(conn, handle, len(content))
    conn.write_chunk(call)
    expect_read(bench, conn.exchange(call), call, content)


@case("server.read-chunk.shape-{name}", requirements=[*WRITTEN, "RFC8166-3.4.5-5"])
@pytest.mark.parametrize("name", SHAPES)
def test_shape(bench, name):
    """Segments of any size, also odd ones (RFC 8166 3.4.4), are concatenated in list order."""
    sizes = SHAPES[name]
    content = bench.random.randbytes(sum(sizes))
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, content)
    conn.reduce(call, sizes)
    expect_written(bench, conn.exchange(call), handle, content, "RFC8166-3.4.5-5")


def takes_write(bench, sizes):
    """Whether the server takes a WRITE whose data is a chunk with segments of these sizes."""
    conn = bench.connect()
    call = write_call(conn, bench.file(), bench.random.randbytes(sum(sizes)))
    conn.reduce(call, sizes)
    return is_answered(conn, call)


@case(
    "server.read-chunk.empty-segment-{name}",
    requirements=[*WRITTEN, "RFC8166-3.4.3-1", "RFC8166-3.4.5-5"],
    risk="destructive",
)
@pytest.mark.parametrize("name", EMPTY_SEGMENTS)
def test_empty_segment(bench, name):
    """A segment of length zero (RFC 8166 3.4.3) among others adds nothing, or the call is
    refused."""
    content = bench.random.randbytes(4096)
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, content)
    conn.reduce(call, EMPTY_SEGMENTS[name])
    outcome = conn.exchange(call)
    full = [size for size in EMPTY_SEGMENTS[name] if size]
    if expect_reply_unless(
        outcome, "RFC8166-3.4.3-1", WITHOUT_OCTETS, lambda: takes_write(bench, full)
    ):
        expect_written(bench, outcome, handle, content, "RFC8166-3.4.5-5")


@case(
    "server.read-chunk.segments-{count}",
    requirements=[*WRITTEN, "RFC8166-3.4.5-5", "RFC8166-3.4.4-1"],
)
@pytest.mark.parametrize("count", [17, 64, 128])
def test_many_segments(bench, count):
    """More than 16 segments in one chunk are all pulled, or the call is refused."""
    content = bench.random.randbytes(9 * count)
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, content)
    conn.reduce(call, [9] * count)
    if len(call.encoded()) > conn.negotiated.to_server_bytes:
        bench.not_testable("the header does not fit the inline threshold")
    outcome = conn.exchange(call)
    if expect_reply_unless(
        outcome, "RFC8166-3.4.4-1", TOO_MANY, lambda: takes_write(bench, [9] * MOST_SEGMENTS)
    ):
        expect_written(bench, outcome, handle, content, "RFC8166-3.4.5-5")


@case(
    "server.read-chunk.roundup-{octets}-{place}",
    requirements=[*WRITTEN, "RFC8166-3.4.5-5", "RFC8166-3.4.5.2-2"],
    hostile=True,
)
@pytest.mark.parametrize("octets", [1, 2, 3])
@pytest.mark.parametrize("place", ["own-segment", "same-segment"])
def test_roundup(bench, octets, place):
    """The roundup may be in the chunk, in a segment of its own or behind the data. It is no
    data."""
    length = 4096 - octets
    content = bench.random.randbytes(length)
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, content)
    sizes = [length, octets] if place == "own-segment" else [length + octets]
    reduce_item(conn, call, content + bytes(octets), sizes)
    outcome = expect(conn.exchange(call), "RFC8166-3.4.5.2-2", must=[kinds.REPLY])
    expect_written(bench, outcome, handle, content, "RFC8166-3.4.5-5")


@case("server.read-chunk.several-regions", requirements=[*WRITTEN, "RFC8166-3.4.5-5"])
def test_several_regions(bench):
    """Each segment of a chunk may have an STag of its own."""
    parts = [bench.random.randbytes(length) for length in (1000, 3, 2048, 517)]
    content = b"".join(parts)
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, content)
    position, _ = call.take_eligible()
    for part in parts:
        offer = conn.offer(len(part), read=True, content=part)
        call.add_read_chunk(position, offer.segments())
        call.offers.append(offer)
    expect_written(bench, conn.exchange(call), handle, content, "RFC8166-3.4.5-5")


@case("server.read-chunk.backwards-in-memory", requirements=[*WRITTEN, "RFC8166-3.4.5-5"])
def test_backwards_in_memory(bench):
    """The order is that of the list, not that of the offsets in one region."""
    content = bench.random.randbytes(4096)
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, content)
    position, _ = call.take_eligible()
    offer = conn.offer(4096, read=True, content=content[1024:] + content[:1024])
    segments = [offer.segment(1024, offset=3072), offer.segment(3072, offset=0)]
    call.add_read_chunk(position, segments)
    call.offers.append(offer)
    expect_written(bench, conn.exchange(call), handle, content, "RFC8166-3.4.5-5")


@case("server.read-chunk.same-memory-twice", requirements=[*WRITTEN, "RFC8166-3.4.5-5"])
def test_same_memory_twice(bench):
    """Two segments over the same octets supply these octets twice, which is legal."""
    part = bench.random.randbytes(1500)
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, part * 2)
    position, _ = call.take_eligible()
    offer = conn.offer(len(part), read=True, content=part)
    call.add_read_chunk(position, [offer.segment(), offer.segment()])
    call.offers.append(offer)
    expect_written(bench, conn.exchange(call), handle, part * 2, "RFC8166-3.4.5-5")


@case(
    "server.read-chunk.empty-item", requirements=["RFC8166-3.4.3-1", NO_WRITE], risk="destructive"
)
def test_empty_item(bench):
    """A WRITE of no octets, with one empty segment as its read chunk, stores nothing."""
    handle = bench.file(b"untouched")
    conn = bench.connect()
    call = write_call(conn, handle, b"")
    reduce_item(conn, call, b"", [0])
    outcome = conn.exchange(call)
    row = broken_row(outcome, "RFC8166-3.4.3-1", NO_WRITE)
    expect_reply_unless(outcome, row, WITHOUT_OCTETS, lambda: takes_write(bench, [4]))
    expect.data(bench.read_back(handle), b"untouched", "RFC8166-3.4.3-1", "content of the file")


@case(
    "server.read-chunk.not-touched-after-reply",
    requirements=[*WRITTEN, "RFC8166-3.4.5.1-1", "RFC8166-2.3.2-4"],
)
def test_not_touched_after_reply(bench):
    """The reply ends the use of the chunk's memory, which is deregistered by then."""
    content = bench.random.randbytes(4096)
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, content)
    conn.reduce(call)
    expect_written(bench, conn.exchange(call), handle, content)
    expect(conn.probe(), "RFC8166-3.4.5.1-1", must=[kinds.REPLY])


@case("server.read-chunk.pipelined", requirements=[*WRITTEN, "RFC8166-3.4.5-5"])
def test_pipelined(bench):
    """Calls in flight together: each stores the content of its own chunk."""
    parts = [bench.random.randbytes(1021) for _ in range(6)]
    handles = [bench.file() for _ in parts]
    conn = bench.connect()
    calls = []
    for handle, part in list(zip(handles, parts))[: conn.window]:
        call = write_call(conn, handle, part)
        conn.reduce(call, [500, 21, 500])
        calls.append(call)
    outcomes = conn.collect(calls)
    for call, handle, part in zip(calls, handles, parts):
        expect_written(bench, outcomes[call.xid], handle, part, "RFC8166-3.4.5-5")
