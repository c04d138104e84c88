"""Write chunks without a result: unused, empty and superfluous ones (RFC 8166 4.3.2.2, 4.3.2.3)."""

import pytest

from steertag import wire
from steertag.suite import case, expect, kinds
from ..chunk_checks import (
    OVERRUN,
    OVERRUN_LATITUDE,
    READ_RESULT,
    RETURNED,
    TOO_MANY_CHUNKS,
    chunk_length,
    expect_alive,
    expect_read_data,
    expect_returned,
    read_call,
)
from ..proofs import expect_reply_unless, is_answered

UNUSED = "RFC8166-4.3.2.2-4"
# Procedures without a DDP-eligible result, and their arguments for a directory handle.
PLAIN = {
    "getattr": lambda handle: {"object": handle},
    "access": lambda handle: {"object": handle, "access": 0x3F},
    "lookup": lambda handle: {"what": {"dir": handle, "name": "."}},
    "readdir": lambda handle: {
        "dir": handle,
        "cookie": 0,
        "cookieverf": bytes(8),
        "count": 512,
    },
    "readdirplus": lambda handle: {
        "dir": handle,
        "cookie": 0,
        "cookieverf": bytes(8),
        "dircount": 512,
        "maxcount": 1024,
    },
    "fsinfo": lambda handle: {"fsroot": handle},
    "pathconf": lambda handle: {"object": handle},
}
# Names of a listing, and octets of the reply for each that suffice.
LISTED, LISTED_OCTETS = [6, 15, 30, 60], 256
THRESHOLDS = {"inline": 1 << 18, "reply-chunk": 1024}
SEGMENTS = {"one": [4096], "three": [1000, 1001, 1003], "sixteen": [64] * 16}


def expect_unused(outcome, call):
    """Every write chunk is returned with its segments and without octets."""
    expect_returned(outcome, call, UNUSED)
    for returned in outcome.header.write_list:
        expect.equal(
            chunk_length(returned), 0, UNUSED, "length of an unused chunk", outcome=outcome
        )


@case(
    "server.unused-write-chunk.{procedure}",
    requirements=[*RETURNED, UNUSED, "RFC8166-3.4.2-2", "RFC8267-4-5"],
    hostile=True,
)
@pytest.mark.parametrize("procedure", PLAIN)
def test_no_eligible_result(bench, procedure):
    """A write chunk with a procedure that has no eligible result: the results stay inline."""
    handle = bench.directory()
    conn = bench.connect()
    call = conn.nfs_call(procedure.upper(), **PLAIN[procedure](handle))
    conn.write_chunk(call, length=4096)
    outcome = expect(conn.exchange(call), "RFC8166-3.4.2-2", must=[kinds.REPLY])
    expect_unused(outcome, call)


@case(
    "server.unused-write-chunk.listing-{name}-{names}",
    requirements=[*RETURNED, UNUSED],
    hostile=True,
)
@pytest.mark.parametrize("names", LISTED)
@pytest.mark.parametrize("name", THRESHOLDS)
def test_listing(bench, name, names):
    """READDIR with names of 200 octets. The reply is inline or in the reply chunk. The write chunk stays unused
    whatever its size."""
    most = names * LISTED_OCTETS
    for number in range(names):
        bench.file(name=f"{number:03}{'n' * 197}")
    limit = THRESHOLDS[name]
    conn = bench.connect(private_data=wire.PrivateData(send_bytes=limit, receive_bytes=limit))
    fields = {"dir": bench.files.base, "cookie": 0, "cookieverf": bytes(8)}
    call = conn.nfs_call("READDIR", **fields, count=most)
    conn.write_chunk(call, sizes=SEGMENTS["three"])
    conn.reply_chunk(call, length=most)
    outcome = expect(conn.exchange(call), UNUSED, must=[kinds.REPLY])
    expect_unused(outcome, call)


@case("server.unused-write-chunk.null", requirements=[*RETURNED, UNUSED], hostile=True)
def test_null(bench):
    """A write chunk with a NULL call is returned unused."""
    conn = bench.connect()
    call = conn.null_call()
    conn.write_chunk(call, length=100)
    outcome = expect(conn.exchange(call), UNUSED, must=[kinds.REPLY])
    expect_unused(outcome, call)


@case("server.unused-write-chunk.failed-read-{name}", requirements=[*RETURNED, UNUSED])
@pytest.mark.parametrize("name", SEGMENTS)
def test_failed_read(bench, name):
    """READ of a directory fails. The error arm has no data, so the chunk is unused."""
    handle = bench.directory()
    conn = bench.connect()
    call = read_call(conn, handle, sum(SEGMENTS[name]))
    conn.write_chunk(call, sizes=SEGMENTS[name])
    outcome = expect(conn.exchange(call), UNUSED, must=["nfs:NFS3ERR_ISDIR", "nfs:NFS3ERR_INVAL"])
    expect_unused(outcome, call)


@case("server.unused-write-chunk.failed-readlink", requirements=[*RETURNED, UNUSED])
def test_failed_readlink(bench):
    """READLINK of a regular file fails and leaves the chunk unused."""
    handle = bench.file(b"no link")
    conn = bench.connect()
    call = conn.nfs_call("READLINK", symlink=handle)
    conn.write_chunk(call, length=1024)
    outcome = expect(conn.exchange(call), UNUSED, must=["nfs:NFS3ERR_INVAL", "nfs:NFS3ERR_NOTSUPP"])
    expect_unused(outcome, call)


@case("server.unused-write-chunk.bad-handle", requirements=[*RETURNED, UNUSED])
def test_bad_handle(bench):
    """READ with a handle that the server never issued fails and leaves the chunk unused."""
    conn = bench.connect()
    call = read_call(conn, bench.random.randbytes(32), 4096)
    conn.write_chunk(call)
    outcome = expect(
        conn.exchange(call),
        UNUSED,
        must=["nfs:NFS3ERR_BADHANDLE", "nfs:NFS3ERR_STALE"],
        latitude={"nfs:NFS3ERR_INVAL": "an unknown handle is an invalid argument to this server"},
    )
    expect_unused(outcome, call)


@case("server.unused-write-chunk.rpc-error", requirements=[*RETURNED, UNUSED])
def test_rpc_error(bench):
    """A program that does not exist: the RPC error reply returns the chunk unused."""
    conn = bench.connect()
    call = conn.rpc_call(0x2000FFFF, 1, 0)
    conn.write_chunk(call, length=4096)
    outcome = expect(conn.exchange(call), UNUSED, must=["rpc:PROG_UNAVAIL"])
    expect_unused(outcome, call)


@case(
    "server.unused-write-chunk.{place}-end-of-file",
    requirements=[*RETURNED, UNUSED, "RFC8267-4-3"],
)
@pytest.mark.parametrize("place", ["at", "beyond"])
def test_read_of_nothing(bench, place):
    """READ at or beyond the end of the file: no octets, eof, and an unused chunk."""
    content = b"content"
    handle = bench.file(content)
    conn = bench.connect()
    offset = len(content) if place == "at" else 1 << 30
    call = read_call(conn, handle, 4096, offset=offset)
    conn.write_chunk(call)
    outcome = expect(conn.exchange(call), UNUSED, must=[kinds.REPLY])
    expect_unused(outcome, call)
    expect_read_data(bench, outcome, call, content, outcome.data)


def takes_chunks(bench, handle, count):
    """Whether the server takes a READ with so many write chunks, none of them empty."""
    conn = bench.connect()
    call = read_call(conn, handle, 64)
    for _ in range(count):
        conn.write_chunk(call)
    return is_answered(conn, call)


@case(
    "server.unused-write-chunk.second",
    requirements=[*READ_RESULT, UNUSED, "RFC8166-4.3.2.1-2"],
    hostile=True,
)
def test_second_chunk(bench):
    """READ has one eligible result. The first of two write chunks holds it, and the second is
    unused."""
    content = bench.random.randbytes(4096)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, 4096)
    conn.write_chunk(call)
    conn.write_chunk(call, sizes=[2048, 2048])
    outcome = conn.exchange(call)
    if not expect_reply_unless(
        outcome, "RFC8166-4.3.2.1-2", TOO_MANY_CHUNKS, lambda: takes_chunks(bench, handle, 1)
    ):
        return
    expect_returned(outcome, call, UNUSED)
    first, second = outcome.returned(0), outcome.returned(1)
    expect.equal(chunk_length(first), 4096, "RFC8166-4.3.2.1-2", "octets in the first chunk")
    expect.equal(chunk_length(second), 0, UNUSED, "octets in the second chunk", outcome=outcome)
    expect_read_data(bench, outcome, call, content, outcome.data)


@case(
    "server.empty-write-chunk.{procedure}",
    requirements=[*RETURNED, "RFC8166-4.3.2.3-2", "RFC8166-4.3.2.3-3"],
    hostile=True,
)
@pytest.mark.parametrize("procedure", ["read", "readlink", "getattr"])
def test_empty_chunk(bench, procedure):
    """A write chunk without segments asks for the result inline, and is returned empty. A client
    leaves the list empty where there is one result, and no text lets a server refuse the chunk."""
    conn = bench.connect()
    if procedure == "read":
        content = bench.random.randbytes(500)
        call = read_call(conn, bench.file(content), 500)
    elif procedure == "readlink":
        content = b"text of the link"
        call = conn.nfs_call("READLINK", symlink=bench.symlink(content))
    else:
        call = conn.nfs_call("GETATTR", object=bench.root)
    call.add_write_chunk([])
    outcome = expect(conn.exchange(call), "RFC8166-4.3.2.3-2", must=[kinds.REPLY])
    expect_returned(outcome, call, "RFC8166-4.3.2.3-3")
    if procedure != "getattr":
        data = outcome.result.ok.data
        data = data.encode() if isinstance(data, str) else bytes(data)
        expect.data(data, content, "RFC8166-4.3.2.3-2", "result inline", outcome=outcome)


@case(
    "server.empty-write-chunk.then-another",
    requirements=[*RETURNED, "RFC8166-4.3.2.3-2", "RFC8166-4.3.2.3-3", UNUSED],
    hostile=True,
)
def test_empty_chunk_before_another(bench):
    """The empty chunk belongs to the only result. The chunk behind it is unused. A server may refuse
    two chunks if it refuses two that are not empty."""
    content = bench.random.randbytes(500)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, 500)
    call.add_write_chunk([])
    conn.write_chunk(call, length=500)
    outcome = conn.exchange(call)
    if expect_reply_unless(
        outcome, "RFC8166-4.3.2.3-2", TOO_MANY_CHUNKS, lambda: not takes_chunks(bench, handle, 2)
    ):
        expect_returned(outcome, call, "RFC8166-4.3.2.3-3")
        expect.equal(chunk_length(outcome.returned(1)), 0, UNUSED, "second chunk")
        expect.data(outcome.result.ok.data, content, "RFC8166-4.3.2.3-2", "result inline")
    expect_alive(conn, "RFC8166-4.3.2.3-2")


@case(
    "server.unused-write-chunk.all-segments-empty",
    requirements=[*RETURNED, "RFC8267-3.1-1", "RFC8166-3.4.6.2-3", "RFC8166-4.3.2.3-2"],
)
def test_all_segments_empty(bench):
    """Two segments of length zero hold nothing: an overrun, or an inline result as in RFC 5667."""
    content = bench.random.randbytes(500)
    conn = bench.connect()
    call = read_call(conn, bench.file(content), 500)
    offer = conn.offer(100, write=True)
    call.add_write_chunk([offer.segment(0), offer.segment(0)])
    call.offers.append(offer)
    outcome = expect(
        conn.exchange(call),
        "RFC8267-3.1-1",
        must=OVERRUN,
        latitude={
            **OVERRUN_LATITUDE,
            kinds.REPLY: "the result comes inline or shortened (RFC 5667, RFC 1813 3.3.6)",
        },
    )
    if outcome.kind == kinds.REPLY:
        expect_returned(outcome, call)
        data = bytes(outcome.result.ok.data)
        expect.data(data, content[: len(data)], "RFC8166-3.4.6.2-3", "octets of the file")
    expect_alive(conn, "RFC8267-3.1-1")
