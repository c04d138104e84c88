"""Transparency: a call has the same results over RDMA and over TCP (RFC 8166 1).

The calls over RDMA use each form of a message: inline, with chunks, and long."""

import pytest

from steertag import rpc
from steertag.suite import case, expect, kinds
from .same_results import expect_same, SAME

OWN = "RFC5531-9-1"
CONTENT = 20_001
NAMES = ("a", "bb", "name-of-thirteen", "x" * 100, "y" * 255)
# Octets of a READDIR, READDIRPLUS or READ that fit the thresholds of bench.connect(), if the target announces any.
INLINE = 3000
DEFAULT_INLINE = 1024  # without an announcement
# offset, count of READs. Those above INLINE need a chunk.
READS = {
    "nothing": (0, 0),
    "one-octet": (7, 1),
    "three-octets": (4095, 3),
    "aligned": (4096, 512),
    "inline": (1000, INLINE - 1),
    "across-the-end": (CONTENT - 10, 1000),
    "behind-the-end": (CONTENT + 1, 10),
    "large": (0, 16_384),
    "all": (0, 65_536),
}
MOST_LOOKS = 100  # at a removed file, until it is gone
ROOMY = 1 << 17  # octets of a reply chunk that is larger than any reply here


def where(directory, name):
    return {"dir": directory, "name": name}


class Tree:
    """A directory with files, a link and a subdirectory, all created before any call is
    compared."""

    def __init__(self, bench):
        # Listings have the attributes of `..` too. Other cases must not change them meanwhile.
        bench.files.descend()
        self.directory = bench.files.base
        for name in NAMES:
            bench.file(b"content", name=name)
        self.content = bench.random.randbytes(CONTENT)
        self.file = bench.file(self.content, name="file")
        self.link = bench.symlink("../a/text of 24 octets..", name="link")
        bench.directory("subdirectory")


# Calls whose results need no chunk: procedure and fields of its arguments.
SMALL = {
    "getattr": lambda tree: ("GETATTR", {"object": tree.file}),
    "getattr-directory": lambda tree: ("GETATTR", {"object": tree.directory}),
    "lookup": lambda tree: ("LOOKUP", {"what": where(tree.directory, "file")}),
    "lookup-directory": lambda tree: ("LOOKUP", {"what": where(tree.directory, "subdirectory")}),
    "lookup-parent": lambda tree: ("LOOKUP", {"what": where(tree.directory, ".")}),
    "access": lambda tree: ("ACCESS", {"object": tree.file, "access": 0x3F}),
    "access-directory": lambda tree: ("ACCESS", {"object": tree.directory, "access": 0x3F}),
    "fsinfo": lambda tree: ("FSINFO", {"fsroot": tree.directory}),
    "fsstat": lambda tree: ("FSSTAT", {"fsroot": tree.directory}),
    "pathconf": lambda tree: ("PATHCONF", {"object": tree.directory}),
    "readlink": lambda tree: ("READLINK", {"symlink": tree.link}),
    "readdir": lambda tree: ("READDIR", _listing(tree, "count")),
    "readdirplus": lambda tree: ("READDIRPLUS", {"dircount": 1000, **_listing(tree, "maxcount")}),
    "no-entry": lambda tree: ("LOOKUP", {"what": where(tree.directory, "missing")}),
    "no-directory": lambda tree: ("LOOKUP", {"what": where(tree.file, "file")}),
    "no-directory-listed": lambda tree: ("READDIR", {**_listing(tree, "count"), "dir": tree.file}),
    "no-link": lambda tree: ("READLINK", {"symlink": tree.file}),
    "directory-read": lambda tree: ("READ", {"file": tree.directory, "offset": 0, "count": 10}),
    "bad-handle": lambda tree: ("GETATTR", {"object": b"\x5e" * 32}),
    "empty-handle": lambda tree: ("GETATTR", {"object": b""}),
    "remove-missing": lambda tree: ("REMOVE", {"object": where(tree.directory, "missing")}),
    "mkdir-existing": lambda tree: ("MKDIR", {"where": where(tree.directory, "subdirectory")}),
}
# Those with more octets than the default threshold has.
LARGE = ("readdirplus",)
# The expected errors, so that two wrong answers do not count as equal.
ERRORS = {
    "no-entry": ["nfs:NFS3ERR_NOENT"],
    "no-directory": ["nfs:NFS3ERR_NOTDIR"],
    "no-directory-listed": ["nfs:NFS3ERR_NOTDIR"],
    "no-link": ["nfs:NFS3ERR_INVAL"],
    "directory-read": ["nfs:NFS3ERR_ISDIR", "nfs:NFS3ERR_INVAL"],
    "bad-handle": ["nfs:NFS3ERR_BADHANDLE", "nfs:NFS3ERR_STALE"],
    "empty-handle": ["nfs:NFS3ERR_BADHANDLE", "nfs:NFS3ERR_STALE", "rpc:GARBAGE_ARGS"],
    "remove-missing": ["nfs:NFS3ERR_NOENT"],
    "mkdir-existing": ["nfs:NFS3ERR_EXIST"],
}


def _listing(tree, size):
    return {"dir": tree.directory, "cookie": 0, "cookieverf": bytes(8), size: INLINE}


def in_form(conn, call, form):
    """The call in this form over RDMA."""
    if form == "long-call":
        conn.reply_chunk(call, ROOMY)
        conn.long_call(call)
    elif form == "reply-chunk":
        conn.reply_chunk(call, ROOMY)
    elif form == "write-chunk":
        conn.write_chunk(call)
    elif form == "write-chunk-segments":
        length = call.eligible_result_length()
        conn.write_chunk(call, sizes=[length - length // 2, length // 2])
    elif form == "read-chunk":
        conn.reduce(call)
    return call


def over_both(bench, form, make):
    """(Outcome over RDMA, Outcome over TCP, the call) of the call that `make(conn)` returns."""
    conn, tcp = bench.connect(), bench.connect_tcp()
    over_rdma = conn.exchange(in_form(conn, make(conn), form))
    call = make(tcp)
    return over_rdma, tcp.exchange(call), call


@case("server.same-over-tcp.{name}-{form}", requirements=[SAME], needs=["tcp"])
@pytest.mark.parametrize("form", ["inline", "reply-chunk", "long-call"])
@pytest.mark.parametrize("name", SMALL)
def test_results(bench, name, form):
    """A call with small results, or with an error."""
    if form == "inline" and name in LARGE:
        bench.need("large-inline")
    procedure, fields = SMALL[name](Tree(bench))
    over_rdma, over_tcp, call = over_both(
        bench, form, lambda conn: conn.nfs_call(procedure, **fields)
    )
    expect(over_tcp, SAME, must=ERRORS.get(name, [kinds.REPLY]))
    expect_same(bench, over_rdma, over_tcp, call)


@case("server.same-over-tcp.stale-{form}", requirements=[SAME], needs=["tcp"])
@pytest.mark.parametrize("form", ["inline", "reply-chunk", "long-call"])
def test_stale_handle(bench, form):
    """The handle of a file that was removed over TCP."""
    handle = bench.file(b"content", name="removed")
    tcp = bench.connect_tcp()
    gone = tcp.exchange(tcp.nfs_call("REMOVE", object=where(bench.files.base, "removed")))
    expect(gone, SAME, must=[kinds.REPLY])
    # Linux may let go of the file a moment after its reply.
    for _ in range(MOST_LOOKS):
        if tcp.exchange(tcp.nfs_call("GETATTR", object=handle)).kind != kinds.REPLY:
            break
    over_rdma, over_tcp, call = over_both(
        bench, form, lambda conn: conn.nfs_call("GETATTR", object=handle)
    )
    expect(over_tcp, SAME, must=["nfs:NFS3ERR_STALE", "nfs:NFS3ERR_BADHANDLE"])
    expect_same(bench, over_rdma, over_tcp, call)


def forms_of_read():
    """(name, form) of each READ that the form can carry. There are no READs with an empty chunk."""
    for name, (_, count) in READS.items():
        if count <= INLINE:
            yield name, "inline"
        yield from ((name, form) for form in ("reply-chunk", "long-call"))
        if count > 1:
            yield from ((name, form) for form in ("write-chunk", "write-chunk-segments"))


@case("server.same-over-tcp.read-{name}-{form}", requirements=[SAME], needs=["tcp"])
@pytest.mark.parametrize("name,form", forms_of_read())
def test_read(bench, name, form):
    """READ with its data inline, in write chunks or in the reply chunk, merged into one payload
    stream."""
    offset, count = READS[name]
    if form == "inline" and count > DEFAULT_INLINE:
        bench.need("large-inline")
    tree = Tree(bench)
    over_rdma, over_tcp, call = over_both(
        bench,
        form,
        lambda conn: conn.nfs_call("READ", file=tree.file, offset=offset, count=count),
    )
    expect(over_tcp, SAME, must=[kinds.REPLY])
    data = over_tcp.result.ok.data
    wanted = tree.content[offset : offset + count][: len(data)]
    expect.data(data, wanted, SAME, "octets of the file over TCP", outcome=over_tcp)
    expect_same(bench, over_rdma, over_tcp, call)


@case("server.same-over-tcp.readlink-write-chunk", requirements=[SAME], needs=["tcp"])
def test_readlink_in_a_write_chunk(bench):
    """READLINK with its text in a write chunk."""
    tree = Tree(bench)
    over_rdma, over_tcp, call = over_both(
        bench, "write-chunk", lambda conn: conn.nfs_call("READLINK", symlink=tree.link)
    )
    expect_same(bench, over_rdma, over_tcp, call)


WRITES = [("inline", 1), ("inline", 2999), ("read-chunk", 1), ("read-chunk", 4097)]
WRITES += [("read-chunk", 65_536), ("long-call", 3), ("long-call", 20_000)]


@case("server.same-over-tcp.write-{form}-{length}", requirements=[SAME], needs=["tcp"])
@pytest.mark.parametrize("form,length", WRITES)
def test_write(bench, form, length):
    """Data of a WRITE over RDMA is read over TCP, and the reverse. Both replies are equal except
    for times."""
    if form == "inline" and length > DEFAULT_INLINE:
        bench.need("large-inline")
    content = bench.random.randbytes(length)
    one, other = bench.file(), bench.file()
    conn, tcp = bench.connect(), bench.connect_tcp()

    def write(conn, handle):
        return conn.nfs_call("WRITE", file=handle, offset=0, count=length, stable=2, data=content)

    over_rdma = conn.exchange(in_form(conn, write(conn, one), form))
    over_tcp = tcp.exchange(write(tcp, other))
    for outcome in (over_rdma, over_tcp):
        expect(outcome, SAME, must=[kinds.REPLY])
    expect.equal(
        write_result(over_rdma), write_result(over_tcp), SAME, "count, committed and verf of WRITE"
    )
    stored = content[: over_tcp.result.ok.count]
    read = tcp.exchange(tcp.nfs_call("READ", file=one, offset=0, count=length))
    expect(read, SAME, must=[kinds.REPLY])
    expect.data(read.result.ok.data, stored, SAME, "written over RDMA, read over TCP", outcome=read)
    call = conn.nfs_call("READ", file=other, offset=0, count=length)
    conn.write_chunk(call)
    read = conn.exchange(call)
    expect(read, SAME, must=[kinds.REPLY])
    expect.data(read.result.ok.data, stored, SAME, "written over TCP, read over RDMA", outcome=read)


def write_result(outcome):
    """The results of a WRITE without those that time changes."""
    ok = outcome.result.ok
    return ok.count, ok.committed.name, bytes(ok.verf)


@case("server.same-over-tcp.symlink-{form}", requirements=[SAME], needs=["tcp"])
@pytest.mark.parametrize("form", ["inline", "read-chunk", "long-call"])
def test_symlink(bench, form):
    """READLINK over TCP returns the text of a SYMLINK over RDMA."""
    text = bytes(97 + i % 26 for i in range(301))
    directory = bench.directory()
    conn, tcp = bench.connect(), bench.connect_tcp()
    link = {"symlink_attributes": {}, "symlink_data": text}
    call = conn.nfs_call("SYMLINK", where=where(directory, "link"), symlink=link)
    expect(conn.exchange(in_form(conn, call, form)), SAME, must=[kinds.REPLY])
    found = tcp.exchange(tcp.nfs_call("LOOKUP", what=where(directory, "link")))
    expect(found, SAME, must=[kinds.REPLY])
    read = tcp.exchange(tcp.nfs_call("READLINK", symlink=found.result.ok.object))
    expect(read, SAME, must=[kinds.REPLY])
    data = read.result.ok.data
    data = data.encode() if isinstance(data, str) else bytes(data)
    expect.data(data, text, SAME, "text of the link", outcome=read)


def rpc_version_three(conn):
    call = conn.null_call()
    header, arguments = rpc.Call.decode(bytes(call.payload))
    header.rpcvers = 3
    call.payload = header.encode(arguments)
    return call


def unknown_flavor(conn):
    call = conn.null_call()
    header, arguments = rpc.Call.decode(bytes(call.payload))
    header.credential = rpc.OpaqueAuth(flavor=4711, body=bytes(8))
    call.payload = header.encode(arguments)
    return call


# Calls that fail, or succeed without results, at RPC level.
RPC_CALLS = {
    "null": (lambda conn: conn.null_call(), [kinds.REPLY]),
    "prog-unavail": (lambda conn: conn.rpc_call(0x2000FFFF, 1, 0), ["rpc:PROG_UNAVAIL"]),
    "prog-mismatch": (lambda conn: conn.rpc_call(100003, 99, 0), ["rpc:PROG_MISMATCH"]),
    "proc-unavail": (lambda conn: conn.rpc_call(100003, 3, 22), ["rpc:PROC_UNAVAIL"]),
    "garbage-args": (lambda conn: conn.nfs_call("GETATTR", b""), ["rpc:GARBAGE_ARGS"]),
    "rpc-mismatch": (rpc_version_three, [kinds.DENIED]),
    "auth-error": (unknown_flavor, [kinds.DENIED, kinds.REPLY]),
}


@case("server.same-over-tcp.rpc-{name}-{form}", requirements=[SAME], needs=["tcp"])
@pytest.mark.parametrize("form", ["inline", "reply-chunk", "long-call"])
@pytest.mark.parametrize("name", RPC_CALLS)
def test_rpc_level(bench, name, form):
    """The answers of RPC itself, including ranges of versions."""
    make, must = RPC_CALLS[name]
    over_rdma, over_tcp, call = over_both(bench, form, make)
    expect(over_tcp, SAME, must=must)
    expect_same(bench, over_rdma, over_tcp, call)


@case("server.same-over-tcp.one-xid", requirements=[SAME, OWN], needs=["tcp"])
def test_one_xid_over_both(bench):
    """Different calls with one XID are in flight over both transports. Each connection gets the
    reply to its own call."""
    content = bench.random.randbytes(64)
    handle = bench.file(content)
    conn, tcp = bench.connect(), bench.connect_tcp()
    first = conn.nfs_call("READ", file=handle, offset=0, count=32)
    second = tcp.nfs_call("READ", xid=first.xid, file=handle, offset=32, count=32)
    conn.send(first)
    tcp.send(second)
    over_tcp = expect(tcp.await_outcome(second), OWN, must=[kinds.REPLY])
    over_rdma = expect(conn.await_outcome(first), OWN, must=[kinds.REPLY])
    expect.data(over_rdma.result.ok.data, content[:32], SAME, "octets over RDMA")
    expect.data(over_tcp.result.ok.data, content[32:], SAME, "octets over TCP")
