"""The binding of NFS version 3 (RFC 8267 4, RFC 8166 6.1).

Eligible items are accepted reduced and inline. A call with any other item reduced is never
executed."""

import pytest

from steertag.suite import case, expect, kinds
from ..chunk_checks import expect_alive, reduce_at, write_call

REPORTED = "RFC8166-6.1-4"
NOT_PROCESSED = "RFC8166-6.1-3"
AT_RPC_LEVEL = {kinds.DENIED: "refused at RPC level, as the credential is missing"}


def text_of(length):
    """A path of that many octets."""
    return bytes(97 + i % 26 for i in range(length))


@case("server.binding.symlink-{name}", requirements=["RFC8267-4-2", "RFC8166-3.4.5-5"])
@pytest.mark.parametrize(
    "name,sizes",
    [("one", [1]), ("three", [3]), ("four", [4]), ("halves", [511, 512]), ("odd", [1, 3, 999])],
)
def test_symlink_reduced(bench, name, sizes):
    """SYMLINK with its text in a read chunk. READLINK returns the text."""
    text = text_of(sum(sizes))
    conn = bench.connect()
    where = {"dir": bench.directory(), "name": bench.name("link")}
    link = {"symlink_attributes": {}, "symlink_data": text}
    call = conn.nfs_call("SYMLINK", where=where, symlink=link)
    conn.reduce(call, sizes)
    expect(conn.exchange(call), "RFC8267-4-2", must=[kinds.REPLY])
    found = conn.exchange(conn.nfs_call("LOOKUP", what=where))
    expect(found, "RFC8267-4-2", must=[kinds.REPLY])
    call = conn.nfs_call("READLINK", symlink=found.result.ok.object)
    conn.reply_chunk(call, length=2048)
    outcome = expect(conn.exchange(call), "RFC8267-4-2", must=[kinds.REPLY])
    data = outcome.result.ok.data
    data = data.encode() if isinstance(data, str) else bytes(data)
    expect.data(data, text, "RFC8166-3.4.5-5", "text of the link", outcome=outcome)


def reduced(conn, call, octets):
    """Moves the only occurrence of `octets` in the call into a read chunk."""
    reduce_at(conn, call, bytes(call.payload).index(octets), len(octets))
    return call


def expect_absent(bench, where):
    """The name does not exist. Another connection looks: the server may be about to end the one with the error."""
    conn = bench.connect()
    outcome = conn.exchange(conn.nfs_call("LOOKUP", what=where))
    expect(outcome, NOT_PROCESSED, must=["nfs:NFS3ERR_NOENT"])


def expect_not_processed(conn, call, latitude=None):
    """The server reports an error for the call, and the connection works."""
    expect(conn.exchange(call), NOT_PROCESSED, must=kinds.REFUSED, latitude=latitude)
    expect_alive(conn, REPORTED)


@case(
    "server.binding.reduced-name-{procedure}",
    requirements=[NOT_PROCESSED, REPORTED, "RFC8267-4-5"],
    hostile=True,
)
@pytest.mark.parametrize("procedure", ["create", "mkdir", "symlink"])
def test_reduced_name_of_something_new(bench, procedure):
    """A name in a read chunk at its right position: an error, and nothing is created."""
    conn = bench.connect()
    where = {"dir": bench.directory(), "name": bench.name("reduced-name")}
    fields = {"where": where}
    if procedure == "symlink":
        fields["symlink"] = {"symlink_attributes": {}, "symlink_data": "text"}
    call = conn.nfs_call(procedure.upper(), **fields)
    expect_not_processed(conn, reduced(conn, call, where["name"].encode()))
    expect_absent(bench, where)


@case(
    "server.binding.reduced-name-{procedure}",
    requirements=[NOT_PROCESSED, REPORTED, "RFC8267-4-5"],
    hostile=True,
)
@pytest.mark.parametrize("procedure", ["remove", "rename"])
def test_reduced_name_of_something_there(bench, procedure):
    """A name in a read chunk at its right position: an error, and the file stays."""
    name = bench.name("reduced-name")
    bench.file(name=name)
    conn = bench.connect()
    where = {"dir": bench.files.base, "name": name}
    if procedure == "remove":
        call = conn.nfs_call("REMOVE", object=where)
    else:
        call = conn.nfs_call("RENAME", **{"from_": where, "to": {**where, "name": "other"}})
    expect_not_processed(conn, reduced(conn, call, name.encode()))
    conn = conn if conn.open else bench.connect()
    outcome = conn.exchange(conn.nfs_call("LOOKUP", what=where))
    expect(outcome, NOT_PROCESSED, must=[kinds.REPLY])


@case(
    "server.binding.reduced-name-lookup",
    requirements=[NOT_PROCESSED, REPORTED, "RFC8267-4-5"],
    hostile=True,
)
def test_reduced_name_of_lookup(bench):
    """LOOKUP with its name in a read chunk: an error."""
    name = bench.name("reduced-name")
    bench.file(name=name)
    conn = bench.connect()
    call = conn.nfs_call("LOOKUP", what={"dir": bench.files.base, "name": name})
    expect_not_processed(conn, reduced(conn, call, name.encode()))


@case(
    "server.binding.reduced-handle-{procedure}",
    requirements=[NOT_PROCESSED, REPORTED, "RFC8267-4-5"],
    hostile=True,
)
@pytest.mark.parametrize("procedure", ["getattr", "read", "write"])
def test_reduced_handle(bench, procedure):
    """A file handle in a read chunk: an error, and WRITE stores nothing."""
    handle = bench.file(b"content")
    conn = bench.connect()
    if procedure == "getattr":
        call = conn.nfs_call("GETATTR", object=handle)
    elif procedure == "read":
        call = conn.nfs_call("READ", file=handle, offset=0, count=7)
    else:
        call = write_call(conn, handle, b"replace")
    expect_not_processed(conn, reduced(conn, call, bytes(handle)))
    expect.data(bench.read_back(handle), b"content", NOT_PROCESSED, "content of the file")


@case(
    "server.binding.reduced-attributes",
    requirements=[NOT_PROCESSED, REPORTED, "RFC8267-4-5"],
    hostile=True,
)
def test_reduced_attributes(bench):
    """SETATTR with its attributes in a read chunk: an error, and the file keeps its size."""
    handle = bench.file(b"content")
    conn = bench.connect()
    call = conn.nfs_call("SETATTR", object=handle, new_attributes={"size": 3})
    position = bytes(call.payload).index(bytes(handle)) + len(handle) + -len(handle) % 4
    reduce_at(conn, call, position, len(call.payload) - position)
    expect_not_processed(conn, call)
    expect.data(bench.read_back(handle), b"content", NOT_PROCESSED, "content of the file")


@case("server.binding.reduced-credential", requirements=[NOT_PROCESSED, REPORTED], hostile=True)
def test_reduced_credential(bench):
    """The body of the RPC credential in a read chunk: no part of the RPC header may be reduced."""
    where = {"dir": bench.directory(), "name": bench.name("reduced-credential")}
    conn = bench.connect()
    call = conn.nfs_call("CREATE", where=where)
    length = int.from_bytes(bytes(call.payload)[28:32], "big")
    reduce_at(conn, call, 32, length)
    expect_not_processed(conn, call, AT_RPC_LEVEL)
    expect_absent(bench, where)


@case(
    "server.binding.name-beside-data",
    requirements=[NOT_PROCESSED, REPORTED, "RFC8267-4-5"],
    needs=["multiple-read-chunks"],
    hostile=True,
)
def test_reduced_name_beside_reduced_text(bench):
    """SYMLINK with its eligible text reduced, and its name too. One wrong chunk makes the call
    fail."""
    where = {"dir": bench.directory(), "name": bench.name("reduced-name")}
    conn = bench.connect()
    link = {"symlink_attributes": {}, "symlink_data": text_of(100)}
    call = conn.nfs_call("SYMLINK", where=where, symlink=link)
    conn.reduce(call)
    expect_not_processed(conn, reduced(conn, call, where["name"].encode()))
    expect_absent(bench, where)


@case("server.binding.superfluous-read-chunk", requirements=[NOT_PROCESSED, REPORTED], hostile=True)
def test_superfluous_read_chunk(bench):
    """GETATTR, complete and inline, has a read chunk behind its last argument. No part of it can
    have been reduced into that chunk."""
    conn = bench.connect()
    call = conn.nfs_call("GETATTR", object=bench.root)
    offer = conn.offer(64, read=True)
    call.add_read_chunk(len(call.payload), offer.segments())
    call.offers.append(offer)
    expect_not_processed(
        conn, call, {kinds.REPLY: "octets behind the arguments are not looked at (RFC 5667)"}
    )


@case("server.binding.count-{name}-{form}", requirements=["RFC8267-4-1"], hostile=True)
@pytest.mark.parametrize("form", ["inline", "reduced"])
@pytest.mark.parametrize("name", ["below-data", "above-data"])
def test_count_differs(bench, name, form):
    """The count of WRITE is not the length of its data: refused, or the smaller of both is stored.
    RFC 1813 3.3.7 requires them to be equal."""
    data = b"abcdefghijklmnopqrst"
    count = len(data) - 8 if name == "below-data" else len(data) + 8
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, data, count=count)
    if form == "reduced":
        conn.reduce(call)
    outcome = expect(
        conn.exchange(call),
        "RFC8267-4-1",
        must=[*kinds.REFUSED, "nfs:NFS3ERR_INVAL"],
        latitude={kinds.REPLY: "the smaller of count and data is stored"},
    )
    stored = data[: min(count, len(data))] if outcome.kind == kinds.REPLY else b""
    expect.data(bench.read_back(handle), stored, "RFC8267-4-1", "content of the file")


@case("server.binding.limits", requirements=["RFC8267-4-3"])
def test_limits(bench):
    """FSINFO returns usable limits: none is zero, and preferred sizes do not exceed them."""
    conn = bench.connect()
    outcome = conn.exchange(conn.nfs_call("FSINFO", fsroot=bench.root))
    expect(outcome, "RFC8267-4-3", must=[kinds.REPLY])
    limits = outcome.result.ok
    expect.at_least(limits.rtmax, 1, "RFC8267-4-3", "rtmax", outcome=outcome)
    expect.at_least(limits.wtmax, 1, "RFC8267-4-3", "wtmax", outcome=outcome)
    expect.at_most(limits.rtpref, limits.rtmax, "RFC8267-4-3", "rtpref against rtmax")
    expect.at_most(limits.wtpref, limits.wtmax, "RFC8267-4-3", "wtpref against wtmax")
