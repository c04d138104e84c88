"""Checks that the cases on chunks share: what a reply owes for the chunks of its call."""

from steertag import nfs, wire
from steertag.suite import expect, kinds

# What may happen to a transfer that the requester's memory refuses (RFC 8166 4.5.3). The provider
# ends the connection, or the responder refuses the chunk first.
TRANSFER_FAILED = (kinds.VIOLATION, *kinds.CLOSED, kinds.ERR_CHUNK)
# How a server reports that a reply does not fit (RFC 8267 3.1): at RPC level or at transport level.
OVERRUN = (kinds.ERR_CHUNK, "rpc:SYSTEM_ERR", "rpc:GARBAGE_ARGS")
OVERRUN_LATITUDE = {
    **dict.fromkeys(
        ("nfs:NFS3ERR_TOOSMALL", "nfs:NFS3ERR_IO", "nfs:NFS3ERR_SERVERFAULT"),
        "an error at NFS level",
    ),
    **dict.fromkeys(kinds.CLOSED, "no reply can be formed (RFC 8166 4.5.4)"),
}
TOO_MANY = dict.fromkeys(
    kinds.REFUSED, "more segments than this server takes in one chunk (RFC 8267 6.4.2)"
)
TOO_MANY_CHUNKS = {kinds.ERR_CHUNK: "more write chunks than this server takes (RFC 8267 6.4.2)"}
WITHOUT_OCTETS = dict.fromkeys(kinds.REFUSED, "read segments without octets are refused")
# Segments of a chunk that every server takes (RFC 8267 6.4.2).
MOST_SEGMENTS = 16

# The requirements that expect_returned asserts.
RETURNED = (
    "RFC8166-4.3.1-3",
    "RFC8166-3.4.6-3",
    "RFC8166-3.4.6-4",
    "RFC8166-3.4.6-5",
)
# The requirements that expect_read asserts, besides those of expect_returned.
READ_RESULT = (
    *RETURNED,
    "RFC8166-3.4.4.1-1",
    "RFC8166-3.4.6.2-2",
    "RFC8166-3.4.6.2-3",
    "RFC8166-4.3.2-3",
    "RFC8267-4-3",
)
# What READ and WRITE owe at the bounds of their arguments (RFC 1813).
NO_READ, AT_END, NO_WRITE = "RFC1813-3.3.6-1", "RFC1813-3.3.6-2", "RFC1813-3.3.7-2"
# The requirements that expect_written asserts.
WRITTEN = ("RFC8267-4-1",)


def broken_row(outcome, of_transport, of_nfs):
    """The row that an outcome may break: a call with an error of NFS has arrived."""
    return of_nfs if outcome.kind.startswith("nfs:") else of_transport


def chunk_length(segments):
    """The length of a chunk in octets."""
    return sum(segment.length for segment in segments)


def eligible_result(outcome, call):
    """The nfs.binding.EligibleItem of the reply, or None. Works for a long reply too."""
    long_reply = outcome.header.proc == wire.Procedure.NOMSG
    payload = outcome.reply_chunk if long_reply else wire.decode(outcome.raw)[1]
    return nfs.binding.eligible_result(payload, call.program, call.version, call.procedure)


def expect_returned(outcome, call, count_id="RFC8166-3.4.6-4"):
    """The reply returns the offered write list, with lengths that fill it in order."""
    header = outcome.header
    expect.equal(
        len(header.read_list), 0, "RFC8166-4.3.1-3", "read segments in the reply", outcome=outcome
    )
    expect.equal(
        len(header.write_list), len(call.write_list), count_id, "write chunks", outcome=outcome
    )
    for offered, returned in zip(call.write_list, header.write_list):
        _expect_chunk(outcome, offered.segments, returned)


def _expect_chunk(outcome, offered, returned):
    copied = "RFC8166-3.4.6-4"
    expect.equal(len(returned), len(offered), copied, "segments of a write chunk", outcome=outcome)
    for word in ("handle", "offset"):
        expect.equal(
            [getattr(segment, word) for segment in returned],
            [getattr(segment, word) for segment in offered],
            copied,
            f"{word}s of a returned write chunk",
            show=False,
            outcome=outcome,
        )
    left = chunk_length(returned)
    for room, segment in zip(offered, returned):
        filled = min(left, room.length)
        expect.equal(
            segment.length,
            filled,
            "RFC8166-3.4.6-3",
            "length of a segment, each filled before the next",
            outcome=outcome,
        )
        left -= filled


def expect_reply_with_item(outcome):
    """Expects a reply whose eligible result decodes. One that does not decode has lost a part of
    its payload stream. If no reply arrived, the result was not pushed into its chunk."""
    undecodable = outcome.kind == kinds.GARBAGE
    requirement_id = "RFC8166-3.4.4.1-1" if undecodable else "RFC8166-4.3.2-3"
    return expect(outcome, requirement_id, must=[kinds.REPLY])


def expect_read(bench, outcome, call, content, data_id="RFC8267-4-3"):
    """Expects a READ result in the first write chunk and nowhere else. It is the part of `content`
    that `call` asked for. Fewer octets without eof are legal (RFC 1813 3.3.6). Returns the octets
    read."""
    expect_reply_with_item(outcome)
    item = eligible_result(outcome, call)
    expect.true(
        item.length == 0 or item.reduced,
        "RFC8166-4.3.2-3",
        "the result's octets are removed from the payload stream",
        outcome=outcome,
    )
    expect_returned(outcome, call)
    expect.equal(
        chunk_length(outcome.returned()),
        item.length,
        "RFC8166-3.4.6.2-3",
        "returned length of the chunk with the result",
        outcome=outcome,
    )
    return expect_read_data(bench, outcome, call, content, outcome.data, data_id)


def expect_read_data(bench, outcome, call, content, octets, data_id="RFC8267-4-3"):
    """Checks count, eof and the octets of a READ result, inline or in a chunk."""
    asked = nfs.nfs3.decode_args("READ", call.arguments)
    wanted = content[asked.offset : asked.offset + asked.count]
    read = outcome.result.ok
    expect.equal(
        read.count, len(read.data), "RFC8267-4-3", "count of READ against its data", outcome=outcome
    )
    if read.count < len(wanted):
        bench.latitude("RFC8267-4-3", "READ returned fewer octets than asked for (RFC 1813 3.3.6)")
        wanted = wanted[: read.count]
    expect.data(octets, wanted, data_id, "octets of the file", outcome=outcome)
    at_end = asked.offset + read.count >= len(content)
    expect.equal(bool(read.eof), at_end, "RFC8267-4-3", "eof of READ", outcome=outcome)
    return octets


def expect_written(bench, outcome, handle, content, data_id="RFC8267-4-1"):
    """A WRITE at offset 0 of an empty file stored `content`. Fewer octets are legal (RFC 1813
    3.3.7)."""
    expect(outcome, data_id, must=[kinds.REPLY])
    stored = bench.read_back(handle)
    count = outcome.result.ok.count
    if count < len(content) and len(stored) == count:
        bench.latitude("RFC8267-4-1", "WRITE stored fewer octets than it was given")
        content = content[:count]
    expect.data(stored, content, data_id, "content of the file after WRITE", outcome=outcome)
    expect.equal(count, len(content), "RFC8267-4-1", "count of WRITE", outcome=outcome)


def expect_alive(conn, requirement_id):
    """After an error the connection answers the next call, or it is closed. RFC 8166 does not
    require it to stay open, and the order of error and close may vary. A closed connection
    passes."""
    if conn.open:
        expect(conn.probe(), requirement_id, must=[kinds.REPLY, *kinds.CLOSED])


def write_call(conn, handle, content, offset=0, count=None):
    """A stable WRITE with its data inline."""
    length = len(content) if count is None else count
    return conn.nfs_call(
        "WRITE", file=handle, offset=offset, count=length, stable=2, data=bytes(content)
    )


def read_call(conn, handle, count, offset=0):
    """A READ. Remembers its arguments for expect_read."""
    call = conn.nfs_call("READ", file=handle, offset=offset, count=count)
    fields = nfs.nfs3.ReadArgs(file=handle, offset=offset, count=count)
    call.arguments = nfs.nfs3.encode_args("READ", fields)
    return call


def reduce_item(conn, call, octets, sizes=None):
    """Like conn.reduce, but the chunk holds `octets` in place of the item."""
    position, _ = call.take_eligible()
    offer = conn.offer(len(octets), read=True, content=octets)
    call.add_read_chunk(position, offer.segments(sizes))
    call.offers.append(offer)
    return offer


def reduce_at(conn, call, position, length):
    """Moves `length` octets of the payload and their roundup into a read chunk, whether they are
    eligible or not."""
    payload = bytes(call.payload)
    end = position + length
    offer = conn.offer(length, read=True, content=payload[position:end])
    call.payload = payload[:position] + payload[end + -end % 4 :]
    call.add_read_chunk(position, offer.segments())
    call.offers.append(offer)
    return offer
