"""Record marking on the server's TCP side (RFC 5531 11).

Replies are whole records, calls have every legal form, and some streams have invalid marks."""

import pytest

from steertag import rpc
from steertag.suite import ANY, case, expect, kinds

OWN = "RFC5531-9-1"
ONE = "RFC5531-11-1"
FRAGMENTS = "RFC5531-11-2"
LENGTHS = "RFC5531-11-3"
MARKS = "RFC5531-11-4"
DETECTED = "RFC5531-11-5"
LAST = 0x80000000
CALLS = 8
# Octets of one READ. A server may use several fragments for it.
LARGE = 65536
# Connections that announce octets and never send them.
WAITING = 16
# Each fragment of a reply has a header of four octets. No server needs more fragments.
MOST_FRAGMENTS = 4096
NO_MESSAGE = {
    kinds.DENIED: "taken for a call in error",
    "rpc:GARBAGE_ARGS": "taken for a call in error",
}


def mark(word):
    """The octets of a fragment header."""
    return word.to_bytes(4, "big")


def fragment(data, last=False):
    """One fragment."""
    return mark((LAST if last else 0) | len(data)) + data


def expect_served(bench, requirement_id):
    """A new connection is accepted, and a call on it is answered."""
    expect(bench.connect_tcp().probe(), requirement_id, must=[kinds.REPLY])


def expect_not_answered(bench, conn, requirement_id):
    """The server serves others, and sends nothing on this connection, open or closed. It may wait
    for the rest for any time."""
    expect_served(bench, requirement_id)
    came = conn.receive(bench.deadlines.patience_ms)
    expect.true(came is None, requirement_id, "what is no whole record is not answered")
    expect_served(bench, requirement_id)


def expect_absent(bench, where, requirement_id):
    """The name does not exist."""
    conn = bench.connect_tcp()
    found = conn.exchange(conn.nfs_call("LOOKUP", what=where))
    expect(found, requirement_id, must=["nfs:NFS3ERR_NOENT"])


def fragments_of(octets):
    """[(last, octets of data)] of a stream, or [] if the last one is incomplete."""
    found = []
    for _ in range(MOST_FRAGMENTS):
        if not octets:
            return found
        word = int.from_bytes(octets[:4], "big")
        length = word & ~LAST
        data, octets = octets[4 : 4 + length], octets[4 + length :]
        if len(data) < length:
            return []
        found.append((bool(word & LAST), data))
    return []


@case("server.records.reply-{name}", requirements=[ONE, MARKS], needs=["tcp"], over=ANY)
@pytest.mark.parametrize("name", ["null", "getattr", "read", "prog-unavail", "denied"])
def test_reply(bench, name):
    """The stream of one reply has only its fragments. The last one, and no other, is marked as
    last."""
    handle = bench.file(bytes(LARGE)) if name == "read" else None
    root = bench.root if name == "getattr" else None
    conn = bench.connect_tcp()
    if name == "getattr":
        call = conn.nfs_call("GETATTR", object=root)
    elif name == "read":
        call = conn.nfs_call("READ", file=handle, offset=0, count=LARGE)
    else:
        call = conn.null_call(program=0x2000FFFF if name == "prog-unavail" else 100003)
    if name == "denied":
        header, arguments = rpc.Call.decode(bytes(call.payload))
        header.rpcvers = 3
        call.payload = header.encode(arguments)
    outcome = conn.exchange(call)
    wanted = {"prog-unavail": "rpc:PROG_UNAVAIL", "denied": kinds.DENIED}.get(name, kinds.REPLY)
    expect(outcome, MARKS, must=[wanted])
    found = fragments_of(bytes(conn.received))
    lasts = [last for last, _ in found]
    whole = [False] * (len(found) - 1) + [True]
    expect.equal(lasts, whole, MARKS, "last-fragment bits of the reply", outcome=outcome)
    joined = b"".join(data for _, data in found)
    expect.data(joined, outcome.raw, ONE, "data of the fragments against the RPC message")


@case("server.records.fragments-of-{octets}", requirements=[FRAGMENTS], needs=["tcp"], over=ANY)
@pytest.mark.parametrize("octets", [1, 4, 7, 39])
def test_null_in_fragments(bench, octets):
    """A NULL call in fragments of this many octets, which split the RPC header anywhere."""
    conn = bench.connect_tcp()
    for _ in range(2):
        call = conn.null_call()
        conn.send(call, fragment_octets=octets)
        outcome = expect(conn.await_outcome(call), FRAGMENTS, must=[kinds.REPLY])
        expect.equal(outcome.xid, call.xid, FRAGMENTS, "XID of the reply", show=False)


@case(
    "server.records.write-in-fragments-of-{octets}",
    requirements=[FRAGMENTS],
    needs=["tcp"],
    over=ANY,
)
@pytest.mark.parametrize("octets", [4, 100, 1000, 2047])
def test_write_in_fragments(bench, octets):
    """WRITE in fragments: the data is reassembled in order."""
    content = bench.random.randbytes(2048)
    handle = bench.file()
    conn = bench.connect_tcp()
    call = conn.nfs_call("WRITE", file=handle, offset=0, count=2048, stable=2, data=content)
    conn.send(call, fragment_octets=octets)
    outcome = expect(conn.await_outcome(call), FRAGMENTS, must=[kinds.REPLY])
    stored = content[: outcome.result.ok.count]
    expect.data(bench.read_back(handle), stored, FRAGMENTS, "content of the file", outcome=outcome)


# Fragments without data: how many before the call, between its halves, and behind it.
EMPTY = {
    "first": (1, 0, 0),
    "between": (0, 1, 0),
    "last": (0, 0, 1),
    "everywhere": (3, 3, 3),
    "hundred": (100, 0, 0),
}


@case("server.records.empty-fragments-{name}", requirements=[LENGTHS], needs=["tcp"], over=ANY)
@pytest.mark.parametrize("name", EMPTY)
def test_empty_fragments(bench, name):
    """Fragments without data in a call's record are legal, and add nothing to the message."""
    before, between, behind = EMPTY[name]
    conn = bench.connect_tcp()
    call = conn.null_call()
    first, second = bytes(call.payload)[:20], bytes(call.payload)[20:]
    octets = fragment(b"") * before + fragment(first) + fragment(b"") * between
    octets += fragment(second, last=not behind)
    if behind:
        octets += fragment(b"") * (behind - 1) + fragment(b"", last=True)
    conn.send_octets(octets, "record in fragments")
    outcome = expect(conn.await_outcome(call), LENGTHS, must=[kinds.REPLY])
    expect.equal(outcome.xid, call.xid, LENGTHS, "XID of the reply", show=False)
    expect(conn.probe(), LENGTHS, must=[kinds.REPLY])


@case("server.records.one-segment-{form}", requirements=[ONE, OWN], needs=["tcp"], over=ANY)
@pytest.mark.parametrize("form", ["whole", "in-fragments", "half-a-record-more"])
def test_records_in_one_segment(bench, form):
    """Several calls arrive together: each is executed."""
    conn = bench.connect_tcp()
    calls = [conn.null_call() for _ in range(CALLS)]
    cut = {"fragment_octets": 16} if form == "in-fragments" else {}
    octets = b"".join(rpc.record(bytes(call.payload), **cut) for call in calls)
    more = conn.null_call()
    rest = rpc.record(bytes(more.payload))
    if form == "half-a-record-more":
        octets, rest = octets + rest[:22], rest[22:]
    conn.send_octets(octets, "records")
    outcomes = conn.collect_sent(calls)
    for call in calls:
        outcome = expect(outcomes[call.xid], ONE, must=[kinds.REPLY])
        expect.equal(outcome.xid, call.xid, OWN, "XID of the reply", show=False)
    conn.send_octets(rest, "record")
    outcome = expect(conn.await_outcome(more), ONE, must=[kinds.REPLY])
    expect.equal(outcome.xid, more.xid, OWN, "XID of the reply", show=False)


@case("server.records.split-{name}", requirements=[FRAGMENTS, MARKS], needs=["tcp"], over=ANY)
@pytest.mark.parametrize(
    "name,places",
    [
        ("mark-after-1", [1]),
        ("mark-after-3", [3]),
        ("behind-mark", [4]),
        ("in-call", [24]),
        ("octet-by-octet", range(1, 44)),
    ],
)
def test_split_record(bench, name, places):
    """The octets of a record arrive in pieces. In between the server answers others, so it sees
    each piece alone."""
    other = bench.connect_tcp()
    conn = bench.connect_tcp()
    call = conn.null_call()
    octets = rpc.record(bytes(call.payload))
    for start, end in zip([0, *places], [*places, len(octets)]):
        conn.send_octets(octets[start:end], "part of a record")
        expect(other.probe(), MARKS, must=[kinds.REPLY])
    outcome = expect(conn.await_outcome(call), FRAGMENTS, must=[kinds.REPLY])
    expect.equal(outcome.xid, call.xid, FRAGMENTS, "XID of the reply", show=False)


@case("server.records.pipelined", requirements=[ONE, OWN], needs=["tcp"], over=ANY)
def test_pipelined(bench):
    """READ calls for different octets are in flight together. Each reply has the octets of the call
    with its XID."""
    content = bench.random.randbytes(64 * CALLS)
    handle = bench.file(content)
    conn = bench.connect_tcp()
    calls = [conn.nfs_call("READ", file=handle, offset=64 * i, count=64) for i in range(CALLS)]
    outcomes = conn.collect(calls)
    for i, call in enumerate(calls):
        outcome = expect(outcomes[call.xid], ONE, must=[kinds.REPLY])
        data = outcome.result.ok.data
        expect.data(data, content[64 * i : 64 * i + 64], OWN, "octets under this XID")


@case("server.records.not-before-last", requirements=[MARKS], needs=["tcp"], over=ANY)
def test_not_executed_before_the_last_fragment(bench):
    """All octets of a CREATE are in a fragment that is not the last. The server executes it after
    the last fragment, which is empty."""
    where = {"dir": bench.directory(), "name": bench.name("fragment")}
    conn = bench.connect_tcp()
    call = conn.nfs_call("CREATE", where=where)
    conn.send_octets(fragment(bytes(call.payload)), "fragment that is not the last")
    expect_absent(bench, where, MARKS)
    conn.send_octets(fragment(b"", last=True), "last fragment")
    expect(conn.await_outcome(call), MARKS, must=[kinds.REPLY])
    found = conn.exchange(conn.nfs_call("LOOKUP", what=where))
    expect(found, MARKS, must=[kinds.REPLY])


@case("server.records.half-closed", requirements=[ONE, OWN], needs=["tcp"], over=ANY)
def test_half_closed(bench):
    """The client closes its half behind a call. The reply still arrives, or the connection ends.
    Then the server closes its half."""
    conn = bench.connect_tcp()
    call = conn.null_call()
    conn.send(call)
    conn.end()
    outcome = expect(
        conn.await_outcome(call),
        ONE,
        must=[kinds.REPLY],
        latitude={kinds.DISCONNECT: "the end of the client's half ends the connection"},
    )
    if outcome.kind == kinds.REPLY:
        expect.equal(outcome.xid, call.xid, OWN, "XID of the reply", show=False)
    expect.true(not conn.mid_record, ONE, "the stream ends between records", outcome=outcome)
    if not conn.wait_closed():
        bench.latitude(ONE, "the server leaves its half open")


@case(
    "server.records.reset-in-flight",
    requirements=[DETECTED],
    needs=["tcp"],
    over=ANY,
    unbroken="RFC5531-11-5: a server may recover from bad marks or not.",
)
def test_reset_in_flight(bench):
    """Streams are reset with calls in flight, one of them in the middle of a record. Others are
    answered."""
    other = bench.connect_tcp()
    for _ in range(CALLS):
        conn = bench.connect_tcp()
        for _ in range(CALLS):
            conn.send(conn.null_call())
        conn.send_octets(rpc.record(bytes(conn.null_call().payload))[:11], "part of a record")
        conn.abort()
        expect(other.probe(), DETECTED, must=[kinds.REPLY])
    expect_served(bench, DETECTED)


ENDS = {"in-mark": 2, "behind-mark": 4, "in-fragment": 60, "before-last-octet": -1}


@case(
    "server.records.ends-{name}",
    requirements=[DETECTED],
    needs=["tcp"],
    over=ANY,
    hostile=True,
    unbroken="RFC5531-11-5: a server may recover from bad marks or not.",
)
@pytest.mark.parametrize("name", ENDS)
def test_stream_ends_inside_a_record(bench, name):
    """The client closes its half inside the record of a CREATE: it is not executed."""
    where = {"dir": bench.directory(), "name": bench.name("cut")}
    conn = bench.connect_tcp()
    call = conn.nfs_call("CREATE", where=where)
    conn.send_octets(rpc.record(bytes(call.payload))[: ENDS[name]], "part of a record")
    conn.end()
    if not conn.wait_closed():
        bench.latitude(DETECTED, "the server leaves its half open")
    expect.equal(len(conn.received), 0, DETECTED, "octets that answer a cut record")
    expect_absent(bench, where, DETECTED)


@case(
    "server.records.absent-{name}",
    requirements=[DETECTED],
    needs=["tcp"],
    over=ANY,
    hostile=True,
    unbroken="RFC5531-11-5: a server may recover from bad marks or not.",
)
@pytest.mark.parametrize("name", ["octets", "fragment"])
def test_announced_and_absent(bench, name):
    """Many connections announce octets, or a last fragment, and never send them. Others are
    answered meanwhile."""
    other = bench.connect_tcp()
    waiting = []
    for _ in range(WAITING):
        conn = bench.connect_tcp()
        payload = bytes(conn.null_call().payload)
        octets = mark(LAST | 1 << 20) + payload if name == "octets" else fragment(payload)
        conn.send_octets(octets, "part of a record")
        waiting.append(conn)
        expect(other.probe(), DETECTED, must=[kinds.REPLY])
    patience = bench.deadlines.patience_ms
    for conn in waiting:
        came, patience = conn.receive(patience), 0
        expect.true(came is None, DETECTED, "what is no whole record is not answered")
    expect_served(bench, DETECTED)


# Fragment headers that announce more than any server takes.
ABSURD = {"largest-last": 0xFFFFFFFF, "largest": 0x7FFFFFFF, "gibibyte-last": LAST | 1 << 30}


@case("server.records.absurd-{name}", requirements=[LENGTHS, DETECTED], needs=["tcp"], over=ANY)
@pytest.mark.parametrize("name", ABSURD)
def test_absurd_length(bench, name):
    """A length that no server takes, in front of a call. The server closes the connection or waits,
    and serves others."""
    conn = bench.connect_tcp()
    conn.send_octets(mark(ABSURD[name]) + bytes(conn.null_call().payload))
    expect_not_answered(bench, conn, LENGTHS)


@case("server.records.absurd-sum", requirements=[LENGTHS, DETECTED], needs=["tcp"], over=ANY)
def test_absurd_sum(bench):
    """A whole call in a fragment that is not the last. The next fragment is longer than any server
    takes."""
    conn = bench.connect_tcp()
    call = conn.null_call()
    conn.send_octets(fragment(bytes(call.payload)) + mark(0x7FFFFFFF), "fragments")
    expect_not_answered(bench, conn, LENGTHS)


# Octets in place of a fragment header.
GARBAGE = {
    "http": b"GET / HTTP/1.1\r\nHost: steertag.example\r\n\r\n",
    "ones": b"\xff" * 64,
    "zeros": bytes(8192),
}


@case(
    "server.records.garbage-{name}",
    requirements=[DETECTED],
    needs=["tcp"],
    over=ANY,
    hostile=True,
    unbroken="RFC5531-11-5: a server may recover from bad marks or not.",
)
@pytest.mark.parametrize("name", GARBAGE)
def test_garbage(bench, name):
    """Octets that are no record: the server closes the connection or waits for more, and serves
    others."""
    conn = bench.connect_tcp()
    conn.send_octets(GARBAGE[name])
    expect_not_answered(bench, conn, DETECTED)


@case("server.records.no-mark-{name}", requirements=[MARKS], needs=["tcp"], over=ANY, hostile=True)
@pytest.mark.parametrize("name", ["none", "swapped", "counts-itself"])
def test_wrong_mark(bench, name):
    """A CREATE without a mark, with a mark in the other octet order, or with a length that includes
    the header. It is not executed."""
    where = {"dir": bench.directory(), "name": bench.name("mark")}
    conn = bench.connect_tcp()
    call = conn.nfs_call("CREATE", where=where, xid=0x10203040)
    payload = bytes(call.payload)
    before = {
        "none": b"",
        "swapped": mark(LAST | len(payload))[::-1],
        "counts-itself": mark(LAST | len(payload) + 4),
    }[name]
    conn.send_octets(before + payload)
    expect_not_answered(bench, conn, MARKS)
    expect_absent(bench, where, MARKS)


@case("server.records.no-message-{name}", requirements=[ONE], needs=["tcp"], over=ANY, hostile=True)
@pytest.mark.parametrize(
    "name,octets", [("empty", b""), ("three-octets", b"abc"), ("four-octets", b"abcd")]
)
def test_record_without_a_message(bench, name, octets):
    """A record without an RPC message is discarded, or the connection is closed."""
    conn = bench.connect_tcp()
    expect(conn.exchange(octets), ONE, must=[kinds.SILENCE, *kinds.CLOSED], latitude=NO_MESSAGE)
    expect_served(bench, ONE)


@case("server.records.two-calls-in-one", requirements=[ONE], needs=["tcp"], over=ANY, hostile=True)
def test_two_calls_in_one_record(bench):
    """One record with a NULL call and a CREATE behind it. The CREATE is no call of its own."""
    where = {"dir": bench.directory(), "name": bench.name("second")}
    conn = bench.connect_tcp()
    first = conn.null_call()
    second = conn.nfs_call("CREATE", where=where)
    first.payload = bytes(first.payload) + bytes(second.payload)
    expect(
        conn.exchange(first),
        ONE,
        must=[kinds.REPLY],
        latitude={
            "rpc:GARBAGE_ARGS": "octets behind the arguments are an error",
            **dict.fromkeys(kinds.CLOSED, "a record with more than one message is refused"),
        },
    )
    expect_absent(bench, where, ONE)
