"""The layout of the server's messages, word by word.

Fixed words, lists, segments, errors and private data are as in RFC 8166 4.1.2, 4.3, 4.7 and RFC
8797 4."""

import struct

import pytest

from steertag import rpc, wire
from steertag.suite import ANY, case, expect, kinds
from steertag.suite.cases.bench import DEFAULT_INLINE
from ..chunk_checks import (
    OVERRUN,
    TOO_MANY_CHUNKS,
    chunk_length,
    expect_read_data,
    expect_written,
    read_call,
    write_call,
)
from ..list_words import (
    NO_ROUNDUP,
    ONE_ITEM,
    SEGMENT,
    chunk_words,
    expect_lists,
    expect_one_whole_item,
    filled,
    header_words,
)
from ..message_words import words

FIXED = ("RFC8166-4.1.2-12", "RFC8166-4.1.2-13", "RFC8166-4.2-1")
DATA = "RFC8267-4-3"
# Octets of a reply with data, without the data and the chunks.
BESIDE_DATA = 256


@case(
    "server.layout.no-chunks",
    requirements=[*FIXED, "RFC8166-4.3-1", "RFC8166-4.7-1", "RFC8166-4-3", "RFC8166-4.2.3-1"],
)
def test_no_chunks(bench):
    """A reply without chunks: XID, version 1, credits, procedure 0, three absent lists. The RPC
    reply of RFC 5531 follows."""
    conn = bench.connect(greet=False)
    call = conn.null_call()
    outcome = conn.exchange(call)
    found = header_words(outcome, "RFC8166-4-3")
    expect.equal(found[0], call.xid, "RFC8166-4.2-1", "word 0", show=False, outcome=outcome)
    expect.equal(found[1], 1, "RFC8166-4.1.2-13", "word 1", outcome=outcome)
    expect.at_least(found[2], 1, "RFC8166-4.2.3-1", "word 2, a grant", outcome)
    expect.equal(found[3], 0, "RFC8166-4.1.2-12", "word 3, RDMA_MSG", outcome=outcome)
    expect.equal(found[4:7], (0, 0, 0), "RFC8166-4.3-1", "words of the lists", outcome=outcome)
    expect.equal(len(outcome.raw), 28 + 24, "RFC8166-4.7-1", "octets of the reply", outcome=outcome)
    rest = (call.xid, 1, 0, 0, 0, 0)
    expect.equal(found[7:], rest, "RFC8166-4-3", "RPC reply", show=False, outcome=outcome)
    expect(outcome, "RFC8166-4-3", must=[kinds.REPLY])


@case("server.layout.credit-word-{credit}", requirements=["RFC8166-4.2.3-1"])
@pytest.mark.parametrize("credit", [1, 7, 32])
def test_credit_word(bench, credit):
    """The credit word of a call is a request, and that of the reply a grant. For any request the
    grant is at least one."""
    conn = bench.connect(credits=credit)
    one, other = conn.exchange(conn.null_call()), conn.exchange(conn.null_call())
    for outcome in (one, other):
        expect(outcome, "RFC8166-4.2.3-1", must=[kinds.REPLY])
        expect.at_least(outcome.header.credit, 1, "RFC8166-4.2.3-1", "grant", outcome)


@case(
    "server.layout.write-list",
    requirements=[
        SEGMENT,
        ONE_ITEM,
        NO_ROUNDUP,
        DATA,
        *(
            "RFC8166-4.1.2-4",
            "RFC8166-4.1.2-5",
            "RFC8166-4.4.3-1",
            "RFC8166-4.7-2",
            "RFC8166-4.3-1",
        ),
        *("RFC8166-3.4.4-2", "RFC8166-3.4.4.1-2", "RFC8166-3.4.1-1", "RFC8166-3.4.2-1"),
    ],
)
def test_write_list(bench):
    """A reply with a write list and an unused reply chunk: each word of its header."""
    content = bench.random.randbytes(701)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, 701)
    offer = conn.write_chunk(call, sizes=[256, 300, 512])
    conn.reply_chunk(call, sizes=[2048, 64])
    outcome = conn.exchange(call)
    expect_lists(outcome, call)
    expect_one_whole_item(outcome, len(content))
    expect(outcome, "RFC8166-3.4.1-1", must=[kinds.REPLY])
    data = expect_read_data(bench, outcome, call, content, outcome.result.ok.data)
    returned = next(iter(outcome.header.write_list), [])
    total = chunk_length(returned)
    expect.equal(total, len(data), "RFC8166-3.4.4-2", "octets of the chunk", outcome=outcome)
    expect.data(offer.bytes()[: len(data)], data, ONE_ITEM, "octets in the chunk", outcome=outcome)
    _, payload = wire.decode(outcome.raw)
    used = chunk_length(outcome.header.reply_chunk or [])
    if outcome.header.proc == wire.Procedure.NOMSG:
        # RFC 8166 4.3.3: a reply that fits inline may be inline.
        bench.latitude("RFC8166-4.7-2", "the reply chunk is used though the reply fits inline")
        payload = outcome.reply_chunk
    else:
        expect.equal(used, 0, "RFC8166-4.7-2", "octets in the reply chunk", outcome=outcome)
    segments = call.write_list[0].segments
    expect.equal(
        [segment.offset for segment in returned],
        [segment.offset for segment in segments[: len(returned)]],
        "RFC8166-4.4.3-1",
        "offsets of the segments",
        show=False,
        outcome=outcome,
    )
    wanted = [0, 1, *chunk_words(segments, filled(segments, len(data))), 0]
    segments = call.reply_chunk.segments
    wanted += [1, *chunk_words(segments, filled(segments, used))]
    found = words(outcome.raw)[4 : 4 + len(wanted)]
    lists = "words of the lists"
    expect.equal(found, tuple(wanted), SEGMENT, lists, show=False, outcome=outcome)
    # Status, attributes, count, eof, and the count word of the data. RPC's part is in front of
    # them.
    inline = [4 + 4 + attributes + 8 + 4 for attributes in (0, 84)]
    left = len(payload) - rpc_header_length(payload)
    expect.one_of(left, inline, NO_ROUNDUP, "octets of results left inline", outcome=outcome)


def rpc_header_length(payload):
    """Octets of an RPC message in front of its results."""
    _, results = rpc.Reply.decode(payload)
    return len(payload) - len(results)


@case(
    "server.layout.long-reply",
    requirements=["RFC8166-4.1.2-7", "RFC8166-4.2.4-2", "RFC8166-3.5.3-1", "RFC8166-4.7-2", DATA],
)
def test_long_reply(bench):
    """RDMA_NOMSG ends with its lists. Only the reply chunk is present, and it holds the payload
    stream."""
    content = bench.random.randbytes(6000)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, 6000)
    conn.reply_chunk(call, sizes=[1000, 2000, 8000])
    outcome = conn.exchange(call)
    expect(outcome, "RFC8166-3.5.3-1", must=[kinds.REPLY])
    if len(outcome.result.ok.data) + BESIDE_DATA < conn.negotiated.to_client_bytes:
        bench.not_testable("READ returns too few octets for a long reply")
    found = words(outcome.raw)
    expect.equal(found[3], 1, "RFC8166-4.2.4-2", "word 3, RDMA_NOMSG", outcome=outcome)
    segments = call.reply_chunk.segments
    used = chunk_length(outcome.header.reply_chunk)
    wanted = (0, 0, 1, *chunk_words(segments, filled(segments, used)))
    expect.equal(
        found[4:], wanted, "RFC8166-4.7-2", "words of the lists", show=False, outcome=outcome
    )
    size = 16 + 4 * len(wanted)
    expect.equal(len(outcome.raw), size, "RFC8166-4.1.2-7", "octets of RDMA_NOMSG", outcome=outcome)
    data = outcome.result.ok.data
    expect_read_data(bench, outcome, call, content, data, "RFC8166-3.5.3-1")


@case(
    "server.layout.error-{name}",
    requirements=["RFC8166-4.2.4-3", "RFC8166-4.5-7", "RFC8166-4.1.2-12"],
    hostile=True,
)
@pytest.mark.parametrize("name", ["vers", "chunk"])
def test_error(bench, name):
    """RDMA_ERROR has the fixed words, the code, and for ERR_VERS the range, and no more."""
    conn = bench.connect()
    call = conn.null_call()
    if name == "vers":
        call.vers = 9
    else:
        call.proc = 9
    outcome = conn.exchange(call)
    found = words(outcome.raw)
    code, size = (1, 28) if name == "vers" else (2, 20)
    misshapen = outcome.kind in (kinds.GARBAGE, kinds.ERROR_OTHER)
    if misshapen and len(found) > 4:
        expect.equal(found[3], 4, "RFC8166-4.1.2-12", "word 3, RDMA_ERROR", outcome=outcome)
        expect.equal(found[4], code, "RFC8166-4.5-7", "word 4, the code", outcome=outcome)
        octets = len(outcome.raw)
        expect.equal(octets, size, "RFC8166-4.2.4-3", "octets of RDMA_ERROR", outcome=outcome)
    expect(outcome, "RFC8166-4.5-7", must=[f"err-{name}"])
    expect.equal(len(outcome.raw), size, "RFC8166-4.2.4-3", "octets of RDMA_ERROR", outcome=outcome)


@case(
    "server.layout.empty-and-unused",
    requirements=["RFC8166-3.4.6-4", "RFC8166-4.3.2.2-4", "RFC8166-4.3.2.3-3"],
    hostile=True,  # a second chunk for one result
)
def test_empty_and_unused(bench):
    """READ of a directory fails. An empty write chunk is returned empty. A chunk with segments is
    returned unused: all segments, each of length zero. A server may refuse two chunks if it refuses
    two that are not empty."""
    directory = bench.directory()

    def ask(is_empty):
        conn = bench.connect()
        call = conn.nfs_call("READ", file=directory, offset=0, count=100)
        call.add_write_chunk([]) if is_empty else conn.write_chunk(call)
        conn.write_chunk(call, sizes=[50, 50])
        return conn.exchange(call)

    outcome = ask(is_empty=True)
    refused = outcome.kind in kinds.REFUSED
    limited = refused and ask(is_empty=False).kind in kinds.REFUSED
    rule = "RFC8166-4.3.2.3-3" if refused else "RFC8166-4.3.2.2-4"
    legal = TOO_MANY_CHUNKS if limited else None
    expect(outcome, rule, must=["nfs:NFS3ERR_ISDIR", "nfs:NFS3ERR_INVAL"], latitude=legal)
    if refused:
        return
    chunks = outcome.header.write_list
    expect.equal(len(chunks), 2, "RFC8166-3.4.6-4", "write chunks of the reply", outcome=outcome)
    shapes = [[segment.length for segment in chunk] for chunk in chunks]
    expect.equal(shapes[0], [], "RFC8166-4.3.2.3-3", "lengths in the empty chunk", outcome=outcome)
    expect.equal(
        shapes[1], [0, 0], "RFC8166-4.3.2.2-4", "lengths in the unused one", outcome=outcome
    )


@case(
    "server.layout.mixed-forms",
    requirements=[
        "RFC8166-4-2",
        "RFC8166-A.2-1",
        "RFC8166-4.6-1",
        "RFC8166-4.1.2-8",
        "RFC8166-3.5.2-1",
    ],
)
def test_mixed_forms(bench):
    """Short and long calls, with and without chunks, in any order on one connection. Each reply is
    RDMA_MSG or RDMA_NOMSG, without the other forms that version 1 once had."""
    conn = bench.connect(greet=False)
    proc = header_words(conn.exchange(conn.null_call()), "RFC8166-4-2")[3]
    expect.one_of(proc, (0, 1, 4), "RFC8166-4.1.2-8", "rdma_proc")
    length = min(3000, conn.negotiated.to_client_bytes - BESIDE_DATA)
    content = bench.random.randbytes(length)
    handle = bench.file(content)
    for form in ("inline", "long", "chunk", "long", "reduced", "inline"):
        if form == "reduced":
            call = write_call(conn, handle, content[::-1])
            conn.reduce(call)
        else:
            call = read_call(conn, handle, length)
        if form == "long":
            conn.long_call(call)
        if form == "chunk":
            conn.write_chunk(call)
        outcome = conn.exchange(call)
        proc = header_words(outcome, "RFC8166-4-2")[3]
        expect.one_of(proc, (0, 1, 4), "RFC8166-4.1.2-8", "rdma_proc", outcome=outcome)
        expect(outcome, "RFC8166-4-2", must=[kinds.REPLY])
        count = len(outcome.header.read_list)
        expect.equal(count, 0, "RFC8166-A.2-1", "read segments in a reply", outcome=outcome)
        if form == "reduced":
            content = content[::-1][: outcome.result.ok.count] + content[outcome.result.ok.count :]
    last = conn.null_call()
    outcome = conn.exchange(last)
    expect(outcome, "RFC8166-4.6-1", must=[kinds.REPLY])
    own = outcome.xid == last.xid  # any other message would have arrived first
    expect.true(own, "RFC8166-4.6-1", "no message comes beside the replies", outcome=outcome)
    expect.data(bench.read_back(handle), content, "RFC8166-3.5.2-1", "content of the file")


@case(
    "server.layout.one-rdma-read",
    requirements=["RFC8166-3.3.1-12", "RFC8166-3.5.2-2", "RFC8166-4.1.2-3", "RFC8267-4-1"],
)
def test_one_rdma_read(bench):
    """A client takes one RDMA Read at a time. The server still pulls its read chunk of sixteen
    segments, and keeps to the provider's limit."""
    content = bench.random.randbytes(16 * 200)
    handle = bench.file()
    conn = bench.connect(ird=1)
    call = write_call(conn, handle, content)
    conn.reduce(call, [200] * 16)
    outcome = conn.exchange(call)
    ended = outcome.kind in (kinds.VIOLATION, *kinds.CLOSED)
    expect(outcome, "RFC8166-3.3.1-12" if ended else "RFC8166-4.1.2-3", must=[kinds.REPLY])
    expect_written(bench, outcome, handle, content, "RFC8166-3.5.2-2")


@case("server.layout.no-invalidation.{name}", requirements=["RFC8797-3.2-1"])
@pytest.mark.parametrize("name", ["private-data", "no-private-data"])
def test_no_invalidation(bench, name):
    """A client does not announce support for Send with Invalidate. It gets plain Sends."""
    content = bench.random.randbytes(2000)
    handle = bench.file(content)
    conn = bench.connect() if name == "private-data" else bench.connect(private_data=None)
    call = read_call(conn, handle, 2000)
    conn.write_chunk(call)
    outcome = conn.exchange(call)
    expect(outcome, "RFC8797-3.2-1", must=[kinds.REPLY])
    expect.true(outcome.invalidated is None, "RFC8797-3.2-1", "no STag is invalidated")


@case(
    "server.layout.broken-error-{name}",
    requirements=["RFC8166-4.5-9"],
    hostile=True,
)
@pytest.mark.parametrize("name", ["cut", "unknown-code", "cut-range", "trailing"])
def test_broken_error(bench, name):
    """An RDMA_ERROR that does not decode is discarded silently, like one that does."""
    conn = bench.connect()
    fixed = struct.pack(">IIII", 0x00C0FFEE, 1, 8, 4)
    body = {
        "cut": struct.pack(">I", 1),
        "unknown-code": struct.pack(">III", 77, 0, 0),
        "cut-range": struct.pack(">II", 1, 1) + bytes(4),
        "trailing": struct.pack(">IIII", 2, 7, 7, 7),
    }
    message = (fixed + body[name]).ljust(28, b"\0")
    outcome = conn.exchange(message)
    expect(outcome, "RFC8166-4.5-9", must=[kinds.SILENCE])


@case(
    "server.layout.programs",
    requirements=["RFC8166-6.3-2", "RFC8166-9-4", "RFC8267-5.2-1"],
)
def test_programs(bench):
    """NFS, MOUNT and NFSACL on one connection, under their usual numbers. Each call is answered
    with SUCCESS or PROG_UNAVAIL, and the next call works."""
    conn = bench.connect()
    lacking = ["rpc:PROG_UNAVAIL", "rpc:PROG_MISMATCH"]
    for program, version in ((100003, 3), (100005, 3), (100227, 3), (100003, 4), (100021, 4)):
        outcome = conn.exchange(conn.rpc_call(program, version, 0))
        own = program == 100003 and version == 3
        rule = "RFC8166-9-4" if program == 100003 else "RFC8166-6.3-2"
        rule = "RFC8267-5.2-1" if program == 100227 else rule
        expect(outcome, rule, must=[kinds.REPLY] + ([] if own else lacking))
    expect(conn.probe(), "RFC8166-6.3-2", must=[kinds.REPLY])


@case(
    "server.layout.nfsacl-chunk",
    requirements=["RFC8267-5.2-2"],
    hostile=True,
    unbroken="NFSACL is not served.",
)
def test_nfsacl(bench):
    """GETACL with a write chunk, if NFSACL is served: the chunk is returned unused."""
    conn = bench.connect()
    handle = bench.file(b"content")
    padded = len(handle).to_bytes(4, "big") + handle + bytes(-len(handle) % 4)
    call = conn.rpc_call(100227, 3, 1, padded + struct.pack(">I", 0xF), conn.credential)
    conn.write_chunk(call, 512)
    conn.reply_chunk(call, 8192)
    outcome = conn.exchange(call)
    if outcome.kind in ("rpc:PROG_UNAVAIL", "rpc:PROG_MISMATCH"):
        bench.unsupported(f"NFSACL is answered with {outcome.kind}")
    expect(outcome, "RFC8267-5.2-2", must=[kinds.REPLY])
    used = sum(chunk_length(chunk) for chunk in outcome.header.write_list)
    expect.equal(used, 0, "RFC8267-5.2-2", "octets in the write chunk", outcome=outcome)


@case("server.layout.mount-over-tcp", requirements=["RFC8267-5.1-1"], needs=["tcp"])
def test_mount_over_tcp(bench):
    """A server that has MOUNT over RDMA has it over TCP too."""
    rdma = bench.connect()
    over_rdma = rdma.exchange(rdma.null_call(100005, 3))
    if over_rdma.kind != kinds.REPLY:
        bench.not_testable("MOUNT is not served over RDMA, and where it is over TCP is not known")
    conn = bench.connect_tcp()
    elsewhere = {"rpc:PROG_UNAVAIL": "not at this port; rpcbind may tell another"}
    outcome = conn.exchange(conn.null_call(100005, 3))
    expect(outcome, "RFC8267-5.1-1", must=[kinds.REPLY], latitude=elsewhere)


# -- private data ----------------------------------------------------------------------------------


@case(
    "server.layout.private-data",
    requirements=["RFC8797-4-5", "RFC8797-8-1", "RFC8797-4-10", "RFC8797-4.2-2", DATA],
)
def test_private_data(bench):
    """The server's private data, if any, has the identifier in network order, version 1 and two
    sizes. Each unit of a size is 1024 octets. The server receives what it announces, and sends no
    more than it announces."""
    content = bench.random.randbytes(3500)
    handle = bench.file(content)
    conn = bench.connect()
    octets = bytes(conn.server_private_data)
    at = octets.find(b"\xf6\xab\x0e\x18")
    if at < 0:
        reverse = octets.find(b"\x18\x0e\xab\xf6")
        expect.equal(reverse, -1, "RFC8797-4-5", "identifier in the other octet order")
        bench.unsupported("the server's private data has no RPC-over-RDMA format")
    expect.at_least(len(octets) - at, 8, "RFC8797-8-1", "octets of the format")
    send, receive = octets[at + 6], octets[at + 7]
    expect.equal(octets[at + 4], 1, "RFC8797-8-1", "version of the format")
    call = conn.null_call()
    most = min(1024 * (receive + 1), DEFAULT_INLINE)
    call.payload = bytes(call.payload).ljust(most - wire.SMALLEST_HEADER_BYTES, b"\0")
    expect(conn.exchange(call), "RFC8797-4.2-2", must=[kinds.REPLY, "rpc:GARBAGE_ARGS"])
    call = read_call(conn, handle, len(content))
    conn.reply_chunk(call, len(content) + BESIDE_DATA)
    outcome = conn.exchange(call)
    expect(outcome, DATA, must=[kinds.REPLY])
    expect_read_data(bench, outcome, call, content, outcome.result.ok.data)
    octets_sent = len(outcome.raw)
    expect.at_most(octets_sent, 1024 * (send + 1), "RFC8797-4-10", "octets of a Send", outcome)


@case(
    "server.layout.announced-size-{value}",
    requirements=["RFC8797-4.2-3", "RFC8166-6.3-1", "RFC8166-3.3.3-6", DATA],
)
@pytest.mark.parametrize("value", [0, 1, 3, 15])
def test_announced_size(bench, value):
    """A client that announces the value n receives (n + 1) * 1024 octets. Replies of any length
    arrive, and no Send is longer."""
    most = 1024 * (value + 1)
    content = bench.random.randbytes(20000)
    handle = bench.file(content)
    conn = bench.connect(private_data=wire.PrivateData(send_bytes=4096, receive_bytes=most))
    for count in (most // 2, most - 128, most, most + 1, 2 * most):
        call = read_call(conn, handle, count)
        conn.reply_chunk(call, count + 512)
        outcome = conn.exchange(call)
        expect(outcome, "RFC8166-6.3-1", must=[kinds.REPLY])
        data = outcome.result.ok.data
        expect_read_data(bench, outcome, call, content, data, "RFC8166-3.3.3-6")
        expect.at_most(len(outcome.raw), most, "RFC8797-4.2-3", "octets of the Send", outcome)


@case(
    "server.layout.wrong-announcement",
    requirements=["RFC8797-7-1", "RFC8166-4.5.3-2"],
    hostile=True,
    unbroken="RFC8166-4.5.3-2, RFC8797-7-1: the client of the case causes the overrun itself.",
)
def test_wrong_announcement(bench):
    """A client announces larger receives than it posts. A reply that does not fit ends its
    connection, and harms no other client."""
    content = bench.random.randbytes(3000)
    handle = bench.file(content)
    conn = bench.connect(receive_bytes=1024)
    count = min(len(content), conn.negotiated.to_client_bytes - BESIDE_DATA)
    if count <= 1024:
        bench.not_testable("the server sends no more than was posted, whatever is announced")
    outcome = conn.exchange(read_call(conn, handle, count))
    legal = dict.fromkeys(OVERRUN, "the server saw it")
    legal[kinds.REPLY] = "READ returns as few octets as fit"
    ends = [kinds.VIOLATION, *kinds.CLOSED]
    expect(outcome, "RFC8166-4.5.3-2", must=ends, latitude=legal)
    other = bench.connect()
    expect(other.exchange(read_call(other, handle, count)), "RFC8797-7-1", must=[kinds.REPLY])


@case("server.layout.long-lived", requirements=["RFC8881-2.9.2-1"], needs=["nfs41"], over=ANY)
def test_long_lived(bench):
    """A connection outlives its requests: it serves a hundred of them, one after the other."""
    session = bench.nfs4_session()
    for _ in range(100):
        expect(session.exchange("PUTROOTFH"), "RFC8881-2.9.2-1", should=[kinds.REPLY])
        if not session.conn.open:
            break
