"""A client that is served beside others."""

from steertag.suite import expect, kinds
from .chunk_checks import expect_read, read_call, write_call

SERVED = "RFC8166-3.3.3-1"


def expect_transfers(bench, conn, handle, written, content):
    """NULL, WRITE of the content from a read chunk, READ of the same content into a write chunk."""
    expect(conn.probe(), SERVED, must=[kinds.REPLY])
    call = write_call(conn, written, content)
    conn.reduce(call)
    expect(conn.exchange(call), SERVED, must=[kinds.REPLY])
    call = read_call(conn, handle, len(content))
    conn.write_chunk(call)
    outcome = conn.exchange(call)
    expect(outcome, SERVED, must=[kinds.REPLY])
    expect_read(bench, outcome, call, content)
