"""Reply chunks: long replies, unneeded reply chunks and small ones (RFC 8166 3.5.3, 4.3.3)."""

import pytest

from steertag import wire
from steertag.suite import case, expect, kinds
from ..chunk_checks import (
    OVERRUN,
    OVERRUN_LATITUDE,
    chunk_length,
    expect_alive,
    expect_read_data,
    read_call,
)
from ..reply_chunk_checks import (
    expect_any_form,
    expect_long_reply,
    expect_reply_chunk,
    LONG_REPLY,
    REPLY_CHUNK,
)

SMALL_INLINE = wire.PrivateData(send_bytes=1024, receive_bytes=1024)
# Octets of file data in a long reply, sizes of the reply chunk's segments.
SHAPES = {
    "one": [16384],
    "two-halves": [5000, 5000],
    "odd": [1, 3, 1021, 4095, 8001],
    "sixteen": [700] * 16,
    "unused-behind": [12000, 1000, 1000],
    "empty-first": [0, 12000],
    "empty-between": [4000, 0, 8000],
}
BOGUS_COUNTS = {"wraps-to-none": 0x10000000, "wraps-to-one": 0x10000001, "largest": 0xFFFFFFFF}


def crowded_directory(bench):
    """(handle, names) of a directory whose listing needs some 1400 octets."""
    names = {f"{number}{'n' * 200}" for number in range(6)}
    for name in names:
        bench.file(name=name)
    return bench.files.base, names


def expect_listed(outcome, names):
    """The listing has these names, or some of them and no eof (RFC 1813 3.3.16)."""
    found = outcome.result.ok
    listed = {entry.name for entry in found.entries} - {".", ".."}
    whole = names if found.eof else names & listed
    expect.equal(listed, whole, "RFC8166-3.5.3-7", "names of the listing", show=False)


def readdir_call(conn, directory, count=4096):
    """READDIR from the start."""
    fields = {"dir": directory, "cookie": 0, "cookieverf": bytes(8)}
    return conn.nfs_call("READDIR", **fields, count=count)


@case("server.reply-chunk.read-{length}", requirements=LONG_REPLY, bugs=["B125"])
@pytest.mark.parametrize("length", [4093, 4094, 4095, 4096, 8192, 65536, 70000])
def test_long_read(bench, length):
    """READ without a write list, above the threshold. Data and roundup are in the reply chunk."""
    content = bench.random.randbytes(length)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, length)
    conn.reply_chunk(call)
    outcome = conn.exchange(call)
    expect_long_reply(outcome, call)
    expect_read_data(bench, outcome, call, content, outcome.result.ok.data)


@case("server.reply-chunk.shape-{name}", requirements=LONG_REPLY, bugs=["B125"])
@pytest.mark.parametrize("name", SHAPES)
def test_shape(bench, name):
    """Segments of a reply chunk are filled in order, for any sizes."""
    content = bench.random.randbytes(9001)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, len(content))
    conn.reply_chunk(call, sizes=SHAPES[name])
    outcome = conn.exchange(call)
    expect_long_reply(outcome, call)
    expect_read_data(bench, outcome, call, content, outcome.result.ok.data)


@case("server.reply-chunk.readlink", requirements=LONG_REPLY)
def test_long_readlink(bench):
    """READLINK of 1000 octets with thresholds of 1024. There is no write chunk, so the text is in
    the reply chunk."""
    text = bytes(97 + i % 26 for i in range(1000))
    handle = bench.symlink(text)
    conn = bench.connect(private_data=SMALL_INLINE)
    call = conn.nfs_call("READLINK", symlink=handle)
    conn.reply_chunk(call, length=2048)
    outcome = conn.exchange(call)
    expect_long_reply(outcome, call)
    expect.true(text in outcome.reply_chunk, "RFC8166-3.5.3-7", "the reply holds the text")


@case("server.reply-chunk.{procedure}", requirements=LONG_REPLY)
@pytest.mark.parametrize("procedure", ["readdir", "readdirplus"])
def test_long_listing(bench, procedure):
    """A listing above the threshold of 1024 octets is complete in the reply chunk."""
    conn = bench.connect(private_data=SMALL_INLINE)
    directory, names = crowded_directory(bench)
    call = readdir_call(conn, directory)
    if procedure == "readdirplus":
        fields = {"dir": directory, "cookie": 0, "cookieverf": bytes(8)}
        call = conn.nfs_call("READDIRPLUS", **fields, dircount=4096, maxcount=4096)
    conn.reply_chunk(call, length=5000)
    outcome = conn.exchange(call)
    expect_long_reply(outcome, call)
    expect_listed(outcome, names)


@case(
    "server.reply-chunk.write-list-unused",
    requirements=[*LONG_REPLY, "RFC8166-4.3.2.2-4"],
    hostile=True,
)
def test_listing_beside_a_write_chunk(bench):
    """READDIR with a write chunk and a reply chunk. Names are not eligible, so the write chunk
    stays unused."""
    conn = bench.connect(private_data=SMALL_INLINE)
    directory, names = crowded_directory(bench)
    call = readdir_call(conn, directory)
    conn.write_chunk(call, length=4096)
    conn.reply_chunk(call, length=5000)
    outcome = conn.exchange(call)
    expect_long_reply(outcome, call)
    returned = sum(chunk_length(chunk) for chunk in outcome.header.write_list)
    expect.equal(returned, 0, "RFC8166-4.3.2.2-4", "length of the write chunk", outcome=outcome)
    expect_listed(outcome, names)


@case("server.reply-chunk.short-{procedure}", requirements=REPLY_CHUNK)
@pytest.mark.parametrize("procedure", ["null", "getattr", "read"])
def test_short_reply(bench, procedure):
    """An unneeded reply chunk is returned unused with an inline reply, or used."""
    conn = bench.connect()
    if procedure == "null":
        call = conn.null_call()
    elif procedure == "getattr":
        call = conn.nfs_call("GETATTR", object=bench.root)
    else:
        call = read_call(conn, bench.file(b"content"), 7)
    conn.reply_chunk(call, sizes=[512, 512])
    expect_any_form(bench, conn.exchange(call), call)


@case("server.reply-chunk.rpc-error", requirements=REPLY_CHUNK)
def test_rpc_error(bench):
    """A program that does not exist: the RPC error reply returns the reply chunk too."""
    conn = bench.connect()
    call = conn.rpc_call(0x2000FFFF, 1, 0)
    conn.reply_chunk(call, length=512)
    outcome = conn.exchange(call)
    expect_reply_chunk(outcome, call)
    expect(outcome, "RFC8166-4.3.3-4", must=["rpc:PROG_UNAVAIL"])


@case("server.reply-chunk.not-offered", requirements=["RFC8166-3.5.3-6"])
def test_not_offered(bench):
    """A call without a reply chunk gets a reply without one."""
    conn = bench.connect()
    outcome = conn.exchange(conn.nfs_call("GETATTR", object=bench.root))
    expect(outcome, "RFC8166-3.5.3-6", must=[kinds.REPLY])
    text = "the reply carries no reply chunk"
    expect.true(outcome.header.reply_chunk is None, "RFC8166-3.5.3-6", text, outcome=outcome)


@case("server.reply-chunk.larger-than-a-mebibyte-{name}", requirements=LONG_REPLY, bugs=["B103"])
@pytest.mark.parametrize("name", ["one-segment", "sixteen-segments"])
def test_very_large(bench, name):
    """A reply chunk of 1 MiB + 4 KiB, or of 16 MiB, is used as far as the reply needs."""
    content = bench.random.randbytes(5000)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, len(content))
    offer = conn.offer(8192, write=True)
    if name == "one-segment":
        segments = [offer.segment((1 << 20) + 4096)]
    else:
        segments = [offer.segment(1 << 20) for _ in range(16)]
    call.set_reply_chunk(segments)
    call.offers.append(offer)
    outcome = conn.exchange(call)
    expect_long_reply(outcome, call)
    expect_read_data(bench, outcome, call, content, outcome.result.ok.data)


OVERRUN_REQUIREMENTS = ["RFC8267-3.1-1", "RFC8166-8.1.4-2"]
SHORTENED = {**OVERRUN_LATITUDE, kinds.REPLY: "the result is shortened to fit (RFC 1813)"}


@case("server.reply-chunk.too-small-{room}", requirements=OVERRUN_REQUIREMENTS)
@pytest.mark.parametrize("room", [4, 1000, 8192])
def test_too_small(bench, room):
    """READ of 8192 octets as a long reply with too little room. An error or a shorter READ, and no
    RDMA Write beyond the chunk."""
    handle = bench.file(bench.random.randbytes(8192))
    conn = bench.connect()
    call = read_call(conn, handle, 8192)
    offer = conn.offer(16384, write=True)
    call.set_reply_chunk([offer.segment(room)])
    call.offers.append(offer)
    expect(conn.exchange(call), "RFC8267-3.1-1", must=OVERRUN, latitude=SHORTENED)
    expect_alive(conn, "RFC8267-3.1-1")


@case("server.reply-chunk.too-small-for-listing", requirements=OVERRUN_REQUIREMENTS)
def test_too_small_for_listing(bench):
    """READDIR with thresholds of 1024 octets and a reply chunk of 600: an error or fewer names."""
    conn = bench.connect(private_data=SMALL_INLINE)
    directory, _ = crowded_directory(bench)
    call = readdir_call(conn, directory)
    offer = conn.offer(4096, write=True)
    call.set_reply_chunk([offer.segment(300), offer.segment(300, offset=300)])
    call.offers.append(offer)
    expect(conn.exchange(call), "RFC8267-3.1-1", must=OVERRUN, latitude=SHORTENED)
    expect_alive(conn, "RFC8267-3.1-1")


@case("server.reply-chunk.{name}", requirements=[*OVERRUN_REQUIREMENTS, "RFC8166-4.2.4-8"])
@pytest.mark.parametrize("name", ["missing", "without-segments", "with-empty-segments"])
def test_missing(bench, name):
    """READ of 8192 octets with neither a write chunk nor a reply chunk. An error or a READ that
    fits inline, and no Send above the threshold."""
    handle = bench.file(bench.random.randbytes(8192))
    conn = bench.connect()
    call = read_call(conn, handle, 8192)
    offer = conn.offer(4096, write=True)
    call.offers.append(offer)
    if name == "without-segments":
        call.set_reply_chunk([])
    elif name == "with-empty-segments":
        call.set_reply_chunk([offer.segment(0), offer.segment(0)])
    expect(conn.exchange(call), "RFC8267-3.1-1", must=OVERRUN, latitude=SHORTENED)
    expect_alive(conn, "RFC8267-3.1-1")


@case(
    "server.reply-chunk.count-{count}", requirements=["RFC8166-4.5.2-1"], bugs=["B16"], hostile=True
)
@pytest.mark.parametrize("count", BOGUS_COUNTS)
def test_bogus_count(bench, count):
    """The segment count exceeds the message: an XDR error."""
    conn = bench.connect()
    call = conn.null_call()
    conn.reply_chunk(call, length=4096)
    call.reply_chunk.count = BOGUS_COUNTS[count]
    expect(conn.exchange(call), "RFC8166-4.5.2-1", must=[kinds.ERR_CHUNK])
    expect_alive(conn, "RFC8166-4.5.2-1")
