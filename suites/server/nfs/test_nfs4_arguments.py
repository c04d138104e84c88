"""Read chunks of a COMPOUND: data of WRITE, the text of a symbolic link, and nothing else.

The clauses are RFC 8267 6.1 and RFC 8166 3.4.5."""

import pytest

from steertag import nfs
from steertag.suite import case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.nfs4_client import getattr_of, putfh, write
from ..chunk_checks import expect_alive, reduce_at
from ..nfs4_checks import (
    NFS4,
    expect_content,
    largest_write,
    make_room,
    need_inline,
    note_fewer,
    status,
    with_file,
)

WRITE_DATA = "RFC8267-6.1-1"
REBUILT = "RFC8166-3.4.5-5"
LINK_DATA = "RFC8267-6.1-2"
NOTHING_ELSE = "RFC8267-6.1-5"


@case(
    "server.nfs4.binding.write-{form}-{length}",
    requirements=[WRITE_DATA],
    needs=["nfs41"],
    bugs=["B69", "B102", "B105"],
)
@pytest.mark.parametrize("form", ["inline", "chunk", "split", "padded"])
@pytest.mark.parametrize("length", [1, 3, 1024, 1025, 2999])
def test_write(bench, length, form):
    """WRITE with a GETATTR behind it. The data is inline, in one segment, in two, or with its
    roundup in the chunk (RFC 8166 3.4.5.2)."""
    content = bench.random.randbytes(length)
    session, handle = with_file(bench, b"")
    call = session.call(putfh(handle), write(content), getattr_of("size"))
    if form == "padded":
        position, item = call.take_all_eligible()[0]
        padded = item + bytes(-len(item) % 4)
        offer = session.conn.offer(len(padded), read=True, content=padded)
        call.add_read_chunk(position, offer.segments())
        call.offers.append(offer)
    elif form != "inline":
        sizes = [1, length - 1] if form == "split" and length > 1 else None
        session.conn.reduce_all(call, sizes)
    need_inline(bench, session.conn, call)
    outcome = session.conn.exchange(call)
    expect_written(session, outcome, handle, content)


def expect_written(session, outcome, handle, content):
    expect(outcome, WRITE_DATA, must=[kinds.REPLY])
    count = outcome.result["WRITE"].resok4.count
    if 0 < count < len(content):
        note_fewer(WRITE_DATA, "a WRITE")
        content = content[:count]
    expect.equal(count, len(content), WRITE_DATA, "count of WRITE", outcome=outcome)
    size = NFS4.attributes(outcome.result["GETATTR"].resok4.obj_attributes)["size"]
    expect.equal(size, len(content), WRITE_DATA, "size behind WRITE", outcome=outcome)
    expect_content(session, handle, content, WRITE_DATA)


@case("server.nfs4.binding.write-large", requirements=[WRITE_DATA], needs=["nfs41"])
def test_write_large(bench):
    """WRITE of 256 KiB in one chunk, or of as much as the server takes at once."""
    session, handle = with_file(bench, b"")
    content = bench.random.randbytes(min(1 << 18, largest_write(session, handle)))
    call = session.call(putfh(handle), write(content), getattr_of("size"))
    session.conn.reduce_all(call)
    expect_written(session, session.conn.exchange(call), handle, content)


@case(
    "server.nfs4.binding.two-writes-{name}",
    requirements=[WRITE_DATA, REBUILT],
    needs=["nfs41", "multiple-read-chunks"],
    bugs=["B12", "B31"],
)
@pytest.mark.parametrize("name", ["both", "first", "second"])
def test_two_writes(bench, name):
    """Two WRITEs in a COMPOUND. Each has a read chunk at its own position, or one is inline."""
    first, second = bench.random.randbytes(601), bench.random.randbytes(402)
    session, handle = with_file(bench, b"")
    operations = [putfh(handle), write(first), write(second, offset=601), getattr_of("size")]
    call = session.call(*operations)
    if name == "both":
        session.conn.reduce_all(call)
    else:
        found = nfs.binding.eligible_arguments(call.payload)
        item = found[0 if name == "first" else 1]
        reduce_at(session.conn, call, item.position, item.length)
    need_inline(bench, session.conn, call)
    outcome = session.conn.exchange(call)
    # A server that does not refuse both chunks has to put their octets into their places.
    refuses = name != "both" or outcome.kind in kinds.REFUSED
    expect(outcome, WRITE_DATA if refuses else REBUILT, must=[kinds.REPLY])
    counts = [each.resok4.count for each in outcome.result.all("WRITE")]
    if any(0 < count < length for count, length in zip(counts, (601, 402))):
        bench.not_testable("a WRITE of a few hundred octets is stored in parts")
    expect.equal(counts, [601, 402], WRITE_DATA, "counts of both WRITEs", outcome=outcome)
    expect_content(session, handle, first + second, WRITE_DATA)


@case("server.nfs4.binding.linkdata-{length}", requirements=[LINK_DATA], needs=["nfs41"])
@pytest.mark.parametrize("length", [1, 7, 1000])
def test_linkdata(bench, length):
    """CREATE of a symbolic link with its text in a read chunk."""
    text = "y" * length
    session = bench.nfs4_session()
    files = bench.nfs4_files(session)
    made = operation(
        "CREATE",
        objtype={"type": NFS4.FileType.NF4LNK, "linkdata": text},
        objname=bench.name("made"),
        createattrs=NFS4.fattr(mode=0o777),
    )
    # RFC 8881 2.10.6.4: a server may refuse a CREATE without GETFH behind it.
    call = session.call(putfh(files.directory), made, "GETFH", "READLINK")
    session.conn.reduce_all(call)
    make_room(session.conn, call, length)
    outcome = session.conn.exchange(call)
    expect(outcome, LINK_DATA, must=[kinds.REPLY])
    seen = outcome.result["READLINK"].resok4.link
    expect.equal(seen, text, LINK_DATA, "text of the link", outcome=outcome)


REDUCED_OTHERS = {
    "name": "RFC8166-6.1-3",
    "handle": "RFC8166-6.1-3",
    "attributes": "RFC8166-6.1-3",
    "union": "RFC8166-3.4.4.3-1",
}


@case(
    "server.nfs4.binding.reduced-{name}",
    requirements=[NOTHING_ELSE, *sorted(set(REDUCED_OTHERS.values()))],
    needs=["nfs41"],
    hostile=True,
)
@pytest.mark.parametrize("name", REDUCED_OTHERS)
def test_reduced_others(bench, name):
    """A read chunk replaces an argument that is not eligible: the name of a new directory, a file
    handle, attributes, or a whole union."""
    session = bench.nfs4_session()
    files = bench.nfs4_files(session)
    stem = bench.name("directory").ljust(64, "x")
    attributes = NFS4.fattr(mode=0o755)
    made = operation(
        "CREATE",
        objtype={"type": NFS4.FileType.NF4DIR},
        objname=stem,
        createattrs=attributes,
    )
    call = session.call(putfh(files.directory), made, "GETFH")
    item = {"name": stem.encode(), "handle": files.directory, "attributes": attributes.attr_vals}
    if name == "union":
        # objtype is between the operation's number and the name. It is a discriminant without an
        # arm.
        position, length = bytes(call.payload).rindex(stem.encode()) - 8, 4
    else:
        position, length = bytes(call.payload).rindex(item[name]), len(item[name])
    reduce_at(session.conn, call, position, length)
    outcome = session.conn.exchange(call)
    closed = dict.fromkeys(kinds.CLOSED, "the connection ends (RFC 8166 4.5.4)")
    rule = REDUCED_OTHERS[name] if name == "union" else NOTHING_ELSE
    expect(outcome, rule, must=[*kinds.REFUSED, status("NFS4ERR_BADXDR")], latitude=closed)
    expect_alive(session.conn, REDUCED_OTHERS[name])
