"""Read chunks that do not fit the payload stream (RFC 8166 4.5.2, 6.1).

The server never executes the call, and always reports an error."""

import pytest

from steertag.suite import case, expect, kinds
from ..chunk_checks import TRANSFER_FAILED, expect_alive, reduce_item, write_call

CHECKED_EARLY = {
    kinds.ERR_CHUNK: "chunks are compared with the payload stream before the RPC call is decoded",
}
# count of WRITE, octets in the chunk.
WRONG_LENGTHS = {
    "by-one": (4096, 4095),
    "by-four": (4096, 4092),
    "half": (4096, 2048),
    "single-octet": (4096, 1),
    "count-largest": (0xFFFFFFFF, 4096),
    "count-two-gibibytes": (0x80000000, 4096),
}
EXTRA_LENGTHS = {"four": (4096, 4100), "double": (2048, 4096), "count-zero": (0, 4096)}
# Octets from the position of the data to the position of the chunk.
POSITIONS = {
    "behind-item": 4,
    "count-word": -4,
    "stable-word": -8,
    "offset-words": -20,
    "far-behind": 1 << 16,
}
ABSOLUTE_POSITIONS = {
    "rpc-xid": 4,
    "rpc-credential": 28,
    "two-gibibytes": 0x80000000,
    "largest": 0xFFFFFFFC,
}
# Segment lengths that exceed what any server pulls.
HUGE = {
    "one-gibibyte": [0x40000000],
    "two-gibibytes": [0x80000000],
    "largest": [0xFFFFFFFF],
    "sixteen-largest": [0xFFFFFFFF] * 16,
    "sum-wraps-to-count": [0x80000000, 0x80000000, 4096],
    "sum-wraps-to-zero": [0x80000000, 0x80000000],
}
TRIED = "the chunk is pulled as far as the requester's memory allows (RFC 8166 4.5.3)"


def reduced_write(conn, handle, count, octets):
    """A WRITE with this count whose chunk holds `octets`."""
    call = write_call(conn, handle, bytes(4))
    payload = bytearray(call.payload)
    position = len(payload) - 4
    payload[position - 12 : position - 8] = count.to_bytes(4, "big")
    payload[position - 4 : position] = count.to_bytes(4, "big")
    call.payload = bytes(payload[:position])
    offer = conn.offer(len(octets), read=True, content=octets)
    call.add_read_chunk(position, offer.segments())
    call.offers.append(offer)
    return call


@case(
    "server.read-chunk-fault.short-{name}",
    requirements=["RFC8166-4.5.2-5", "RFC8166-3.4.5-5"],
    hostile=True,
)
@pytest.mark.parametrize("name", WRONG_LENGTHS)
def test_chunk_shorter_than_its_item(bench, name):
    """The chunk holds fewer octets than the count: GARBAGE_ARGS. A server that compares the two
    first answers ERR_CHUNK."""
    count, length = WRONG_LENGTHS[name]
    handle = bench.file()
    conn = bench.connect()
    call = reduced_write(conn, handle, count, bench.random.randbytes(length))
    outcome = conn.exchange(call)
    expect(outcome, "RFC8166-4.5.2-5", must=["rpc:GARBAGE_ARGS"], latitude=CHECKED_EARLY)
    expect_alive(conn, "RFC8166-4.5.2-5")
    expect.data(bench.read_back(handle), b"", "RFC8166-3.4.5-5", "content of the file")


@case(
    "server.read-chunk-fault.empty",
    requirements=["RFC8166-4.5.2-5", "RFC8166-3.4.5-5"],
    risk="destructive",
    hostile=True,
)
def test_chunk_without_octets(bench):
    """The chunk is one segment of length zero, and the count is 4096."""
    handle = bench.file()
    conn = bench.connect()
    outcome = conn.exchange(reduced_write(conn, handle, 4096, b""))
    expect(outcome, "RFC8166-4.5.2-5", must=["rpc:GARBAGE_ARGS"], latitude=CHECKED_EARLY)
    expect_alive(conn, "RFC8166-4.5.2-5")
    expect.data(bench.read_back(handle), b"", "RFC8166-3.4.5-5", "content of the file")


@case(
    "server.read-chunk-fault.long-{name}",
    requirements=["RFC8166-4.5.2-5", "RFC8166-3.4.5-5"],
    hostile=True,
)
@pytest.mark.parametrize("name", EXTRA_LENGTHS)
def test_chunk_longer_than_its_item(bench, name):
    """The chunk holds more octets than the item and its roundup: refused, or truncated to the
    count."""
    count, length = EXTRA_LENGTHS[name]
    content = bench.random.randbytes(length)
    handle = bench.file()
    conn = bench.connect()
    outcome = expect(
        conn.exchange(reduced_write(conn, handle, count, content)),
        "RFC8166-4.5.2-5",
        must=["rpc:GARBAGE_ARGS"],
        latitude={**CHECKED_EARLY, kinds.REPLY: "octets behind the arguments are not looked at"},
    )
    stored = content[:count] if outcome.kind == kinds.REPLY else b""
    expect_alive(conn, "RFC8166-4.5.2-5")
    expect.data(bench.read_back(handle), stored, "RFC8166-3.4.5-5", "content of the file")


def misplaced(bench, position_of):
    """(outcome, handle, conn) of a WRITE whose chunk has another position."""
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, b"\xff" * 64 + bench.random.randbytes(960))
    conn.reduce(call)
    entry = call.read_list[0].segment
    entry.position = position_of(entry.position)
    return conn.exchange(call), handle, conn


@case(
    "server.read-chunk-fault.position-{name}",
    requirements=["RFC8166-4.3.1.1-1", "RFC8166-6.1-3"],
    bugs=["B31"],
    hostile=True,
)
@pytest.mark.parametrize("name", POSITIONS)
def test_position_beside_the_item(bench, name):
    """A chunk at another position than the DDP-eligible item: an error, and the server does not
    move it there."""
    outcome, handle, conn = misplaced(bench, lambda position: position + POSITIONS[name])
    expect(outcome, "RFC8166-4.3.1.1-1", must=kinds.REFUSED)
    expect_alive(conn, "RFC8166-4.3.1.1-1")
    expect.data(bench.read_back(handle), b"", "RFC8166-6.1-3", "content of the file")


@case(
    "server.read-chunk-fault.position-{name}",
    requirements=["RFC8166-4.3.1.1-1", "RFC8166-6.1-3"],
    bugs=["B13"],
    hostile=True,
)
@pytest.mark.parametrize("name", ABSOLUTE_POSITIONS)
def test_position_anywhere(bench, name):
    """A chunk inside the RPC header or beyond every message: an error."""
    outcome, handle, conn = misplaced(bench, lambda _: ABSOLUTE_POSITIONS[name])
    expect(
        outcome,
        "RFC8166-4.3.1.1-1",
        must=kinds.REFUSED,
        latitude={kinds.DENIED: "the spoilt RPC header is refused at RPC level"},
    )
    expect_alive(conn, "RFC8166-4.3.1.1-1")
    expect.data(bench.read_back(handle), b"", "RFC8166-6.1-3", "content of the file")


@case(
    "server.read-chunk-fault.unaligned-{octets}",
    requirements=["RFC8166-4.5.2-1", "RFC8166-6.1-3"],
    hostile=True,
)
@pytest.mark.parametrize("octets", [1, 2, 3])
def test_position_unaligned(bench, octets):
    """Positions are multiples of four (RFC 8166 3.4.5). Any other value is no XDR position."""
    outcome, handle, conn = misplaced(bench, lambda position: position + octets)
    expect(
        outcome,
        "RFC8166-4.5.2-1",
        must=[kinds.ERR_CHUNK],
        latitude={"rpc:GARBAGE_ARGS": "found when the arguments are decoded (RFC 8166 4.5.2)"},
    )
    expect_alive(conn, "RFC8166-4.5.2-1")
    expect.data(bench.read_back(handle), b"", "RFC8166-6.1-3", "content of the file")


@case(
    "server.read-chunk-fault.half-inline",
    requirements=["RFC8166-3.4.5-5", "RFC8166-4.5.2-5"],
    needs=["large-inline"],
    hostile=True,
)
def test_item_half_inline(bench):
    """Half of the item is in the chunk and half behind its count (against 3.4.4.1). The server
    refuses it, or puts the halves together by position."""
    content = bench.random.randbytes(2048)
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, content)
    reduce_item(conn, call, content[:1024])
    call.payload += content[1024:]
    outcome = expect(
        conn.exchange(call),
        "RFC8166-4.5.2-5",
        must=kinds.REFUSED,
        latitude={kinds.REPLY: "chunk and payload stream are put together octet by octet"},
    )
    stored = content if outcome.kind == kinds.REPLY else b""
    expect_alive(conn, "RFC8166-4.5.2-5")
    expect.data(bench.read_back(handle), stored, "RFC8166-3.4.5-5", "content of the file")


@case(
    "server.read-chunk-fault.second-chunk-{name}",
    requirements=["RFC8166-6.1-3", "RFC8166-6.1-4"],
    needs=["multiple-read-chunks"],
    bugs=["B12", "B13", "B31"],
    hostile=True,
)
@pytest.mark.parametrize("name", ["before", "behind", "large-behind"])
def test_second_chunk(bench, name):
    """WRITE has one DDP-eligible argument. A second chunk at another position holds none: an
    error."""
    content = bench.random.randbytes(4196)
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, content)
    conn.reduce(call, [4196])
    first = call.read_list[0].segment.position
    length = 1 << 20 if name == "large-behind" else 100
    extra = conn.offer(min(length, 4096), read=True)
    call.add_read_chunk(first - 20 if name == "before" else first + 4196, [extra.segment(length)])
    if name == "before":
        call.read_list.reverse()
    call.offers.append(extra)
    outcome = conn.exchange(call)
    latitude = dict.fromkeys((kinds.VIOLATION, *kinds.CLOSED), TRIED) if length > 4096 else None
    expect(outcome, "RFC8166-6.1-4", must=kinds.REFUSED, latitude=latitude)
    expect_alive(conn, "RFC8166-6.1-4")
    expect.data(bench.read_back(handle), b"", "RFC8166-6.1-3", "content of the file")


@case(
    "server.read-chunk-fault.huge-{name}",
    requirements=["RFC8166-8.1.4-1", "RFC8166-3.4.5-5"],
    hostile=True,
)
@pytest.mark.parametrize("name", HUGE)
def test_huge_chunk(bench, name):
    """Segments are far larger than their 4096 octets of memory and than any WRITE. The server
    reports an error without a pull, or the connection ends. Nothing is stored."""
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, bytes(4096))
    position, item = call.take_eligible()
    offer = conn.offer(4096, read=True, content=item)
    call.add_read_chunk(position, [offer.segment(length) for length in HUGE[name]])
    call.offers.append(offer)
    expect(
        conn.exchange(call),
        "RFC8166-8.1.4-1",
        must=kinds.REFUSED,
        latitude=dict.fromkeys((kinds.VIOLATION, *kinds.CLOSED), TRIED),
    )
    expect_alive(conn, "RFC8166-8.1.4-1")
    expect.data(bench.read_back(handle), b"", "RFC8166-3.4.5-5", "content of the file")


@case(
    "server.read-chunk-fault.huge-with-count", requirements=["RFC8166-8.1.4-1", "RFC8166-3.4.5-5"]
)
def test_huge_chunk_and_count(bench):
    """Count word and chunk agree on 4 GiB - 4. No server has to pull that."""
    handle = bench.file()
    conn = bench.connect()
    call = reduced_write(conn, handle, 0xFFFFFFFC, bytes(4096))
    call.read_list[0].segment.target.length = 0xFFFFFFFC
    expect(
        conn.exchange(call),
        "RFC8166-8.1.4-1",
        must=[*kinds.REFUSED, "nfs:NFS3ERR_INVAL", "nfs:NFS3ERR_FBIG"],
        latitude=dict.fromkeys(TRANSFER_FAILED, TRIED),
    )
    expect_alive(conn, "RFC8166-8.1.4-1")
    expect.data(bench.read_back(handle), b"", "RFC8166-3.4.5-5", "content of the file")
