"""Property-based cases: the judge finds nothing against the server, whatever a client does.

Hypothesis generates the trials. They are the same in every run unless --seed is given. See
steertag.properties."""

from hypothesis import strategies as st

from steertag import wire
from steertag.properties.state_machine import (
    ANSWERED,
    Conversation,
    handled_line,
    HostileConversation,
    OF_BROKEN,
    READ_DATA,
    WRITTEN,
)
from steertag.properties.source import source
from steertag.properties.strategies import (
    drafts,
    edge_lengths,
    edge_sizes,
    EDGES,
    first_octets,
    fragments,
    private_data,
    sizes,
)
from steertag.suite import ANY, case
from ..chunk_checks import OVERRUN, OVERRUN_LATITUDE

OVERRUN_REPORTED = "RFC8267-3.1-1"
NFS4_WRITTEN, NFS4_READ_DATA = "RFC8267-6.1-1", "RFC8267-6.1-3"
LENGTH = 5000
# Trials with lengths of some MiB: they take the most time.
LARGE_TRIALS = 8
# Connections for records, and calls on each. The subject is records, so few connections are enough.
RECORD_TRIALS, MOST_CALLS = 24, 12


@case(
    "server.property.header",
    requirements=[*OF_BROKEN, ANSWERED],
    risk="destructive",
    hostile=True,
)
def test_header(explorer):
    """Any octets that resemble a message: they are refused or discarded, and the next call is
    answered."""

    def write(script, draft):
        script.do("conn = bench.connect()")
        script.do(f"outcome = conn.exchange({source(draft)})")
        script.do(handled_line("outcome", wire.encode(draft)))
        script.do(
            "if conn.open: expect(conn.probe(), "
            f'"{ANSWERED}", must=[kinds.REPLY, *kinds.CLOSED])'
        )

    explorer.examples(drafts, write)


@case("server.property.private-data", requirements=[ANSWERED, READ_DATA], hostile=True)
def test_private_data(explorer):
    """Any private data: the connection opens, and both sides keep to what it announces."""

    def write(script, octets):
        script.do(f"content = random.Random(1).randbytes({LENGTH})")
        script.do("file = bench.file(content)")
        script.do(f"conn = bench.connect(private_data={source(octets)})")
        script.do(f'call = conn.nfs_call("READ", file=file, offset=0, count={LENGTH})')
        script.do("conn.reply_chunk(call)")
        script.do(f'outcome = expect(conn.exchange(call), "{ANSWERED}", must=[kinds.REPLY])')
        script.do("data = outcome.result.ok.data")
        script.do(f'expect.data(data, content[:len(data)], "{READ_DATA}", "octets of the file")')

    explorer.examples(private_data(), write)


@st.composite
def chunked(draw):
    """(sizes of the segments of a read chunk, sizes of those of a write chunk). Both hold the same
    number of octets."""
    length = draw(st.integers(1, LENGTH))
    return length, draw(sizes(length)), draw(sizes(length))


@case("server.property.chunks", requirements=[ANSWERED, READ_DATA, WRITTEN])
def test_chunks(explorer):
    """Data in any segments is stored, and is returned in any others."""

    def write(script, value):
        length, written, read = value
        script.do("file, conn = bench.file(), bench.connect()")
        script.do(f"content = random.Random({length}).randbytes({length})")
        fields = f"file=file, offset=0, count={length}"
        script.do(f'call = conn.nfs_call("WRITE", {fields}, stable=2, data=content)')
        script.do(f"conn.reduce(call, {written})")
        script.do(f'outcome = expect(conn.exchange(call), "{ANSWERED}", must=[kinds.REPLY])')
        script.do("stored = content[:outcome.result.ok.count]")
        script.do('expect.data(bench.read_back(file), stored, "' + WRITTEN + '", "stored octets")')
        script.do(f'call = conn.nfs_call("READ", {fields})')
        script.do(f"conn.write_chunk(call, sizes={read})")
        script.do(f'outcome = expect(conn.exchange(call), "{ANSWERED}", must=[kinds.REPLY])')
        script.do("data = outcome.result.ok.data")
        script.do(f'expect.data(data, stored[:len(data)], "{READ_DATA}", "octets of the file")')

    explorer.examples(chunked(), write)


@st.composite
def transfers(draw, large):
    """A WRITE and a READ as a dictionary: where they begin and end, in which segments, with how much room."""
    length = draw(edge_lengths(large=large))
    offset = draw(st.sampled_from([0, 1, 3, 4, 4095]) | st.integers(0, length))
    count = draw(edge_lengths(large=large))
    return {
        "length": length,
        "pulled": draw(edge_sizes(length)),
        "is_long": draw(st.booleans()),
        "offset": offset,
        "count": count,
        "room": draw(edge_sizes(count + draw(st.sampled_from([0, 0, 1, 3, 4, 4096])))),
        "in_reply_chunk": draw(st.booleans()),
        "more": draw(st.integers(-9, 9)),  # octets of the reply chunk above the largest reply
    }


@case(
    "server.property.chunk-arithmetic",
    requirements=[ANSWERED, READ_DATA, WRITTEN, OVERRUN_REPORTED],
)
def test_chunk_arithmetic(explorer):
    """Lengths, offsets, and ends of segments at words, pages, thresholds and some MiB, with an octet more or less. What
    is written is stored, and what is read is what was stored. A reply chunk may be just too small. No WRITE is larger
    than FSINFO says."""

    def write(script, value):
        length, offset, count = value["length"], value["offset"], value["count"]
        script.do("file, conn = bench.file(), bench.connect()")
        if length > MOST_UNASKED:
            script.do("outcome = conn.exchange(conn.nfs_call('FSINFO', fsroot=bench.root))")
            script.do(f'limits = expect(outcome, "{ANSWERED}", must=[kinds.REPLY]).result.ok')
            length = min(length, script.value("limits.wtmax"))
        script.do(f"content = random.Random({length}).randbytes({length})")
        fields = f"file=file, offset=0, count={length}, stable=2, data=content"
        script.do(f'call = conn.nfs_call("WRITE", {fields})')
        if value["is_long"]:
            script.do("conn.long_call(call)")
        else:
            script.do(f"conn.reduce(call, {first_octets(value['pulled'], length)})")
        script.do(f'outcome = expect(conn.exchange(call), "{ANSWERED}", must=[kinds.REPLY])')
        script.do("stored = content[:outcome.result.ok.count]")
        script.do('expect.data(bench.read_back(file), stored, "' + WRITTEN + '", "stored octets")')
        script.do(f'call = conn.nfs_call("READ", file=file, offset={offset}, count={count})')
        must = "[kinds.REPLY]"
        if not value["in_reply_chunk"]:
            script.do(f"conn.write_chunk(call, sizes={value['room']})")
        else:
            script.do(f"conn.reply_chunk(call, length=call.largest_reply() + {value['more']})")
            if value["more"] < 0:
                refusals = ", ".join(map(repr, [*OVERRUN, *OVERRUN_LATITUDE]))
                must = f"[kinds.REPLY, {refusals}]"
        owed = OVERRUN_REPORTED if value["more"] < 0 else ANSWERED
        script.do(f'outcome = expect(conn.exchange(call), "{owed}", must={must})')
        script.do("data = outcome.result.ok.data if outcome.kind == kinds.REPLY else b''")
        script.do(f"wanted = stored[{offset}:{offset + count}][:len(data)]")
        script.do(f'expect.data(data, wanted, "{READ_DATA}", "octets of the file")')

    explorer.examples(transfers(large=False), write)
    explorer.examples(transfers(large=True), write, LARGE_TRIALS)


# Octets that every server takes in a WRITE.
MOST_UNASKED = EDGES[-1] + 1
# Operations before the one with a chunk, and behind it.
MOST_BESIDE = 4
CLIENT = "steertag.suite.nfs_client.nfs4_client"


@st.composite
def compounds(draw, large):
    """A WRITE and a READ of NFSv4.1 as a dictionary: what is around them, in which segments, in which form."""
    length = draw(edge_lengths(large=large))
    count = draw(edge_lengths(large=large))
    return {
        "length": length,
        "before": draw(st.integers(0, MOST_BESIDE)),
        "behind": draw(st.integers(0, MOST_BESIDE)),
        "pulled": draw(edge_sizes(length)),
        "is_long": draw(st.booleans()),
        # Octets from the place of the item to the end of a segment of the position-zero chunk.
        "cut": draw(st.sampled_from([-4, -1, 0, 1, 4]) | st.integers(-60, 60)),
        "offset": draw(st.sampled_from([0, 1, 4, 4095]) | st.integers(0, length)),
        "count": count,
        "room": draw(edge_sizes(count + draw(st.sampled_from([0, 0, 1, 3, 4, 4096])))),
    }


@case(
    "server.property.compound-chunks",
    requirements=[NFS4_READ_DATA, NFS4_WRITTEN],
    needs=["nfs41", "multiple-read-chunks"],
)
def test_compound_chunks(explorer):
    """The chunk of a WRITE or READ among other operations, in calls that are long or not. A segment of a long call
    ends around the place of the data. What is written is stored, and what is read is what was stored. No message is
    larger than the session allows, and no WRITE than maxwrite.
    """

    def write(script, value):
        length, offset, count = value["length"], value["offset"], value["count"]
        script.do(f"from {CLIENT} import getattr_of, putfh, read, write")
        script.do("session = bench.nfs4_session()")
        script.do("conn, file = session.conn, bench.nfs4_files(session).file()")
        if length > MOST_UNASKED:
            script.do("outcome = session.run(putfh(file), getattr_of('maxwrite'))")
            script.do("found = nfs.nfs4.attributes(outcome['GETATTR'].resok4.obj_attributes)")
            script.do("most = min(session.largest_write, found.get('maxwrite', 1 << 32))")
            length = min(length, script.value("most"))
        if count > MOST_UNASKED:
            count = min(count, script.value("session.largest_read"))
        script.do(f"before = [putfh(file)] + [getattr_of('size')] * {value['before']}")
        script.do(f"behind = [getattr_of('size')] * {value['behind']}")
        script.do(f"content = random.Random({length}).randbytes({length})")
        script.do("call = session.call(*before, write(content), *behind)")
        script.do(f"conn.reduce_all(call, {first_octets(value['pulled'], length)})")
        if value["is_long"]:
            script.do(f"end = call.read_list[0].segment.position + {value['cut']}")
            script.do("end = min(end, len(call.payload))")
            script.do("conn.long_call(call, [end, len(call.payload) - end])")
        script.do(f'outcome = expect(conn.exchange(call), "{NFS4_WRITTEN}", must=[kinds.REPLY])')
        script.do("stored = content[:outcome.result['WRITE'].resok4.count]")
        script.do("results = len(outcome.result.results)")
        wanted = 3 + value["before"] + value["behind"]
        script.do(f'expect.equal(results, {wanted}, "{NFS4_WRITTEN}", "results of the COMPOUND")')
        script.do(f"call = session.call(*before, read({count}, {offset}), *behind)")
        script.do(f"conn.write_chunk(call, sizes={value['room']})")
        if value["is_long"]:
            script.do("conn.long_call(call)")
        script.do(f'outcome = expect(conn.exchange(call), "{NFS4_READ_DATA}", must=[kinds.REPLY])')
        script.do("found = outcome.result['READ'].resok4")
        script.do(f"wanted = stored[{offset}:{offset + count}]")
        script.do("wanted = wanted if found.eof else wanted[:len(found.data)]")
        script.do(f'expect.data(found.data, wanted, "{NFS4_READ_DATA}", "octets of the file")')

    explorer.examples(compounds(large=False), write)
    explorer.examples(compounds(large=True), write, LARGE_TRIALS)


@case(
    "server.property.records",
    requirements=["RFC5531-11-1"],
    needs=["tcp"],
    over=ANY,
)
def test_records(explorer):
    """Calls over TCP in records of any fragments, sent in any pieces: each is answered."""

    def write(script, value):
        calls, piece = value
        script.do("conn, octets = bench.connect_tcp(), b''")
        for number, lengths in enumerate(calls, 1):
            rest = f"data{number}"
            script.do(f"call{number} = conn.null_call()")
            script.do(f"{rest} = bytes(call{number}.payload)")
            for length in lengths:
                part = f"{rest}[:{length}]"
                script.do(f"octets += len({part}).to_bytes(4, 'big') + {part}")
                script.do(f"{rest} = {rest}[{length}:]")
            script.do(f"octets += (0x80000000 | len({rest})).to_bytes(4, 'big') + {rest}")
        for start in range(0, script.value("len(octets)"), piece):
            script.do(f"conn.send_octets(octets[{start}:{start + piece}])")
        names = ", ".join(f"call{number}" for number in range(1, len(calls) + 1))
        script.do(f"outcomes = conn.collect_sent([{names}])")
        for number in range(1, len(calls) + 1):
            outcome = f"outcomes[call{number}.xid]"
            script.do(f'expect({outcome}, "RFC5531-11-1", must=[kinds.REPLY])')

    calls = st.lists(fragments, min_size=1, max_size=MOST_CALLS)
    explorer.examples(st.tuples(calls, st.integers(8, 200)), write, RECORD_TRIALS)


@case("server.property.conversation", requirements=[ANSWERED, READ_DATA, WRITTEN])
def test_conversation(explorer):
    """Several connections have calls in flight, and some of them end. Every call is answered, and
    reads return what was written."""
    explorer.conversations(Conversation)


@case(
    "server.property.hostile-conversation",
    requirements=[ANSWERED, READ_DATA, WRITTEN, *OF_BROKEN],
    risk="destructive",
    hostile=True,
)
def test_hostile_conversation(explorer):
    """Several connections have calls in flight, some of them end, and broken messages are in
    between."""
    explorer.conversations(HostileConversation)
