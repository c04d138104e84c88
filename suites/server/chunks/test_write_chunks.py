"""Write chunks with a result: READ and READLINK into every legal shape (RFC 8166 3.4.6, 4.3.2)."""

import pytest

from steertag.suite import case, expect, kinds
from ..chunk_checks import (
    MOST_SEGMENTS,
    OVERRUN,
    OVERRUN_LATITUDE,
    READ_RESULT,
    TOO_MANY,
    chunk_length,
    expect_alive,
    expect_read,
    expect_reply_with_item,
    expect_returned,
    read_call,
    write_call,
)
from ..proofs import expect_reply_unless, is_answered

LENGTHS = [0, 1, 2, 3, 4, 5, 1023, 1024, 1025, 4096, 4097, 65536]
SLACK = [1, 2, 3, 4, 1000, 8192]
# Octets of the file, sizes of the segments that are offered for it.
SHAPES = {
    "two-halves": (8192, [4096, 4096]),
    "second-in-part": (5000, [4096, 4096]),
    "second-unused": (4096, [4096, 4096]),
    "odd": (4101, [1, 2, 3, 4095]),
    "odd-with-room": (4093, [1001, 1003, 1007, 2000]),
    "sixteen-single-octets": (16, [1] * 16),
    "sixteen-odd": (4112, [257] * 16),
    "sixteen-mostly-unused": (5, [512] * 16),
    "empty-first": (4096, [0, 4096]),
    "empty-between": (4096, [2048, 0, 2048]),
    "empty-last": (4096, [4096, 0]),
    "four-with-double-room": (4096, [4096] * 4),
}
# Counts that overflow 32 bits when multiplied by 16 octets.
BOGUS_COUNTS = {
    "largest-that-fits": 0x0FFFFFFF,
    "wraps-to-none": 0x10000000,
    "wraps-to-one": 0x10000001,
    "wraps-twice": 0x20000000,
    "largest": 0xFFFFFFFF,
}


@case(
    "server.write-chunk.read-{length}",
    requirements=READ_RESULT,
    bugs=["B108"],
)
@pytest.mark.parametrize("length", LENGTHS)
def test_exact(bench, length):
    """READ of any length into a chunk of exactly that length."""
    content = bench.random.randbytes(length + 7)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, length)
    conn.write_chunk(call)
    expect_read(bench, conn.exchange(call), call, content)


@case("server.write-chunk.read-large", requirements=READ_RESULT)
def test_large(bench):
    """The largest READ that FSINFO allows, at most 1 MiB, of a sparse file."""
    conn = bench.connect()
    told = conn.exchange(conn.nfs_call("FSINFO", fsroot=bench.root))
    limits = expect(told, "RFC8267-4-3", must=[kinds.REPLY]).result.ok
    length = min(1 << 20, limits.rtmax)
    content = bytearray(length)
    handle = bench.file()
    for offset in (0, length // 3, length - 512):
        content[offset : offset + 512] = bench.random.randbytes(512)
        piece = write_call(conn, handle, content[offset : offset + 512], offset)
        expect(conn.exchange(piece), "RFC8267-4-3", must=[kinds.REPLY])
    call = read_call(conn, handle, length)
    conn.write_chunk(call)
    expect_read(bench, conn.exchange(call), call, bytes(content))


@case("server.write-chunk.room-{octets}", requirements=READ_RESULT)
@pytest.mark.parametrize("octets", SLACK)
def test_more_room_than_data(bench, octets):
    """At the end of a file a chunk stays partly unfilled. It returns the length read, not the
    length offered, and no roundup."""
    content = bench.random.randbytes(2045)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, len(content) + octets)
    conn.write_chunk(call)
    expect_read(bench, conn.exchange(call), call, content)


@case("server.write-chunk.shape-{name}", requirements=READ_RESULT)
@pytest.mark.parametrize("name", SHAPES)
def test_shape(bench, name):
    """Segments are filled in array order, each fully before the next, for any sizes."""
    length, sizes = SHAPES[name]
    content = bench.random.randbytes(length)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, sum(sizes))
    conn.write_chunk(call, sizes=sizes)
    expect_read(bench, conn.exchange(call), call, content, "RFC8166-3.4.6-3")


def takes_read(bench, handle, sizes):
    """Whether the server takes a READ into a chunk with segments of these sizes."""
    conn = bench.connect()
    call = read_call(conn, handle, sum(sizes))
    conn.write_chunk(call, sizes=sizes)
    return is_answered(conn, call)


@case(
    "server.write-chunk.segments-{count}",
    requirements=[*READ_RESULT, "RFC8166-3.4.4-1"],
)
@pytest.mark.parametrize("count", [17, 64, 128])
def test_many_segments(bench, count):
    """More than 16 segments in one chunk are used in order, or the call is refused."""
    content = bench.random.randbytes(9 * count)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, len(content))
    conn.write_chunk(call, sizes=[9] * count)
    if len(call.encoded()) > conn.negotiated.to_server_bytes:
        bench.not_testable("the header does not fit the inline threshold")
    outcome = conn.exchange(call)
    if expect_reply_unless(
        outcome, "RFC8166-3.4.4-1", TOO_MANY, lambda: takes_read(bench, handle, [9] * MOST_SEGMENTS)
    ):
        expect_read(bench, outcome, call, content, "RFC8166-3.4.6-3")


@case("server.write-chunk.several-regions", requirements=READ_RESULT)
def test_several_regions(bench):
    """Each segment may have an STag of its own, in any order of memory."""
    content = bench.random.randbytes(3000)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, 3000)
    first, second = conn.offer(2000, write=True), conn.offer(1500, write=True)
    segments = [first.segment(500, 1500), second.segment(1500), first.segment(1000, 0)]
    call.add_write_chunk(segments)
    call.offers += [first, second]
    expect_read(bench, conn.exchange(call), call, content, "RFC8166-3.4.6-3")


@case("server.write-chunk.unaligned-offset", requirements=READ_RESULT, bugs=["B21", "B22"])
def test_unaligned_offset(bench):
    """READ from an odd offset of the file, across pages, into an odd offset of the memory."""
    content = bench.random.randbytes(12289)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, 9001, offset=1001)
    offer = conn.offer(10000, write=True)
    call.add_write_chunk([offer.segment(9001, offset=3)])
    call.offers.append(offer)
    expect_read(bench, conn.exchange(call), call, content)


@case("server.write-chunk.end-of-file-{octets}", requirements=READ_RESULT, bugs=["B108"])
@pytest.mark.parametrize("octets", [1, 3, 100, 2047])
def test_across_end_of_file(bench, octets):
    """READ from shortly before the end of the file: count, chunk length and eof agree."""
    content = bench.random.randbytes(5003)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, 4096, offset=len(content) - octets)
    conn.write_chunk(call)
    expect_read(bench, conn.exchange(call), call, content)


@case(
    "server.write-chunk.octets-behind",
    requirements=[*READ_RESULT, "RFC8166-3.4.3-1", "RFC8166-8.1.4-2"],
)
def test_octets_behind_the_chunk(bench):
    """Memory behind the offered segment, under the same STag, does not change."""
    content = bench.random.randbytes(4096)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, 4096)
    offer = conn.offer(8192, write=True)
    call.add_write_chunk([offer.segment(4096)])
    call.offers.append(offer)
    outcome = conn.exchange(call, keep=True)
    expect_read(bench, outcome, call, content)
    behind = offer.bytes()[4096:]
    expect.data(behind, offer.filled[4096:], "RFC8166-3.4.3-1", "memory behind the last segment")


@case(
    "server.write-chunk.written-before-reply",
    requirements=[*READ_RESULT, "RFC8166-2.3.2-3", "RFC8166-3.5.2-2"],
)
def test_written_before_reply(bench):
    """No RDMA Write follows the Send that announces its data."""
    content = bench.random.randbytes(8192)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, len(content))
    conn.write_chunk(call, sizes=[4096, 4096])
    outcome = expect_reply_with_item(conn.exchange(call, keep=True))
    expect(conn.probe(), "RFC8166-2.3.2-3", must=[kinds.REPLY])
    kinds_seen = [
        event.kind
        for event in conn.recorder
        if event.kind == "rdma_write" or (event.kind == "send" and outcome.raw == event.bytes)
    ]
    expect.true(
        "rdma_write" not in kinds_seen[kinds_seen.index("send") :],
        "RFC8166-2.3.2-3",
        "all RDMA Writes of the call precede its reply",
        outcome=outcome,
    )
    expect_read(bench, outcome, call, content)


@case(
    "server.write-chunk.too-small-{room}",
    requirements=["RFC8267-3.1-1", "RFC8166-3.4.6.2-3", "RFC8166-8.1.4-2"],
)
@pytest.mark.parametrize("room", [1, 1000, 4095])
def test_too_small(bench, room):
    """READ of 4096 octets with less room: an error at RPC or transport level, or a shorter READ."""
    handle = bench.file(bench.random.randbytes(4096))
    conn = bench.connect()
    call = read_call(conn, handle, 4096)
    conn.write_chunk(call, length=room)
    outcome = expect(
        conn.exchange(call),
        "RFC8267-3.1-1",
        must=OVERRUN,
        latitude={**OVERRUN_LATITUDE, kinds.REPLY: "READ is shortened to fit (RFC 1813 3.3.6)"},
    )
    if outcome.kind == kinds.REPLY:
        returned = chunk_length(outcome.returned())
        count = outcome.result.ok.count
        expect.equal(returned, count, "RFC8166-3.4.6.2-3", "returned length", outcome=outcome)
        expect.at_most(count, room, "RFC8267-3.1-1", "octets of a shorter READ", outcome=outcome)
    expect_alive(conn, "RFC8267-3.1-1")


@case(
    "server.write-chunk.count-{count}-present-{present}",
    requirements=["RFC8166-4.5.2-1"],
    bugs=["B16"],
    hostile=True,
)
@pytest.mark.parametrize("present", [0, 2])
@pytest.mark.parametrize("count", BOGUS_COUNTS)
def test_bogus_count(bench, count, present):
    """The segment count far exceeds the message: an XDR error."""
    handle = bench.file(b"content")
    conn = bench.connect()
    call = read_call(conn, handle, 7)
    conn.write_chunk(call, sizes=[4] * present or [7])
    if present == 0:
        call.write_list[0].segments = []
    call.write_list[0].count = BOGUS_COUNTS[count]
    expect(conn.exchange(call), "RFC8166-4.5.2-1", must=[kinds.ERR_CHUNK])
    expect_alive(conn, "RFC8166-4.5.2-1")


@case("server.write-chunk.readlink-{length}", requirements=[*READ_RESULT, "RFC8267-4-4"])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 255, 1000])
def test_readlink(bench, length):
    """READLINK puts the text of the link in the chunk."""
    text = bytes(97 + i % 26 for i in range(length))
    handle = bench.symlink(text)
    conn = bench.connect()
    call = conn.nfs_call("READLINK", symlink=handle)
    conn.write_chunk(call, length=1024)
    outcome = expect_reply_with_item(conn.exchange(call))
    expect_returned(outcome, call)
    returned = chunk_length(outcome.returned())
    expect.true(returned > 0, "RFC8166-4.3.2-3", "the text is in the chunk", outcome=outcome)
    expect.equal(returned, length, "RFC8166-3.4.6.2-3", "returned length", outcome=outcome)
    expect.data(outcome.data, text, "RFC8267-4-4", "text of the link", outcome=outcome)


@case("server.write-chunk.pipelined", requirements=READ_RESULT)
def test_pipelined(bench):
    """READs in flight together: each fills its own chunk."""
    content = bench.random.randbytes(6 * 1021)
    handle = bench.file(content)
    conn = bench.connect()
    calls = []
    for number in range(min(6, conn.window)):
        call = read_call(conn, handle, 1021, offset=number * 1021)
        conn.write_chunk(call, sizes=[500, 21, 500])
        calls.append(call)
    outcomes = conn.collect(calls)
    for call in calls:
        expect_read(bench, outcomes[call.xid], call, content, "RFC8166-3.4.6-3")


@case("server.write-chunk.with-reply-chunk-{room}", requirements=READ_RESULT, bugs=["B32"])
@pytest.mark.parametrize("room", [512, 4096, 16384])
def test_with_reply_chunk(bench, room):
    """A write chunk and a reply chunk in one call: the data is in the write chunk all the same."""
    content = bench.random.randbytes(8192)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, 8192)
    conn.write_chunk(call)
    conn.reply_chunk(call, length=room)
    expect_read(bench, conn.exchange(call), call, content)


@case(
    "server.write-chunk.with-read-chunk",
    requirements=[*READ_RESULT, "RFC8166-4.3.2.2-4"],
    hostile=True,
)
def test_write_list_on_write(bench):
    """WRITE with its read chunk and a superfluous write chunk: the data is stored, and the write
    chunk is unused."""
    content = bench.random.randbytes(4097)
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, content)
    conn.reduce(call)
    conn.write_chunk(call, length=4096)
    outcome = expect(conn.exchange(call), "RFC8166-4.3.2.2-4", must=[kinds.REPLY])
    expect_returned(outcome, call, "RFC8166-4.3.2.2-4")
    returned = chunk_length(outcome.returned())
    expect.equal(returned, 0, "RFC8166-4.3.2.2-4", "returned length", outcome=outcome)
    expect.data(bench.read_back(handle), content, "RFC8267-4-3", "content of the file")


@case("server.write-chunk.overlapping", requirements=["RFC8166-3.4.6-4", "RFC8166-3.4.6.2-3"])
def test_overlapping_segments(bench):
    """Two segments over the same memory: only the requester is affected. They are returned as
    usual."""
    handle = bench.file(bench.random.randbytes(4096))
    conn = bench.connect()
    call = read_call(conn, handle, 4096)
    offer = conn.offer(3000, write=True)
    call.add_write_chunk([offer.segment(2048, 0), offer.segment(2048, 952)])
    call.offers.append(offer)
    outcome = expect(conn.exchange(call), "RFC8166-3.4.6-4", must=[kinds.REPLY])
    expect.equal(len(outcome.header.write_list), 1, "RFC8166-3.4.6-4", "write chunks")
    returned = chunk_length(outcome.returned())
    expect.equal(returned, outcome.result.ok.count, "RFC8166-3.4.6.2-3", "returned length")
