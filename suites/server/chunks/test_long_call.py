"""Long calls: RDMA_NOMSG with the RPC call in a Position Zero read chunk (RFC 8166 3.5.3)."""

import pytest

from steertag import wire
from steertag.suite import case, expect, kinds
from ..chunk_checks import (
    READ_RESULT,
    TRANSFER_FAILED,
    WITHOUT_OCTETS,
    WRITTEN,
    expect_alive,
    expect_read,
    expect_written,
    read_call,
    write_call,
)
from ..message_words import expect_one_xid
from ..proofs import expect_reply_unless

LONG = "RFC8166-3.5.3-8"
# Segment lengths for the 40 octets of a NULL call without credentials.
CUTS = {
    "one": [40],
    "words": [4] * 10,
    "odd": [1, 2, 3, 5, 29],
    "single-octets": [1] * 16 + [24],
}
HUGE = {
    "one-gibibyte": [0x40000000],
    "largest": [0xFFFFFFFF],
    "sum-wraps": [0x80000000, 0x80000000, 40],
}
# Whole long calls in front of each truncated one, and rounds of both. The server's allocator
# decides which memory it uses again.
WHOLE_CALLS, CUT_ROUNDS = 8, 4
AT_RPC_LEVEL = {"rpc:GARBAGE_ARGS": "reported at RPC level (RFC 8166 4.5.2)"}
TOGETHER = dict.fromkeys(kinds.REFUSED, "the segments of a chunk have to stand together")
TRIED = "the chunk is pulled as far as the requester's memory allows (RFC 8166 4.5.3)"


@case("server.long-call.null-{name}", requirements=[LONG, "RFC8166-3.4.5-5"])
@pytest.mark.parametrize("name", CUTS)
def test_null(bench, name):
    """NULL as a long call. It is short, but this is legal at any time (RFC 8166 3.5.3)."""
    conn = bench.connect()
    call = conn.null_call()
    conn.long_call(call, CUTS[name])
    expect(conn.exchange(call), LONG, must=[kinds.REPLY])


@case(
    "server.long-call.empty-segment-{place}",
    requirements=[LONG, "RFC8166-3.4.3-1"],
    risk="destructive",
)
@pytest.mark.parametrize("place", ["first", "last"])
def test_empty_segment(bench, place):
    """NULL as a long call, with a segment of length zero beside the one that holds it."""

    def ask(sizes):
        conn = bench.connect()
        call = conn.null_call()
        conn.long_call(call, sizes)
        return conn.exchange(call)

    outcome = ask([0, 40] if place == "first" else [40, 0])
    expect_reply_unless(
        outcome, "RFC8166-3.4.3-1", WITHOUT_OCTETS, lambda: ask([40]).kind == kinds.REPLY
    )


@case("server.long-call.getattr", requirements=[LONG])
def test_getattr(bench):
    """GETATTR as a long call. Its handle may be in the chunk, although it is not eligible."""
    conn = bench.connect()
    call = conn.nfs_call("GETATTR", object=bench.root)
    conn.long_call(call)
    outcome = expect(conn.exchange(call), LONG, must=[kinds.REPLY])
    expect.equal(outcome.result.ok.obj_attributes.type.name, "NF3DIR", LONG, "type of the root")


@case("server.long-call.write-{length}", requirements=[LONG, *WRITTEN])
@pytest.mark.parametrize("length", [5, 4097, 9001, 65536])
def test_write(bench, length):
    """WRITE as a long call, with its data and the roundup in the Position Zero chunk."""
    content = bench.random.randbytes(length)
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, content)
    total = len(call.payload)
    conn.long_call(call, [101, total - 101])
    outcome = expect(conn.exchange(call), LONG, must=[kinds.REPLY])
    expect_written(bench, outcome, handle, content)


@case(
    "server.long-call.write-{order}",
    requirements=[LONG, *WRITTEN, "RFC8166-3.4.5-2", "RFC8166-3.4.5-5"],
    needs=["multiple-read-chunks"],
)
@pytest.mark.parametrize("order", ["reduced", "reduced-odd", "data-first", "interleaved"])
def test_write_reduced(bench, order):
    """The data has a chunk of its own beside the Position Zero chunk. Its position counts in the
    unreduced message. The order of chunks in the list does not matter."""
    content = bench.random.randbytes(4097 if order == "reduced-odd" else 4096)
    handle = bench.file()

    def ask(order):
        conn = bench.connect()
        call = write_call(conn, handle, content)
        conn.reduce(call, [1000, len(content) - 1000])
        conn.long_call(call, [33, len(call.payload) - 33])
        zero, data = call.read_list[:2], call.read_list[2:]
        if order == "data-first":
            call.read_list = data + zero
        elif order == "interleaved":
            call.read_list = [zero[0], data[0], zero[1], data[1]]
        return conn.exchange(call)

    outcome = ask(order)
    if expect_reply_unless(
        outcome,
        "RFC8166-3.4.5-2",
        TOGETHER if order == "interleaved" else {},
        lambda: ask("reduced").kind == kinds.REPLY,
    ):
        expect_written(bench, outcome, handle, content, "RFC8166-3.4.5-5")


@case("server.long-call.symlink", requirements=[LONG, "RFC8267-4-2"])
def test_symlink(bench):
    """SYMLINK with a text of 700 octets as a long call. READLINK returns the text inline."""
    text = bytes(97 + i % 26 for i in range(700))
    directory, name = bench.directory(), bench.name("link")
    conn = bench.connect()
    link = {"symlink_attributes": {}, "symlink_data": text}
    where = {"dir": directory, "name": name}
    call = conn.nfs_call("SYMLINK", where=where, symlink=link)
    conn.long_call(call)
    expect(conn.exchange(call), LONG, must=[kinds.REPLY])
    found = expect(conn.exchange(conn.nfs_call("LOOKUP", what=where)), LONG, must=[kinds.REPLY])
    call = conn.nfs_call("READLINK", symlink=found.result.ok.object)
    outcome = expect(conn.exchange(call), "RFC8267-4-2", must=[kinds.REPLY])
    expect.true(text in outcome.results, "RFC8267-4-2", "READLINK gives the text back")


@case("server.long-call.read-into-chunk", requirements=[LONG, *READ_RESULT])
def test_read_into_write_chunk(bench):
    """READ as a long call, with a write chunk for its data."""
    content = bench.random.randbytes(5001)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, len(content))
    conn.write_chunk(call)
    conn.long_call(call)
    outcome = expect(conn.exchange(call), LONG, must=[kinds.REPLY])
    expect_read(bench, outcome, call, content)


@case("server.long-call.long-reply", requirements=[LONG, "RFC8166-3.5.3-7"])
def test_long_reply(bench):
    """A long call with a long reply: neither message is inline."""
    content = bench.random.randbytes(5001)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, len(content))
    conn.reply_chunk(call)
    conn.long_call(call)
    outcome = expect(conn.exchange(call), LONG, must=[kinds.REPLY])
    proc = outcome.header.proc
    expect.equal(proc, wire.Procedure.NOMSG, "RFC8166-3.5.3-7", "rdma_proc of the reply")
    expect.data(outcome.result.ok.data, content, "RFC8166-3.5.3-7", "octets of the file")


@case("server.long-call.no-chunk", requirements=["RFC8166-4.5.2-3"], hostile=True)
def test_no_chunk(bench):
    """RDMA_NOMSG without chunk lists is an XDR error."""
    conn = bench.connect()
    call = conn.null_call()
    call.proc, call.payload = wire.Procedure.NOMSG, b""
    expect(conn.exchange(call), "RFC8166-4.5.2-3", must=[kinds.ERR_CHUNK])
    expect_alive(conn, "RFC8166-4.5.2-3")


@case(
    "server.long-call.only-{name}", requirements=["RFC8166-4.2.4-8", "RFC8166-4.5-2"], hostile=True
)
@pytest.mark.parametrize("name", ["write-list", "reply-chunk", "data-chunk"])
def test_no_position_zero_chunk(bench, name):
    """RDMA_NOMSG with a list that holds no RPC call: an error in the header."""
    conn = bench.connect()
    call = conn.null_call()
    call.proc, call.payload = wire.Procedure.NOMSG, b""
    if name == "write-list":
        conn.write_chunk(call, length=100)
    elif name == "reply-chunk":
        conn.reply_chunk(call, length=512)
    else:
        offer = conn.offer(100, read=True)
        call.add_read_chunk(96, offer.segments())
        call.offers.append(offer)
    expect(conn.exchange(call), "RFC8166-4.2.4-8", must=[kinds.ERR_CHUNK], latitude=AT_RPC_LEVEL)
    expect_alive(conn, "RFC8166-4.5-2")


@case("server.long-call.empty", requirements=["RFC8166-4.5-2"], risk="destructive", hostile=True)
def test_empty_position_zero_chunk(bench):
    """The Position Zero chunk of RDMA_NOMSG is one segment of length zero. There is no RPC call."""
    conn = bench.connect()
    call = conn.null_call()
    call.payload = b""
    conn.long_call(call)
    expect(conn.exchange(call), "RFC8166-4.5-2", must=[kinds.ERR_CHUNK], latitude=AT_RPC_LEVEL)
    expect_alive(conn, "RFC8166-4.5-2")


@case("server.long-call.octets-behind-header", requirements=["RFC8166-3.5.3-2"], hostile=True)
def test_octets_behind_header(bench):
    """A long call whose Send has octets behind the lists: they are refused or ignored."""
    conn = bench.connect()
    call = conn.null_call()
    conn.long_call(call)
    call.append = b"\xff" * 16
    expect(
        conn.exchange(call),
        "RFC8166-3.5.3-2",
        must=[kinds.ERR_CHUNK],
        latitude={kinds.REPLY: "octets behind the lists of RDMA_NOMSG are ignored"},
    )
    expect_alive(conn, "RFC8166-3.5.3-2")


@case("server.long-call.in-rdma-msg", requirements=["RFC8166-3.5.3-2"], hostile=True)
def test_position_zero_chunk_in_rdma_msg(bench):
    """RDMA_MSG with a NULL call inline and in a Position Zero chunk: it is refused, or one of the
    two is used."""
    conn = bench.connect()
    call = conn.null_call()
    offer = conn.offer(len(call.payload), read=True, content=call.payload)
    call.add_read_chunk(0, offer.segments())
    call.offers.append(offer)
    expect(
        conn.exchange(call),
        "RFC8166-3.5.3-2",
        must=[kinds.ERR_CHUNK],
        latitude={
            **AT_RPC_LEVEL,
            kinds.REPLY: "one of the two payload streams is ignored",
        },
    )
    expect_alive(conn, "RFC8166-3.5.3-2")


@case("server.long-call.xid-differs", requirements=["RFC8166-4.5.2-4", "RFC8166-4.2.1-1"])
def test_xid_differs(bench):
    """The RPC call in the Position Zero chunk has another XID than the header. A server that uses only the
    header's repeats that, and not both."""
    conn = bench.connect()
    call = conn.null_call()
    call.xid = conn.next_xid()
    conn.long_call(call)
    outcome = expect(
        conn.exchange(call),
        "RFC8166-4.5.2-4",
        must=[kinds.ERR_CHUNK],
        latitude={kinds.REPLY: "the header's XID alone is used (RFC 8166 4.2.1)"},
    )
    expect_one_xid(outcome, "RFC8166-4.2.1-1")
    expect_alive(conn, "RFC8166-4.5.2-4")


@case("server.long-call.cut-at-{octets}", requirements=["RFC8166-4.5.2-5", LONG], bugs=["B129"])
@pytest.mark.parametrize("octets", [4, 12, 20, 24, 28, 36])
def test_cut_short(bench, octets):
    """The Position Zero chunk ends inside the RPC header. The server reports it, or closes the
    connection. Whole long calls precede it, so a server that reads too far finds the rest of
    one."""
    conn = bench.connect()
    for _ in range(CUT_ROUNDS):
        for _ in range(WHOLE_CALLS):
            whole = conn.null_call()
            conn.long_call(whole)
            expect(conn.exchange(whole), LONG, must=[kinds.REPLY])
        call = conn.null_call()
        call.payload = bytes(call.payload)[:octets]
        conn.long_call(call)
        outcome = expect(
            conn.exchange(call),
            "RFC8166-4.5.2-5",
            must=[*kinds.REFUSED, kinds.DENIED],
            latitude={
                **dict.fromkeys(kinds.CLOSED, "no reply can be formed (RFC 8166 4.5.4)"),
                kinds.SILENCE: "discarded, as it is no whole RPC call",
            },
        )
        if outcome.kind in kinds.CLOSED:
            break
    expect_alive(conn, "RFC8166-4.5.2-5")


@case("server.long-call.huge-{name}", requirements=["RFC8166-8.1.4-1"], hostile=True)
@pytest.mark.parametrize("name", HUGE)
def test_huge(bench, name):
    """A Position Zero chunk of gibibytes over 40 octets of memory: it is refused, or the transfer
    fails."""
    conn = bench.connect()
    call = conn.null_call()
    offer = conn.offer(40, read=True, content=call.payload)
    call.add_read_chunk(0, [offer.segment(length) for length in HUGE[name]])
    call.offers.append(offer)
    call.proc, call.payload = wire.Procedure.NOMSG, b""
    latitude = dict.fromkeys(TRANSFER_FAILED, TRIED)
    expect(conn.exchange(call), "RFC8166-8.1.4-1", must=kinds.REFUSED, latitude=latitude)
    expect_alive(conn, "RFC8166-8.1.4-1")
