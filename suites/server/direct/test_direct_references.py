"""References of direct access: what they show, to whom, and what they do not (docs/direct-access.md)."""

import pytest

from steertag.nfs import direct
from steertag.suite import case, expect
from ..changed_directory import ChangedDirectory
from ..direct_user import DirectUser, expect_nothing_of

READ_ONLY, BOUNDS, OWNER = "ODAFS-3", "ODAFS-4", "ODAFS-5"
ONE_BLOCK, REGISTERED, ALONE, CLOSED = "ODAFS-7", "ODAFS-26", "ODAFS-30", "ODAFS-33"
REFUSAL = "ODAFS-34"
NEEDS = ["direct-access"]
OCTETS = 1000  # of a file that has one block
FAR = 1 << 20
# Name: where a Read begins, counted from the frame, and how many octets more than the frame it has.
NEIGHBOURS = {
    "before": (-1, 0),
    "behind": (0, 1),
    "behind-four": (0, 4),
    "last-and-next": (1, 0),
    "far-before": (-FAR, 0),
    "far-behind": (FAR, 0),
}
# Name: a steering tag made of that of a reference.
GUESSES = {
    "zero": lambda stag: 0,
    "largest": lambda stag: 0xFFFFFFFF,
    "next-key": lambda stag: stag ^ 0x01,
    "next-index": lambda stag: (stag + 0x100) & 0xFFFFFFFF,
    "other-half": lambda stag: stag ^ 0xFFFF0000,
}
READS_IN_FLIGHT = 8


def make_file(bench, octets=OCTETS):
    """(handle, content) of a new file."""
    content = bench.random.randbytes(octets)
    return bench.file(content), content


@case("server.direct.reference", requirements=[BOUNDS, REGISTERED], needs=NEEDS)
def test_reference(bench):
    """A reference of REFS leads to a valid frame with the octets of the file, at the second Read too."""
    handle, content = make_file(bench)
    user = DirectUser(bench)
    reference = user.reference(handle)
    for _ in range(2):
        user.expect_block(reference, content, REGISTERED)
    expect.equal(reference.length, OCTETS, BOUNDS, "length of a reference to the whole file")


@case("server.direct.neighbour-{name}", requirements=[BOUNDS, ALONE], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", NEIGHBOURS)
def test_neighbour(bench, name):
    """An RDMA Read with an octet that is not of the frame. None comes, and the connection ends."""
    handle, content = make_file(bench)
    user, other = DirectUser(bench), DirectUser(bench)
    mine, reference = other.reference(handle), user.reference(handle)
    shift, more = NEIGHBOURS[name]
    length = reference.length + direct.FRAME_OCTETS + more
    octets = user.optimistic.read(reference.stag, reference.base + shift, length)
    user.expect_refused(octets, BOUNDS, "a Read of an octet beside the frame")
    user.expect_alive()
    other.expect_block(mine, content, ALONE)


@case(
    "server.direct.guess-{name}", requirements=[BOUNDS, ALONE, REFUSAL], needs=NEEDS, hostile=True
)
@pytest.mark.parametrize("name", GUESSES)
def test_guess(bench, name):
    """An RDMA Read of a steering tag that was not granted. No octet comes, and the connection ends: the client has not
    said that refusals may be recoverable."""
    handle, _ = make_file(bench)
    user = DirectUser(bench)
    reference = user.reference(handle)
    stag = GUESSES[name](reference.stag)
    octets = user.optimistic.read(stag, reference.base, reference.length)
    answer = bytes(user.optimistic.conn.raw.private_data)
    what = "no word of recoverable refusals without the client's"
    expect.true(not direct.is_recoverable(answer), REFUSAL, what)
    user.expect_refused(octets, BOUNDS, "a Read of a guessed steering tag")
    user.expect_alive()


@case("server.direct.foreign-reference", requirements=[OWNER, ALONE], needs=NEEDS, hostile=True)
def test_foreign_reference(bench):
    """A user reads by the reference of another one, whose own Read works before and after."""
    handle, content = make_file(bench)
    owner, thief = DirectUser(bench), DirectUser(bench)
    reference = owner.reference(handle)
    owner.expect_block(reference, content, OWNER)
    octets = thief.optimistic.frame(reference)
    thief.expect_refused(octets, OWNER, "a Read by the reference of another user")
    owner.expect_block(reference, content, ALONE)


@case("server.direct.written-reference", requirements=[READ_ONLY, ALONE], needs=NEEDS, hostile=True)
def test_written_reference(bench):
    """An RDMA Write to a reference. It ends the connection; file and frames of others are as they were."""
    handle, content = make_file(bench)
    user, other = DirectUser(bench), DirectUser(bench)
    mine, reference = other.reference(handle), user.reference(handle)
    conn = user.optimistic.conn
    conn.raw.rdma_write(b"\xa5" * OCTETS, reference.stag, reference.base)
    # The Read behind it: an RDMA Write alone gets no answer.
    octets = user.optimistic.frame(reference)
    user.expect_refused(octets, READ_ONLY, "an RDMA Write to a reference")
    other.expect_block(mine, content, READ_ONLY)
    expect.data(bench.read_back(handle), content, READ_ONLY, "content of the file")
    user.expect_alive()


@case("server.direct.returned-reference", requirements=[ONE_BLOCK], needs=NEEDS, hostile=True)
def test_returned_reference(bench):
    """A Read by a reference that was given back, after a grant of a file of the same length. It shows nothing of that
    file."""
    first, second = make_file(bench), make_file(bench)
    user = DirectUser(bench)
    old = user.reference(first[0])
    user.result("RETURN", direct.ReturnArgs(refs=[old]))
    user.reference(second[0])
    expect_nothing_of(second[1], user.optimistic.frame(old), ONE_BLOCK)


@case("server.direct.returned-in-flight", requirements=[CLOSED], needs=NEEDS, hostile=True)
def test_returned_in_flight(bench):
    """References are given back while Reads by them are in flight, and another file gets references at once. A Read
    gives the octets of its own file, or the connection ends."""
    user = DirectUser(bench)
    block = user.terms.block_bytes
    handle = bench.sparse_file(block)
    other, content = make_file(bench)
    old = user.reference(handle)
    started = [user.optimistic.start_frame(old) for _ in range(READS_IN_FLIGHT)]
    back = user.call("RETURN", direct.ReturnArgs(refs=[old]))
    more = user.call("REFS", user.refs_args(other, 1))
    outcomes = user.conn.collect([back, more])
    expect(outcomes[back.xid], CLOSED, must=["reply"])
    expect(outcomes[more.xid], CLOSED, must=["reply"])
    for each in started:
        frame = user.optimistic.finish(each)
        expect_nothing_of(content, frame, CLOSED)
        data = None if frame is None else direct.open_frame(frame, old.generation)
        expect.true(data in (None, bytes(block)), CLOSED, "a valid frame has its own octets")


@case("server.direct.revoked-address", requirements=[ONE_BLOCK, REGISTERED], needs=NEEDS)
def test_revoked_address(bench):
    """A Read by a reference that a WRITE has revoked, after a grant of a file of the same length. It completes, and
    shows nothing of that file."""
    place = ChangedDirectory(bench)
    changed = place.make_file("changed", bench.random.randbytes(OCTETS))
    handle, content = make_file(bench)
    user = DirectUser(bench)
    old = user.reference(changed)
    place.write(changed, bench.random.randbytes(OCTETS))
    user.reference(handle)
    expect_nothing_of(content, user.expect_frame(old, REGISTERED), ONE_BLOCK)


@case("server.direct.old-generation", requirements=[ONE_BLOCK], needs=NEEDS)
def test_old_generation(bench):
    """A block is granted, changed, and granted again. The first reference leads to no valid frame, the second one to
    the new octets."""
    place = ChangedDirectory(bench)
    fresh = bench.random.randbytes(OCTETS)
    handle = place.make_file("changed", bench.random.randbytes(OCTETS))
    user = DirectUser(bench)
    old = user.reference(handle)
    place.write(handle, fresh)
    new = user.reference(handle)
    expect.true(old.generation != new.generation, ONE_BLOCK, "a new grant has another generation")
    user.expect_block(new, fresh, ONE_BLOCK)
    data = direct.open_frame(user.expect_frame(old, ONE_BLOCK), old.generation)
    expect.true(data is None, ONE_BLOCK, "the frame of the first reference is invalid")
