"""Grants of direct access: who gets references, how many, and what READ and BATCH say (docs/direct-access.md)."""

import pytest

from steertag.nfs import direct
from steertag.suite import case, expect, kinds
from steertag.suite.nfs_client.nfs_message import auth_sys
from ..changed_directory import ChangedDirectory
from ..chunk_checks import chunk_length, write_call
from ..direct_user import DirectUser, MOST_INLINE

UNASKED, PERMITTED, TIMES, REGISTERED = "ODAFS-2", "ODAFS-8", "ODAFS-25", "ODAFS-26"
LIMITED, OTHERS, BATCH, SAME = "ODAFS-27", "ODAFS-28", "ODAFS-36", "ODAFS-41"
NEEDS = ["direct-access"]
OCTETS = 200
# Another user than the suite's, who is neither owner nor in the group.
STRANGER = 4711
DENIED = "nfs:NFS4ERR_ACCESS"
MOST_LENT = 1024
# Of a user before it has memory.
STATES = ["before-hello", "before-connection", "want-none"]


def make_file(bench, octets=OCTETS):
    """(handle, content) of a new file."""
    content = bench.random.randbytes(octets)
    return bench.file(content), content


def read_args(handle, offset=0, count=OCTETS, want_refs=1):
    return direct.ReadArgs(file=handle, offset=offset, count=count, want_refs=want_refs)


@case("server.direct.permission-{procedure}", requirements=[PERMITTED], needs=NEEDS)
@pytest.mark.parametrize("procedure", ["refs", "read", "batch"])
def test_permission(bench, procedure):
    """A user who may not read a file asks for references to it. It gets none, and no data."""
    place = ChangedDirectory(bench)
    handle = place.make_file("private", bench.random.randbytes(OCTETS))
    place.set_mode(handle, 0o600)
    user = DirectUser(bench, credential=auth_sys(STRANGER, STRANGER))
    before = user.counters().grants
    if procedure == "refs":
        outcome = user.exchange("REFS", user.refs_args(handle))
        expect(outcome, PERMITTED, must=[DENIED])
    elif procedure == "read":
        expect(user.exchange("READ", read_args(handle)), PERMITTED, must=[DENIED])
    else:
        outcome = user.exchange("BATCH", direct.BatchArgs(reads=[read_args(handle)]))
        expect(outcome, PERMITTED, must=[kinds.REPLY])
        statuses = [each.status.name for each in outcome.result.results]
        expect.equal(statuses, ["NFS4ERR_ACCESS"], PERMITTED, "statuses of BATCH", outcome=outcome)
    expect.equal(user.counters().grants, before, PERMITTED, "grants in COUNTERS")


@case("server.direct.unasked-{state}", requirements=[UNASKED], needs=NEEDS)
@pytest.mark.parametrize("state", STATES)
def test_unasked(bench, state):
    """READ before HELLO, before the optimistic connection, and with want_refs 0: data come, and no references. REFS
    gives none either."""
    handle, content = make_file(bench)
    user = DirectUser(bench, opens=state == "want-none", says_hello=state != "before-hello")
    want = 0 if state == "want-none" else 1
    before = user.counters().grants
    outcome = expect(
        user.exchange("READ", read_args(handle, want_refs=want)), UNASKED, must=["reply"]
    )
    expect.data(outcome.result.resok4.data, content, UNASKED, "data of READ", outcome=outcome)
    expect.equal(len(outcome.result.resok4.refs), 0, UNASKED, "references of READ", outcome=outcome)
    outcome = user.exchange("REFS", user.refs_args(handle, want))
    expect(outcome, UNASKED, must=[kinds.REPLY])
    expect.equal(len(outcome.result.resok4.refs), 0, UNASKED, "references of REFS", outcome=outcome)
    expect.equal(user.counters().grants, before, UNASKED, "grants in COUNTERS")


@case("server.direct.most-references", requirements=[LIMITED, OTHERS], needs=NEEDS)
def test_most_references(bench):
    """A user asks for more references than most_references. It gets no more. A file can still be written, and another
    user's READ has the new data."""
    written, content = make_file(bench)
    user, other = DirectUser(bench), DirectUser(bench)
    most, block = user.terms.most_references, user.terms.block_bytes
    if most > MOST_LENT:
        bench.not_testable(f"most_references is above {MOST_LENT}")
    handle = bench.sparse_file((most + 2 * MOST_INLINE) * block)
    got = set()
    for first in range(0, most + 2 * MOST_INLINE, MOST_INLINE):
        found = user.references(handle, MOST_INLINE, first * block)
        got |= {each.offset for each in found}
    expect.at_least(len(got), 1, LIMITED, "references to a file of many blocks")
    expect.at_most(len(got), most, LIMITED, "references that one user has")
    fresh = bench.random.randbytes(len(content))
    outcome = other.conn.exchange(write_call(other.conn, written, fresh))
    expect(outcome, OTHERS, must=[kinds.REPLY])
    outcome = expect(other.exchange("READ", read_args(written)), OTHERS, must=[kinds.REPLY])
    expect.data(outcome.result.resok4.data, fresh, OTHERS, "data of READ", outcome=outcome)


@case("server.direct.batch-order", requirements=[BATCH], needs=[*NEEDS, "large-inline"])
def test_batch_order(bench):
    """BATCH of as many READs as it takes, each of another part. Its one reply has their results in order."""
    handle, content = make_file(bench, 1600)
    user = DirectUser(bench)
    spans = [(100 * number, 20 + number) for number in range(direct.MOST_READS)]
    bench.random.shuffle(spans)
    reads = [read_args(handle, offset, count, want_refs=0) for offset, count in spans]
    outcome = expect(user.exchange("BATCH", direct.BatchArgs(reads=reads)), BATCH, must=["reply"])
    got = outcome.result.results
    expect.equal(len(got), len(reads), BATCH, "results of BATCH", outcome=outcome)
    for number, ((offset, count), each) in enumerate(zip(spans, got)):
        expect.equal(
            each.status.name, "NFS4_OK", BATCH, f"status of READ {number}", outcome=outcome
        )
        wanted = content[offset : offset + count]
        expect.data(each.resok4.data, wanted, BATCH, f"data of READ {number}", outcome=outcome)
    expect(user.conn.probe(), BATCH, must=[kinds.REPLY])


@case("server.direct.batch-failure-{place}", requirements=[BATCH], needs=NEEDS)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_batch_failure(bench, place):
    """BATCH with a READ of a directory, first, in the middle, or last. It fails alone; the others have data and
    references."""
    handle, content = make_file(bench)
    user = DirectUser(bench)
    reads = [read_args(handle) for _ in range(3)]
    reads[place] = read_args(bench.directory())
    outcome = expect(user.exchange("BATCH", direct.BatchArgs(reads=reads)), BATCH, must=["reply"])
    got = outcome.result.results
    expect.equal(len(got), len(reads), BATCH, "results of BATCH", outcome=outcome)
    for number, each in enumerate(got):
        if number == place:
            expect.equal(
                each.status.name, "NFS4ERR_ISDIR", BATCH, "status of the READ of a directory"
            )
            continue
        expect.equal(
            each.status.name, "NFS4_OK", BATCH, f"status of READ {number}", outcome=outcome
        )
        expect.data(each.resok4.data, content, BATCH, f"data of READ {number}", outcome=outcome)
        expect.equal(len(each.resok4.refs), 1, BATCH, f"references of READ {number}")
        user.expect_block(each.resok4.refs[0], content, BATCH)


@case("server.direct.batch-chunks", requirements=[BATCH], needs=NEEDS)
def test_batch_chunks(bench):
    """BATCH with a write chunk for each of three READs, the second one of a directory. The data are in the chunks of
    their READs, and that of the failed one comes back empty."""
    handle, content = make_file(bench, 3 * OCTETS)
    user = DirectUser(bench)
    reads = [read_args(handle), read_args(bench.directory()), read_args(handle, 2 * OCTETS)]
    call = user.call("BATCH", direct.BatchArgs(reads=reads))
    for _ in reads:
        user.conn.write_chunk(call, OCTETS)
    outcome = expect(user.conn.exchange(call), BATCH, must=[kinds.REPLY])
    lengths = [chunk_length(outcome.returned(number)) for number in range(len(reads))]
    wanted = [OCTETS, 0, OCTETS]
    expect.equal(lengths, wanted, BATCH, "octets of the write chunks", outcome=outcome)
    for number, part in ((0, content[:OCTETS]), (2, content[2 * OCTETS :])):
        expect.data(outcome.octets(number), part, BATCH, f"chunk of READ {number}", outcome=outcome)
        data = outcome.result.results[number].resok4.data
        expect.data(data, part, BATCH, f"data of READ {number}", outcome=outcome)


@case("server.direct.read-nothing", requirements=[REGISTERED], needs=NEEDS)
def test_read_nothing(bench):
    """READ of no octets gives references, and an RDMA Read of no octets of a frame completes."""
    handle, content = make_file(bench)
    user = DirectUser(bench)
    outcome = user.exchange("READ", read_args(handle, count=0))
    expect(outcome, REGISTERED, must=[kinds.REPLY])
    expect.data(outcome.result.resok4.data, b"", REGISTERED, "data of READ", outcome=outcome)
    expect.equal(len(outcome.result.resok4.refs), 1, REGISTERED, "references", outcome=outcome)
    reference = outcome.result.resok4.refs[0]
    octets = user.optimistic.read(reference.stag, reference.base, 0)
    expect.true(octets == b"", REGISTERED, "an RDMA Read of no octets completes")
    user.expect_block(reference, content, REGISTERED)


@case("server.direct.times", requirements=[TIMES], needs=NEEDS)
def test_times(bench):
    """Optimistic Reads leave all attributes of the file as they are, time_access too."""
    place = ChangedDirectory(bench)
    content = bench.random.randbytes(OCTETS)
    handle = place.make_file("read", content)
    user = DirectUser(bench)
    reference = user.reference(handle)
    before = place.attributes(handle)
    for _ in range(3):
        user.expect_block(reference, content, TIMES)
    expect.equal(place.attributes(handle), before, TIMES, "attributes after Reads", show=False)


@case(
    "server.direct.beside-nfs",
    requirements=[SAME],
    needs=NEEDS,
    unbroken=f"{SAME}: NFS never looks at who uses direct access.",
)
def test_beside_nfs(bench):
    """A client that uses NFS alone reads, writes and looks while another one has references. It gets what it would
    without."""
    handle, content = make_file(bench)
    plain = bench.connect()
    asked = {"file": handle, "offset": 0, "count": OCTETS}
    before = expect(plain.exchange(plain.nfs_call("READ", **asked)), SAME, must=[kinds.REPLY])
    user = DirectUser(bench)
    user.expect_block(user.reference(handle), content, SAME)
    after = expect(plain.exchange(plain.nfs_call("READ", **asked)), SAME, must=[kinds.REPLY])
    expect.data(after.result.ok.data, before.result.ok.data, SAME, "data of READ", outcome=after)
    expect.equal(after.result.ok.eof, before.result.ok.eof, SAME, "eof of READ", outcome=after)
    fresh = bench.random.randbytes(OCTETS)
    wrote = plain.exchange(plain.nfs_call("WRITE", data=fresh, stable=2, **asked))
    expect(wrote, SAME, must=[kinds.REPLY])
    expect.data(bench.read_back(handle), fresh, SAME, "content of the file")
