"""Inline file data: no chunk is offered, so nothing is reduced (RFC 8166 3.4.1, 3.5.1)."""

import pytest

from steertag.suite import case, expect, kinds
from ..chunk_checks import (
    AT_END,
    NO_READ,
    NO_WRITE,
    WRITTEN,
    broken_row,
    expect_read_data,
    expect_written,
    read_call,
    write_call,
)

INLINE = "RFC8166-3.5.1-1"
LENGTHS = [0, 1, 2, 3, 4, 5, 511, 1000, 2047, 3072, 3500]
# offset, count in a file of 9001 octets.
READS = {
    "one-page": (0, 3500),
    "across-pages": (1000, 3500),
    "odd": (4095, 2),
    "at-page": (4096, 1024),
    "third-page": (8191, 5),
    "end-of-file": (8901, 3500),
    "last-octet": (9000, 1),
    "nothing": (100, 0),
    "behind-end": (9001, 100),
}
# The rows of READs that return nothing.
EMPTY_READS = {"nothing": NO_READ, "behind-end": AT_END}


def fits(conn, call, octets):
    """Whether the call, and a reply with this many octets of data, fit the thresholds."""
    reply = 28 + 24 + 4 + 88 + 12 + octets + 3
    thresholds = conn.negotiated
    return len(call.encoded()) <= thresholds.to_server_bytes and reply <= thresholds.to_client_bytes


@case("server.inline.write-{length}", requirements=[*WRITTEN, INLINE, NO_WRITE], bugs=["B102"])
@pytest.mark.parametrize("length", LENGTHS)
def test_write(bench, length):
    """WRITE data of any length may be inline: reduction is the client's choice."""
    content = bench.random.randbytes(length)
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, content)
    if not fits(conn, call, 0):
        bench.not_testable("the call does not fit the inline threshold")
    outcome = conn.exchange(call)
    row = INLINE if content else broken_row(outcome, INLINE, NO_WRITE)
    expect(outcome, row, must=[kinds.REPLY])
    expect_written(bench, outcome, handle, content)


@case("server.inline.write-largest", requirements=[*WRITTEN, INLINE], bugs=["B102"])
@pytest.mark.parametrize("left", [0])
def test_largest_write(bench, left):
    """A WRITE fills the negotiated inline threshold to the last word."""
    conn = bench.connect()
    handle = bench.file()
    empty = write_call(conn, handle, b"")
    length = (conn.negotiated.to_server_bytes - len(empty.encoded())) // 4 * 4
    content = bench.random.randbytes(length)
    outcome = conn.exchange(write_call(conn, handle, content))
    expect(outcome, INLINE, must=[kinds.REPLY])
    expect_written(bench, outcome, handle, content)


@case(
    "server.inline.read-{name}",
    requirements=[INLINE, "RFC8267-4-3", "RFC8166-4.2.4-1", *EMPTY_READS.values()],
    bugs=["B21", "B108"],
)
@pytest.mark.parametrize("name", READS)
def test_read(bench, name):
    """READ without a write list: the reply has the data inline, also across pages."""
    content = bench.random.randbytes(9001)
    offset, count = READS[name]
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, count, offset)
    if not fits(conn, call, count):
        bench.not_testable("the reply does not fit the inline threshold")
    outcome = conn.exchange(call)
    row = broken_row(outcome, INLINE, EMPTY_READS.get(name, INLINE))
    expect(outcome, row, must=[kinds.REPLY])
    expect.equal(len(outcome.header.write_list), 0, "RFC8166-4.2.4-1", "write chunks in the reply")
    expect_read_data(bench, outcome, call, content, outcome.result.ok.data)


@case("server.inline.readlink-{length}", requirements=[INLINE, "RFC8267-4-4"])
@pytest.mark.parametrize("length", [1, 4, 255, 800])
def test_readlink(bench, length):
    """READLINK without a write list: the reply has the text inline."""
    text = bytes(97 + i % 26 for i in range(length))
    handle = bench.symlink(text)
    conn = bench.connect()
    call = conn.nfs_call("READLINK", symlink=handle)
    outcome = expect(conn.exchange(call), INLINE, must=[kinds.REPLY])
    data = outcome.result.ok.data
    data = data.encode() if isinstance(data, str) else bytes(data)
    expect.data(data, text, "RFC8267-4-4", "text of the link", outcome=outcome)


@case("server.inline.after-chunks", requirements=[*WRITTEN, INLINE], needs=["large-inline"])
def test_inline_after_chunks(bench):
    """A reduced WRITE, an inline one, and a reduced one: the client chooses the form for each
    call."""
    conn = bench.connect()
    for reduce in (True, False, True):
        content = bench.random.randbytes(1501)
        handle = bench.file()
        call = write_call(conn, handle, content)
        if reduce:
            conn.reduce(call)
        outcome = expect(conn.exchange(call), INLINE, must=[kinds.REPLY])
        expect_written(bench, outcome, handle, content)
