"""Revocation of references: what a change of a file leaves of them when its reply comes (docs/direct-access.md)."""

import pytest

from steertag.nfs import direct
from steertag.suite import case, expect
from ..changed_directory import FILE_SYNC
from ..chunk_checks import write_call
from ..direct_user import DirectUser
from .shared_file import NAME, SharedFile

FRESH, READERS, UNMIXED = "ODAFS-9", "ODAFS-10", "ODAFS-24"
REGISTERED, ZEROS = "ODAFS-26", "ODAFS-32"
NEEDS = ["direct-access"]
OCTETS = 1000
# Reads of a block beside WRITEs of all of it: about a second. ci/nightly makes a million of them by our own client.
TORN_READS = 480
# Those that are in flight during one WRITE.
READS = 6


# Changes of the data: what stands at an offset that was granted is not what it was.
CHANGES = {
    "first-octet": lambda file: file.write_at(0, b"\xa5"),
    "last-octet": lambda file: file.write_at(OCTETS - 1, b"\xa5"),
    "all": lambda file: file.write_at(0, b"\xa5" * OCTETS),
    "append": lambda file: file.write_at(OCTETS, b"\xa5"),
    "behind-end": lambda file: file.write_at(3 * OCTETS, b"\xa5"),
    "cut": lambda file: file.set_attributes(size=OCTETS - 1),
    "cut-to-nothing": lambda file: file.set_attributes(size=0),
    "grow": lambda file: file.set_attributes(size=OCTETS + 1),
}
# Changes of who may read.
ACCESS = {
    "mode": lambda file: file.set_attributes(mode=0),
    "owner": lambda file: file.set_attributes(uid=4711),
    "group": lambda file: file.set_attributes(gid=4711),
    "remove": lambda file: file.remove(NAME),
    "replace": lambda file: file.rename_over(),
}


@case("server.direct.change-{name}", requirements=[FRESH, REGISTERED], needs=NEEDS)
@pytest.mark.parametrize("name", CHANGES)
def test_change(bench, name):
    """Another client changes a block that two users have references to. After the reply Reads of both complete, and
    no frame is valid."""
    file = SharedFile(bench, bench.random.randbytes(OCTETS))
    users = [DirectUser(bench), DirectUser(bench)]
    references = [user.reference(file.file) for user in users]
    for user, reference in zip(users, references):
        user.expect_block(reference, file.content, REGISTERED)
    CHANGES[name](file)
    for user, reference in zip(users, references):
        data = direct.open_frame(user.expect_frame(reference, REGISTERED), reference.generation)
        expect.true(data is None, FRESH, "no frame of before the change is valid after its reply")


@case("server.direct.access-{name}", requirements=[READERS, REGISTERED], needs=NEEDS)
@pytest.mark.parametrize("name", ACCESS)
def test_access(bench, name):
    """Another client takes away the right to read a file, or the file. After the reply the frame is invalid and its
    data are gone."""
    file = SharedFile(bench, bench.random.randbytes(OCTETS))
    user = DirectUser(bench)
    reference = user.reference(file.file)
    user.expect_block(reference, file.content, REGISTERED)
    ACCESS[name](file)
    frame = user.expect_frame(reference, REGISTERED)
    data = direct.open_frame(frame, reference.generation)
    expect.true(data is None, READERS, "no frame of before the change is valid after its reply")
    head = direct.FRAME_HEAD_OCTETS
    left = frame[head : head + OCTETS]
    expect.data(left, bytes(OCTETS), READERS, "octets where the data of the frame were")


@case("server.direct.other-block", requirements=[REGISTERED, FRESH], needs=NEEDS)
def test_other_block(bench):
    """A WRITE to the second block of a file. The reference to it is void; one to the first block may stay, and then
    has its octets."""
    user = DirectUser(bench)
    block = user.terms.block_bytes
    handle = bench.sparse_file(2 * block)
    first, second = user.references(handle, 2)
    conn = bench.files.conn
    asked = {"file": handle, "offset": block, "count": 8, "stable": FILE_SYNC}
    expect(conn.exchange(conn.nfs_call("WRITE", data=b"\xa5" * 8, **asked)), FRESH, must=["reply"])
    data = direct.open_frame(user.expect_frame(second, REGISTERED), second.generation)
    expect.true(data is None, FRESH, "no frame of the changed block is valid")
    kept = direct.open_frame(user.expect_frame(first, REGISTERED), first.generation)
    if kept is not None:
        expect.data(kept, bytes(block), FRESH, "frame of the block that was not changed")


@case("server.direct.grown-file", requirements=[ZEROS], needs=NEEDS)
def test_grown_file(bench):
    """A file is cut and grows again, without octets. A new frame has zeros where the old octets were."""
    file = SharedFile(bench, bench.random.randbytes(OCTETS))
    user = DirectUser(bench)
    user.expect_block(user.reference(file.file), file.content, ZEROS)
    file.set_attributes(size=OCTETS // 4)
    short = user.reference(file.file)
    user.expect_block(short, file.content[: OCTETS // 4], ZEROS)
    file.set_attributes(size=OCTETS)
    wanted = file.content[: OCTETS // 4].ljust(OCTETS, b"\0")
    user.expect_block(user.reference(file.file), wanted, ZEROS)


@case("server.direct.beside-a-writer", requirements=[UNMIXED, FRESH, REGISTERED], needs=NEEDS)
def test_beside_a_writer(bench):
    """Another client overwrites a block while it is read. A valid frame has the octets of one WRITE alone. After the
    reply no frame has those of the WRITE before."""
    user, writer = DirectUser(bench), bench.connect()
    block = user.terms.block_bytes
    handle = bench.sparse_file(block)
    for number in range(TORN_READS // READS):
        old, new = (bytes([value % 256]) * block for value in (number, number + 1))
        reference = user.reference(handle)
        user.expect_block(reference, old, REGISTERED)
        call = write_call(writer, handle, new)
        writer.reduce(call)
        writer.send(call)
        started = [user.optimistic.start_frame(reference) for _ in range(READS)]
        for each in started:
            _expect_one_of(user.optimistic.finish(each), reference, (old, new))
        expect(writer.await_outcome(call), FRESH, must=["reply"])
        data = _expect_one_of(user.expect_frame(reference, REGISTERED), reference, (old, new))
        expect.true(data is None, FRESH, "no frame of before the WRITE is valid after its reply")


def _expect_one_of(frame, reference, contents):
    """The data of a frame, which is one of the contents unless it is invalid (None)."""
    expect.true(frame is not None, REGISTERED, "the RDMA Read of a frame completes")
    data = direct.open_frame(frame, reference.generation)
    whole = data is None or data in contents
    expect.true(whole, UNMIXED, "a valid frame has the octets of one WRITE alone")
    return data
