"""Uses of the fuzzed server by NFS version 3: names of all kinds, and chunks of all kinds."""

from fuzz_talk import EXPORT, LISTING_OCTETS, where

from steertag import nfs
from steertag.suite.nfs_client.nfs4_client import lookup, read, write

NFS3 = nfs.nfs3
UNCHECKED = 0
UNSTABLE, FILE_SYNC = 0, 2
ACCESS_ALL = 0x3F
# Octets of a chunk that no result uses.
UNUSED_OCTETS = 64
# Octets of a reply beside the data that it carries.
BESIDE_DATA = 256
# Of a segmented chunk.
SEGMENTS = 3


def names(talk, size, name):
    """Each procedure of NFS version 3 but NULL, in a directory of its own."""
    root = talk.mount()
    directory = talk.call3("MKDIR", where=where(root, name), attributes={"mode": 0o755}).ok.obj
    how = {"mode": UNCHECKED, "obj_attributes": {"mode": 0o644}}
    file = talk.call3("CREATE", where=where(directory, "file"), how=how).ok.obj
    data = {"offset": 0, "count": size, "stable": UNSTABLE, "data": bytes(size)}
    talk.call3("WRITE", file=file, **data)
    talk.call3("COMMIT", file=file, offset=0, count=size)
    found = talk.call3("GETATTR", object=file).ok.obj_attributes
    change = {"new_attributes": {"mode": 0o600, "size": size}, "guard": found.ctime}
    talk.call3("SETATTR", object=file, **change)
    talk.call3("ACCESS", object=file, access=ACCESS_ALL)
    talk.call3("LINK", file=file, link=where(directory, "link"))
    text = {"symlink_attributes": {}, "symlink_data": "file"}
    symlink = talk.call3("SYMLINK", where=where(directory, "symlink"), symlink=text).ok.obj
    talk.call3("READLINK", result_octets=UNUSED_OCTETS, symlink=symlink)
    fifo = {"type": NFS3.FileType.NF3FIFO, "attributes": {"mode": 0o644}}
    talk.call3("MKNOD", where=where(directory, "fifo"), what=fifo)
    talk.call3("RENAME", from_=where(directory, "link"), to=where(directory, "file-2"))
    talk.call3("LOOKUP", what=where(directory, "file-2"))
    start = {"dir": directory, "cookie": 0, "cookieverf": bytes(8)}
    talk.listing3("READDIR", count=LISTING_OCTETS // 2, **start)
    talk.listing3("READDIRPLUS", dircount=512, maxcount=LISTING_OCTETS // 2, **start)
    talk.call3("READ", result_octets=size, file=file, offset=0, count=size)
    talk.call3("FSSTAT", fsroot=root)
    talk.call3("FSINFO", fsroot=root)
    talk.call3("PATHCONF", object=directory)
    for each in ("file", "file-2", "symlink", "fifo"):
        talk.call3("REMOVE", object=where(directory, each))
    talk.call3("RMDIR", object=where(root, name))


def chunks(talk, size, name):
    """A file is written and read by chunks of all kinds, which only RPC over RDMA has."""
    conn = talk.conn
    root = talk.mount()
    how = {"mode": UNCHECKED, "obj_attributes": {"mode": 0o644}}
    file = talk.call3("CREATE", where=where(root, name), how=how).ok.obj
    for form in (segmented, long_with_data, long_alone):
        data = {"offset": 0, "count": size, "stable": FILE_SYNC, "data": bytes(size)}
        call = conn.nfs_call("WRITE", file=file, **data)
        form(conn, call, size)
        talk.ask(call)
    for form in (into_segments, beside_reply_chunk, into_reply_chunk):
        call = conn.nfs_call("READ", file=file, offset=0, count=size)
        form(conn, call, size)
        talk.ask(call)
    unused = conn.nfs_call("GETATTR", object=file)
    unused.add_write_chunk([])
    conn.write_chunk(unused, UNUSED_OCTETS)
    conn.reply_chunk(unused, LISTING_OCTETS)
    talk.ask(unused)
    both_ways(talk, size, name)
    talk.call3("REMOVE", object=where(root, name))


def parts(octets):
    """The sizes of SEGMENTS segments of so many octets together."""
    each = octets // SEGMENTS
    return [octets - each * (SEGMENTS - 1), *[each] * (SEGMENTS - 1)]


def segmented(conn, call, size):
    """The data in a read chunk of several segments."""
    conn.reduce(call, parts(size))


def long_with_data(conn, call, _size):
    """The call in a position-zero chunk, and its data in a second read chunk."""
    conn.reduce(call)
    conn.long_call(call, parts(len(call.payload)))


def long_alone(conn, call, _size):
    """The whole call in a position-zero chunk."""
    conn.long_call(call, parts(len(call.payload)))


def into_segments(conn, call, size):
    """The data into a write chunk of several segments."""
    conn.write_chunk(call, sizes=parts(size))


def beside_reply_chunk(conn, call, size):
    """The data into a write chunk, with a reply chunk that stays unused."""
    conn.write_chunk(call, size)
    conn.reply_chunk(call, LISTING_OCTETS)


def into_reply_chunk(conn, call, size):
    """The whole reply into a reply chunk of several segments."""
    conn.reply_chunk(call, sizes=parts(size + BESIDE_DATA))


def both_ways(talk, size, name):
    """A COMPOUND with two read chunks, and one with two write chunks."""
    conn = talk.conn
    path = ["PUTROOTFH", lookup(EXPORT), lookup(name)]
    call = conn.compound_call(
        *path, write(bytes(size)), write(bytes(size), offset=size), minorversion=0
    )
    conn.reduce_all(call)
    talk.ask(call)
    call = conn.compound_call(*path, read(size), read(size, offset=size), minorversion=0)
    for _ in range(2):
        conn.write_chunk(call, size)
    talk.ask(call)
