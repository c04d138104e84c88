"""The binding of NFS version 4 to RPC-over-RDMA (RFC 8267 6).

The cases cover the write list and the read list of a COMPOUND, ineligible items, and long
messages."""

import pytest

from steertag.suite import case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.nfs4_client import fore_channel, getattr_of, putfh, read
from ..chunk_checks import OVERRUN, OVERRUN_LATITUDE, expect_alive
from ..nfs4_checks import (
    COPIED,
    EMPTY,
    NFS4,
    expect_chunks,
    expect_reads,
    items,
    read_operations,
    status,
    with_file,
)
from ..proofs import takes_write_chunks

READ_DATA = "RFC8267-6.1-3"
LINK_TEXT = "RFC8267-6.1-4"
NOTHING_ELSE = "RFC8267-6.1-5"
IN_ORDER = "RFC8267-6.4.1-3"
IN_CHUNK = "RFC8267-6.4.1-4"
UNUSED = "RFC8267-6.4.1-6"
BEYOND = "RFC8267-6.4.1-7"
LENGTHS = [0, 1, 3, 4, 1023, 4096, 4097, 4098, 4099, 8191, 65537]


def is_too_complex(bench, outcome, sizes):
    """Whether the server refuses a call for the number of its write chunks (RFC 8267 6.4.2)."""
    if len(sizes) < 2 or outcome.kind not in kinds.REFUSED or takes_write_chunks(bench, len(sizes)):
        return False
    bench.latitude(COPIED, "more write chunks than this server takes")
    return True


# -- results ---------------------------------------------------------------------------------------


@case(
    "server.nfs4.binding.read-{length}",
    requirements=[READ_DATA, IN_CHUNK, COPIED],
    needs=["nfs41"],
    bugs=["B21", "B22"],
)
@pytest.mark.parametrize("length", LENGTHS)
def test_read(bench, length):
    """READ into a chunk with GETATTR behind it. The octets are in the chunk, eof and the attributes
    inline."""
    content = bench.random.randbytes(length)
    session, handle = with_file(bench, content)
    call = session.call(putfh(handle), read(length + 3), getattr_of("size"))
    session.conn.write_chunk(call, length + 3)
    outcome = session.conn.exchange(call)
    expect_reads(outcome, READ_DATA, content)
    expect_chunks(outcome, [length], IN_CHUNK)
    expect.data(outcome.data, content, IN_CHUNK, "octets of the chunk", outcome=outcome)
    done = outcome.result["READ"].resok4
    expect.true(done.eof, READ_DATA, "eof is set", outcome=outcome)
    size = NFS4.attributes(outcome.result["GETATTR"].resok4.obj_attributes)["size"]
    expect.equal(size, length, READ_DATA, "size behind the reduced READ", outcome=outcome)


@case(
    "server.nfs4.binding.readlink-{length}",
    requirements=[LINK_TEXT, IN_CHUNK, COPIED],
    needs=["nfs41"],
)
@pytest.mark.parametrize("length", [1, 5, 1000])
def test_readlink(bench, length):
    """READLINK into a chunk."""
    text = "x" * length
    session = bench.nfs4_session()
    handle = bench.nfs4_files(session).symlink(text)
    call = session.call(putfh(handle), "READLINK", getattr_of("type"))
    session.conn.write_chunk(call, 1024)
    outcome = session.conn.exchange(call)
    expect(outcome, LINK_TEXT, must=[kinds.REPLY])
    expect_chunks(outcome, [length], IN_CHUNK)
    expect.data(outcome.data, text.encode(), LINK_TEXT, "text in the chunk", outcome=outcome)


def read_link_read(bench):
    """(session, operations, contents): READ, READLINK, READ with results of different lengths."""
    contents = [bench.random.randbytes(1000), b"where the link leads", bench.random.randbytes(501)]
    session = bench.nfs4_session()
    files = bench.nfs4_files(session)
    first, link, last = (
        files.file(contents[0]),
        files.symlink(contents[1].decode()),
        files.file(contents[2]),
    )
    operations = [putfh(first), read(1000), putfh(link), "READLINK", putfh(last), read(501)]
    return session, operations, contents


def expect_read_link_read(outcome, contents, requirement_id):
    expect(outcome, requirement_id, must=[kinds.REPLY])
    texts = [each.resok4.data for each in outcome.result.all("READ")]
    texts.insert(1, outcome.result["READLINK"].resok4.link.encode())
    for number, (seen, wanted) in enumerate(zip(texts, contents)):
        what = f"octets of eligible result {number}"
        expect.data(seen, wanted, requirement_id, what, outcome=outcome)


# Octets of each chunk for results of 1000, 20 and 501 octets. 0 is an empty chunk.
WRITE_LISTS = {
    "exact": [1000, 20, 501],
    "with-room": [4000, 1024, 512],
    "first-empty": [0, 20, 501],
    "middle-empty": [1000, 0, 501],
    "last-empty": [1000, 20, 0],
    "all-empty": [0, 0, 0],
    "one": [1000],
    "two": [1000, 20],
    "only-empty": [0],
    "five": [1000, 20, 501, 64, 64],
    "five-last-empty": [1000, 20, 501, 64, 0],
    "none": [],
}


@case(
    "server.nfs4.binding.write-list-{name}",
    requirements=[IN_ORDER, IN_CHUNK, EMPTY, BEYOND, COPIED, "RFC8267-6.4.3-1"],
    needs=["nfs41"],
    bugs=["B33"],
)
@pytest.mark.parametrize("name", WRITE_LISTS)
def test_write_list(bench, name):
    """Result n goes to chunk n, and an empty chunk leaves its result inline. Results without a
    chunk are inline, and chunks without a result are returned unused."""
    sizes = WRITE_LISTS[name]
    if not any(sizes[:1]):  # The longest result is inline.
        bench.need("large-inline")
    session, operations, contents = read_link_read(bench)
    call = session.call(*operations)
    for size in sizes:
        if size:
            session.conn.write_chunk(call, size)
        else:
            call.add_write_chunk([])
    outcome = session.conn.exchange(call)
    if is_too_complex(bench, outcome, sizes):
        return
    about = EMPTY if 0 in sizes else BEYOND if len(sizes) < len(contents) else IN_ORDER
    expect_read_link_read(outcome, contents, about)
    lengths = [len(each) for each in contents] + [0] * len(sizes)
    expect_chunks(
        outcome, [length if size else None for size, length in zip(sizes, lengths)], IN_ORDER
    )
    for number, item in enumerate(items(outcome, call)):
        offered = number < len(sizes) and sizes[number] > 0
        rule = IN_CHUNK if offered else EMPTY if number < len(sizes) else BEYOND
        what = f"result {number} is " + ("in its chunk" if offered else "inline")
        expect.equal(item.reduced, offered, rule, what, outcome=outcome)


@case("server.nfs4.binding.one-octet", requirements=[IN_CHUNK, COPIED], needs=["nfs41"])
def test_one_octet(bench):
    """Even a result of one octet goes to its chunk."""
    session, handle = with_file(bench, b"0123456789")
    call = session.call(*read_operations(handle, (3, 1), (5, 1)))
    session.conn.write_chunk(call, 1)
    session.conn.write_chunk(call, 64)
    outcome = session.conn.exchange(call)
    if is_too_complex(bench, outcome, [1, 64]):
        return
    expect_reads(outcome, IN_CHUNK, b"3", b"5")
    expect_chunks(outcome, [1, 1], IN_CHUNK)


@case("server.nfs4.binding.end-of-file", requirements=[IN_ORDER, COPIED], needs=["nfs41"])
def test_end_of_file(bench):
    """A READ of nothing at the end of the file uses up its chunk. The next READ uses the next
    chunk."""
    content = b"0123456789"
    session, handle = with_file(bench, content)
    call = session.call(*read_operations(handle, (10, 100), (0, 10)))
    session.conn.write_chunk(call, 100)
    session.conn.write_chunk(call, 100)
    outcome = session.conn.exchange(call)
    if is_too_complex(bench, outcome, [100, 100]):
        return
    expect_reads(outcome, IN_ORDER, b"", content)
    expect_chunks(outcome, [0, 10], IN_ORDER)


@case(
    "server.nfs4.binding.failed-{which}",
    requirements=[UNUSED, IN_ORDER, COPIED, "RFC8166-3.4.4.3-2"],
    needs=["nfs41"],
)
@pytest.mark.parametrize("which", ["first", "second"])
def test_failed(bench, which):
    """A READ that fails returns its chunk and those behind it empty. The chunks before it are
    filled."""
    content = bench.random.randbytes(700)
    session, handle = with_file(bench, content)
    directory = bench.nfs4_files(session).directory
    bad = [putfh(directory), read(700)]
    good = [putfh(handle), read(700)]
    call = session.call(*(bad + good if which == "first" else good + bad + good))
    for _ in range(3):
        session.conn.write_chunk(call, 700)
    outcome = session.conn.exchange(call)
    if is_too_complex(bench, outcome, [700] * 3):
        return
    expect(outcome, UNUSED, must=[status("NFS4ERR_ISDIR"), status("NFS4ERR_INVAL")])
    filled = [] if which == "first" else [700]
    expect_chunks(outcome, filled + [0] * (3 - len(filled)), UNUSED)
    if filled:
        expect.data(outcome.octets(0), content, IN_ORDER, "octets of chunk 0", outcome=outcome)
        last = items(outcome, call)[-1]
        expect.true(last.absent, "RFC8166-3.4.4.3-2", "the error arm of READ has nothing to reduce")


# Operations without an eligible result, and the operations before each.
INELIGIBLE = {
    "getattr": lambda files: [putfh(files.directory), getattr_of("type", "size", "owner")],
    "getfh": lambda files: [putfh(files.directory), "GETFH"],
    "readdir": lambda files: [putfh(files.directory), readdir()],
    "access": lambda files: [putfh(files.directory), operation("ACCESS", access=63)],
    "secinfo": lambda files: ["PUTROOTFH", operation("SECINFO_NO_NAME", style=0)],
    "sequence": lambda files: [],
    "lookup": lambda files: ["PUTROOTFH", "LOOKUPP"],
}


def readdir(maxcount=2048, cookie=0, cookieverf=bytes(8), attributes=("fileid",)):
    return operation(
        "READDIR",
        cookie=cookie,
        cookieverf=cookieverf,
        dircount=maxcount,
        maxcount=maxcount,
        attr_request=NFS4.bitmap(*attributes),
    )


@case(
    "server.nfs4.binding.not-eligible-{name}",
    requirements=[NOTHING_ELSE, "RFC8267-6.6-1", COPIED, "RFC8166-6.1-1"],
    needs=["nfs41"],
)
@pytest.mark.parametrize("name", INELIGIBLE)
def test_not_eligible(bench, name):
    """A write chunk for other operations is returned unused, and the reply is complete."""
    session = bench.nfs4_session()
    files = bench.nfs4_files(session)
    operations = INELIGIBLE[name](files)
    call = session.call(*operations)
    session.conn.write_chunk(call, 4096)
    outcome = session.conn.exchange(call)
    unused = "RFC8267-6.6-1" if name == "sequence" else "RFC8166-6.1-1"
    returned = getattr(outcome.header, "write_list", [])  # none if the header does not decode
    placed = sum(each.length for chunk in returned for each in chunk)
    expect.equal(placed, 0, unused, "octets in a chunk that nothing may use", outcome=outcome)
    # For LOOKUPP of the root, and for an operation that only pNFS needs (RFC 8881 17).
    also = {"lookup": "NFS4ERR_NOENT", "secinfo": "NFS4ERR_NOTSUPP"}
    allowed = [kinds.REPLY] + ([status(also[name])] if name in also else [])
    expect(outcome, NOTHING_ELSE, must=allowed)
    expect.equal(
        len(outcome.result.results), 1 + len(operations), NOTHING_ELSE, "results", outcome=outcome
    )
    expect_chunks(outcome, [0], unused)


@case(
    "server.nfs4.binding.behind-ineligible",
    requirements=[NOTHING_ELSE, IN_ORDER, COPIED],
    needs=["nfs41"],
)
def test_behind_ineligible(bench):
    """Operations without an eligible result use up no chunk. The READ behind them gets the first
    one."""
    content = bench.random.randbytes(333)
    session, handle = with_file(bench, content)
    directory = bench.nfs4_files(session).directory
    call = session.call(putfh(directory), readdir(), putfh(handle), getattr_of("size"), read(333))
    session.conn.write_chunk(call, 333)
    outcome = session.conn.exchange(call)
    expect_reads(outcome, IN_ORDER, content)
    expect_chunks(outcome, [333], NOTHING_ELSE)


# -- long messages ---------------------------------------------------------------------------------


@case(
    "server.nfs4.binding.long-reply-{count}",
    requirements=[NOTHING_ELSE, "RFC8267-3-1", "RFC8166-4.3.3-4", "RFC8166-6.1-2"],
    needs=["nfs41"],
)
@pytest.mark.parametrize("count", [10, 40])
def test_long_reply(bench, count):
    """A listing that does not fit inline is in the reply chunk. One that fits is inline or
    there."""
    session = bench.nfs4_session()
    files = bench.nfs4_files(session)
    for _ in range(count):
        bench.file(name=bench.name("entry").ljust(120, "x"))
    wanted = ("fileid", "size", "time_modify", "owner", "filehandle")
    call = session.call(putfh(files.directory), readdir(32768, attributes=wanted))
    session.conn.reply_chunk(call, 65536)
    outcome = session.conn.exchange(call)
    expect(outcome, "RFC8267-3-1", must=[kinds.REPLY])
    returned = outcome.header.reply_chunk
    expect.equal(len(returned or []), 1, "RFC8166-4.3.3-4", "segments of the reply chunk")
    fits = len(outcome.raw) <= session.conn.negotiated.to_client_bytes
    expect.true(fits, "RFC8166-6.1-2", "what is sent inline keeps the threshold", outcome=outcome)
    found = outcome.result["READDIR"].resok4
    if found.eof:
        expect.equal(len(found.entries), count, NOTHING_ELSE, "entries of READDIR", outcome=outcome)
    else:
        bench.latitude(NOTHING_ELSE, "READDIR returns fewer entries than maxcount has room for")


@case(
    "server.nfs4.binding.chunks-and-long-reply",
    requirements=[IN_ORDER, COPIED, "RFC8166-4.3.2-3"],
    needs=["nfs41"],
    bugs=["B32"],
)
def test_write_list_and_reply_chunk(bench):
    """A READ in its write chunk, and a listing that makes the rest too long to be inline."""
    content = bench.random.randbytes(3001)
    session, handle = with_file(bench, content)
    files = bench.nfs4_files(session)
    for _ in range(40):
        bench.file(name=bench.name("entry").ljust(120, "x"))
    listing = readdir(32768, attributes=("fileid", "filehandle", "owner"))
    call = session.call(putfh(handle), read(3001), putfh(files.directory), listing)
    session.conn.write_chunk(call, 3001)
    session.conn.reply_chunk(call, 65536)
    outcome = session.conn.exchange(call)
    expect_reads(outcome, IN_ORDER, content)
    expect_chunks(outcome, [3001], "RFC8166-4.3.2-3")


@case(
    "server.nfs4.binding.overrun-{name}",
    requirements=["RFC8267-3-2", "RFC8267-3.1-1", "RFC8267-3.1-6", "RFC8166-4.5.3-3"],
    needs=["nfs41"],
    hostile=True,
)
@pytest.mark.parametrize(
    "name", ["write-chunk", "one-octet", "reply-chunk", "no-chunk", "repeated"]
)
def test_overrun(bench, name):
    """A result fits no offered chunk. The server reports an error and truncates nothing, and the
    connection works."""
    content = bench.random.randbytes(16384)
    session, handle = with_file(bench, content)
    for number in range(4 if name == "repeated" else 1):
        if not session.conn.open:
            return
        call = session.call(*read_operations(handle, (0, 16384)), slot=1 + number)
        if name in ("write-chunk", "repeated"):
            session.conn.write_chunk(call, 16380)
        elif name == "one-octet":
            session.conn.write_chunk(call, 1)
        elif name == "reply-chunk":
            offer = session.conn.reply_chunk(call, 8192)
        outcome = session.conn.exchange(call)
        allowed = {**OVERRUN_LATITUDE, status("NFS4ERR_REP_TOO_BIG"): "an error at NFS level"}
        expect(outcome, "RFC8267-3.1-1", must=OVERRUN, latitude=allowed)
        if outcome.kind == kinds.ERR_CHUNK and name == "reply-chunk":
            if offer.bytes() != offer.filled:
                bench.latitude("RFC8166-4.5.3-3", "a part was written before the error")
    expect_alive(session.conn, "RFC8267-3.1-6")


@case(
    "server.nfs4.binding.largest-response",
    requirements=["RFC8881-2.10.6.4-1"],
    needs=["nfs41"],
)
def test_largest_response(bench):
    """No reply is larger than ca_maxresponsesize, for any size asked for."""
    attrs = fore_channel(ca_maxresponsesize=8192)
    session = bench.nfs4_session(csa_fore_chan_attrs=attrs)
    files = bench.nfs4_files(session)
    for _ in range(60):
        bench.file(name=bench.name("entry").ljust(150, "x"))
    call = session.call(putfh(files.directory), readdir(1 << 20, attributes=("fileid", "owner")))
    session.conn.reply_chunk(call, 65536)
    outcome = session.conn.exchange(call)
    limited = {
        status("NFS4ERR_REP_TOO_BIG"): "the listing is refused",
        status("NFS4ERR_TOOSMALL"): "refused",
    }
    expect(outcome, "RFC8881-2.10.6.4-1", must=[kinds.REPLY], latitude=limited)
    most = session.granted.csr_fore_chan_attrs.ca_maxresponsesize
    expect.at_most(len(outcome.whole), most, "RFC8881-2.10.6.4-1", "octets of the reply", outcome)


@case(
    "server.nfs4.binding.large-reply-chunk",
    requirements=["RFC8166-4.3.3-4"],
    needs=["nfs41"],
    bugs=["B103"],
)
def test_large_reply_chunk(bench):
    """A reply chunk above one mebibyte is larger than the reply needs, and legal."""
    session, handle = with_file(bench, b"content")
    call = session.call(*read_operations(handle, (0, 7)))
    session.conn.reply_chunk(call, (1 << 20) + 4096)
    expect_reads(session.conn.exchange(call), "RFC8166-4.3.3-4", b"content")
