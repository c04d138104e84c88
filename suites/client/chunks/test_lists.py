"""What the chunk lists of a client's calls must not hold.

That is more than any server need take (RFC 8267 6.4.2), chunks for nothing (RFC 8166 4.3), and room
for roundup. Thresholds of 1024 octets make the client use chunks.
"""

from steertag import nfs, wire
from steertag.suite import case, expect
from steertag.suite.client.client_kinds import COMPLETED
from steertag.suite.client.script import NFS, operations_of, procedure_of
from .chunk_lists import largest_results, lengths, read_chunks, reduced, rooms
from ..call_kinds import word

SMALL = {"inline_bytes": 1024}
ONE_READ_CHUNK, ONE_WRITE_CHUNK = "RFC8267-6.4.2-2", "RFC8267-6.4.2-3"
PROC_AT = 12  # rdma_proc in a message
SIXTEEN_SEGMENTS, MOST_SEGMENTS = "RFC8267-6.4.2-4", 16
# Headers of a reply, and the largest verifier (RFC 5531 8.2), that a client may count with.
BESIDE_RESULTS, LEAST_THRESHOLD = 28 + 400, 1024
# RFC 1813 3.3: results of numbers and attributes alone, of GETATTR, SETATTR, ACCESS, WRITE, REMOVE, RMDIR,
# RENAME, LINK, FSSTAT, FSINFO, PATHCONF and COMMIT.
FIXED_PROCEDURES = {1, 2, 4, 7, 12, 13, 14, 15, 18, 19, 20, 21}
# RFC 8881 18: the same, and of a COMPOUND only the tag besides, which is the call's.
FIXED_OPERATIONS = {
    "ACCESS",
    "BIND_CONN_TO_SESSION",
    "CLOSE",
    "COMMIT",
    "DELEGRETURN",
    "DESTROY_CLIENTID",
    "DESTROY_SESSION",
    "LINK",
    "LOOKUP",
    "PUTFH",
    "PUTROOTFH",
    "RECLAIM_COMPLETE",
    "REMOVE",
    "RENAME",
    "RESTOREFH",
    "SAVEFH",
    "SEQUENCE",
    "WRITE",
}


def calls_of(bench, **server):
    """[Sent]: the calls of one use."""
    found = [sent for _, sent in bench.use(server=server).calls]
    if not found:
        bench.not_testable("the client makes no call")
    return found


@case(
    "client.lists.one-read-chunk",
    requirements=[ONE_READ_CHUNK],
    needs=["client-nfs4.1", "client-read-chunks"],
)
def test_one_read_chunk(bench):
    """Beside a position-zero chunk a read list holds one chunk at most."""
    chunks = [len(read_chunks(sent.header)) for sent in calls_of(bench, **SMALL)]
    expect.at_most(max(chunks), 1, ONE_READ_CHUNK, "read chunks of a call beside a long one's")


@case(
    "client.lists.one-write-chunk",
    requirements=[ONE_WRITE_CHUNK],
    needs=["client-nfs4.1", "client-write-chunks"],
)
def test_one_write_chunk(bench):
    """A write list holds one chunk at most."""
    chunks = [len(sent.header.write_list) for sent in calls_of(bench, **SMALL)]
    expect.at_most(max(chunks), 1, ONE_WRITE_CHUNK, "write chunks of a call")


def _segments(header):
    """The number of segments of each chunk."""
    positions = [entry.position for entry in header.read_list]
    counts = [positions.count(position) for position in set(positions)]
    chunks = [*header.write_list, header.reply_chunk or []]
    return counts + [len(chunk) for chunk in chunks]


@case("client.lists.sixteen-segments", requirements=[SIXTEEN_SEGMENTS], needs=["client-nfs4.1"])
def test_sixteen_segments(bench):
    """No chunk has more than sixteen segments."""
    counts = [count for sent in calls_of(bench, **SMALL) for count in _segments(sent.header)]
    expect.at_most(max(counts), MOST_SEGMENTS, SIXTEEN_SEGMENTS, "segments of a chunk")


def _has_eligible_argument(sent):
    """Whether the call has an argument that may be reduced; True if that cannot be told."""
    for positions in (list(read_chunks(sent.header)), []):
        try:
            return bool(nfs.binding.eligible_arguments(sent.payload, positions))
        except wire.DecodeError:
            continue
    return True


@case("client.lists.needless-read-chunk", requirements=["RFC8166-4.3.1-2"])
def test_needless_read_chunk(bench):
    """A call that has no eligible argument, and is no long one, has no read list."""
    for sent in calls_of(bench, **SMALL):
        if sent.header.proc == wire.Procedure.MSG and sent.header.read_list:
            what = "a call with a read list has an argument for it"
            expect.true(_has_eligible_argument(sent), "RFC8166-4.3.1-2", what)


@case("client.lists.needless-write-chunk", requirements=["RFC8166-4.3.2-2", "RFC8166-4.3.2.1-1"])
def test_needless_write_chunk(bench):
    """A call whose reply cannot hold an eligible result has no write list. A call whose reply holds
    one such result has one write chunk at most."""
    for sent in calls_of(bench, **SMALL):
        header = sent.header
        if header.proc != wire.Procedure.MSG or header.read_list or _bound(sent) is None:
            continue
        results = len(largest_results(sent.payload))
        if results == 0:
            what = "write chunks of a call for no result"
            expect.equal(len(header.write_list), 0, "RFC8166-4.3.2-2", what)
        elif results == 1:
            what = "write chunks of a call for one result"
            expect.at_most(len(header.write_list), 1, "RFC8166-4.3.2.1-1", what)


def _bound(sent):
    """Octets of the largest reply to a call; None if it does not decode, or nothing bounds them."""
    try:
        compound = nfs.largest_compound_reply(sent.payload)
        if compound is not None:
            return compound.payload
        single = nfs.largest_reply(sent.payload)
    except wire.DecodeError:
        return None
    return single.payload if single is not None else None


def _is_fixed(sent):
    """Whether nothing of the result of a call has a length that its client does not know before."""
    operations = operations_of(sent.payload)
    if operations:
        return all(number.name in FIXED_OPERATIONS for number, _ in operations)
    program, version, procedure = procedure_of(sent.payload)
    return procedure == 0 or (program, version) == (NFS, 3) and procedure in FIXED_PROCEDURES


@case("client.lists.needless-reply-chunk", requirements=["RFC8166-4.3.3-2"])
def test_needless_reply_chunk(bench):
    """A call whose reply fits any threshold, whatever verifier it has, has no reply chunk. Where an item of
    the result has no fixed length the client may count with more than there can be (RFC 8267 3).
    """
    coarse = 0
    for sent in calls_of(bench):
        header = sent.header
        if header.proc != wire.Procedure.MSG or header.read_list or header.write_list:
            continue
        bound = _bound(sent)
        if bound is None or bound + BESIDE_RESULTS > LEAST_THRESHOLD or not header.reply_chunk:
            continue
        coarse += 1
        what = "a call whose reply is short has no reply chunk"
        expect.true(not _is_fixed(sent), "RFC8166-4.3.3-2", what)
    if coarse:
        bench.latitude("RFC8166-4.3.3-2", "it counts with longer replies than there can be")


@case(
    "client.lists.read-chunk-roundup",
    requirements=["RFC8166-3.4.5.2-1"],
    needs=["client-read-chunks"],
)
def test_read_chunk_roundup(bench):
    """The read chunk of an item that needs roundup has none. The file ends with such an item."""
    outcome = bench.use(server=SMALL)
    found = [pair for sent, chunks in reduced(outcome) for pair in lengths(sent, chunks)]
    for octets, length in found:
        expect.at_most(octets, length, "RFC8166-3.4.5.2-1", "octets of a read chunk", outcome)
    if all(length % 4 == 0 for _, length in found):
        bench.not_testable("the client sends nothing in a read chunk that needs roundup")


@case(
    "client.lists.write-chunk-roundup",
    requirements=["RFC8166-3.4.6.2-1"],
    needs=["client-write-chunks"],
)
def test_write_chunk_roundup(bench):
    """The write chunk for a number of octets that is no multiple of four has no room for roundup."""
    outcome = bench.use(server=SMALL)
    found = rooms(outcome)
    for room, largest in found:
        rounded = room > largest and room == -(-largest // 4) * 4
        what = "a write chunk has room for the result and not for its roundup"
        expect.true(not rounded, "RFC8166-3.4.6.2-1", what, outcome=outcome)
    if all(largest % 4 == 0 for _, largest in found):
        bench.not_testable("the client reads no number of octets that needs roundup")


@case("client.lists.long-call", requirements=["RFC8166-3.5.3-2"])
def test_long_call(bench):
    """Nothing follows the header of a long call. Our own client makes each call a long one."""
    outcome = bench.use(server=SMALL, own=["--long-calls"])
    sends = [sent for conn in outcome.connections for sent in conn.sent]
    found = [sent for sent in sends if word(sent.octets, PROC_AT) == wire.Procedure.NOMSG]
    if not found:
        bench.not_testable("the client makes no long calls")
    for sent in found:
        ends = sent.header is not None and not sent.payload
        what = "RDMA_NOMSG ends with its header"
        expect.true(ends, "RFC8166-3.5.3-2", what, outcome=outcome)
    expect(outcome, "RFC8166-3.5.3-2", must=[COMPLETED])
