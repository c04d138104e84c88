"""Messages and chunks that end too early, behind long ones that were whole. Every receive of the
server has held a call before: nothing of it is executed, and none of its octets are stored."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.nfs_message import auth_sys
from ..changed_directory import ChangedDirectory
from ..chunk_checks import expect_alive, read_call, reduce_item, write_call
from ..message_words import renumber

BROKEN = "RFC8166-4.5.2-1"
SHORT = "RFC8166-4.5-1"
GARBAGE = "RFC5531-9-7"
# What a server may do with a call that ends too early: report it, or treat it as no call.
UNEXECUTED = [*kinds.REFUSED, kinds.DENIED, kinds.SILENCE, *kinds.CLOSED]
# Receives that a server may post beyond its grant, and the most that a case fills.
MORE_RECEIVES, MOST_RECEIVES = 32, 256
# Octets of data: with them a WRITE fits every threshold.
INLINE = 512
CHUNK = 4096
FRESH = b"what another client has written since"
# User and group that own nothing, and may write the file because of its mode.
STRANGER = 4711
# The stranger's data are this many octets again and again; a message with a few of them has them whole.
MARK_OCTETS = 16
# Of a WRITE without its data, with room.
BESIDE_DATA = 256
TAG_OCTETS = 400
XID = 0x5EED0CA1
NOT_WRITABLE = "the target lets no other user write a file of mode 666"


def inline_write(conn, handle, data):
    return write_call(conn, handle, data)


def reduced_write(conn, handle, data):
    call = write_call(conn, handle, data)
    conn.reduce(call)
    return call


def long_write(conn, handle, data):
    call = write_call(conn, handle, data)
    conn.long_call(call)
    return call


def read_to_chunk(conn, handle, data):
    call = read_call(conn, handle, len(data))
    conn.write_chunk(call)
    return call


def read_to_reply_chunk(conn, handle, data):
    call = read_call(conn, handle, len(data))
    conn.reply_chunk(call)
    return call


class PrimedConnection:
    """A connection whose receives have all held a call on the file `old`, as `make` makes it, under one XID if that is
    given. Another client has written that file since."""

    def __init__(self, bench, length=INLINE, make=inline_write, xid=None):
        self._place = ChangedDirectory(bench)
        self._old = self._place.make_file("old")
        self.new = self._place.make_file("new")
        self.conn = bench.connect()
        receives = self.conn.grant if self.conn.has_header else self.conn.window
        for _ in range(min(receives + MORE_RECEIVES, MOST_RECEIVES)):
            call = make(self.conn, self._old, bench.random.randbytes(length))
            if xid is not None:
                renumber(call, xid)
            expect(self.conn.exchange(call), GARBAGE, must=[kinds.REPLY])
        self._place.cut_off(self._old)
        self._place.write(self._old, FRESH)

    def expect_nothing_old(self, requirement_id):
        """The file `old` has what was written last, and the file `new` has nothing."""
        old, new = self._place.content("old"), self._place.content("new")
        expect.data(old, FRESH, requirement_id, "file of the whole calls")
        expect.data(new, b"", requirement_id, "file of the call that ends too early")


# Where a WRITE of INLINE octets ends: so many octets behind the start of its arguments, for a file
# handle of this length.
ENDS = {
    "arguments": lambda handle: 0,
    "handle": lambda handle: 4 + handle,
    "data": lambda handle: 4 + handle + 20,
    "half-of-data": lambda handle: 4 + handle + 20 + INLINE // 2,
}


def end_of(name, call, handle):
    """Octets of the WRITE to the file of this handle."""
    if name not in ENDS:
        return {"nothing": 0, "xid": 4, "rpc-header": 24}[name]
    arguments = bytes(call.payload).index(bytes(handle)) - 4
    return arguments + ENDS[name](-(-len(handle) // 4) * 4)


@case("server.old-memory.call-{name}", requirements=[GARBAGE], hostile=True, over=ANY)
@pytest.mark.parametrize("name", ["nothing", "xid", "rpc-header", *ENDS])
def test_call(bench, name):
    """A WRITE that ends too early, behind whole ones of the same length."""
    primed = PrimedConnection(bench)
    conn = primed.conn
    call = write_call(conn, primed.new, bench.random.randbytes(INLINE))
    call.payload = bytes(call.payload)[: end_of(name, call, primed.new)]
    outcome = conn.exchange(call)
    primed.expect_nothing_old(GARBAGE)
    expect(outcome, GARBAGE, must=UNEXECUTED)
    expect_alive(conn, GARBAGE)


@case("server.old-memory.short-{octets}", requirements=[SHORT, GARBAGE], hostile=True)
@pytest.mark.parametrize("octets", [0, 4, 16, 27])
def test_short_message(bench, octets):
    """A message below 28 octets, behind whole calls: it is discarded."""
    primed = PrimedConnection(bench)
    conn = primed.conn
    call = write_call(conn, primed.new, bench.random.randbytes(INLINE))
    outcome = conn.exchange(call.encoded()[:octets], xid=call.xid)
    primed.expect_nothing_old(SHORT)
    expect(outcome, SHORT, must=[kinds.SILENCE])
    expect_alive(conn, SHORT)


@case("server.old-memory.chunk-{octets}", requirements=[GARBAGE], hostile=True)
@pytest.mark.parametrize("octets", [4, 1000, CHUNK - 4])
def test_chunk(bench, octets):
    """The read chunk of a WRITE is shorter than its count, behind chunks that were whole."""
    primed = PrimedConnection(bench, CHUNK, reduced_write)
    conn = primed.conn
    call = write_call(conn, primed.new, bytes(CHUNK))
    reduce_item(conn, call, bench.random.randbytes(octets))
    outcome = conn.exchange(call)
    primed.expect_nothing_old(GARBAGE)
    expect(outcome, GARBAGE, must=UNEXECUTED)
    expect_alive(conn, GARBAGE)


@case("server.old-memory.long-call-{name}", requirements=[GARBAGE], hostile=True)
@pytest.mark.parametrize("name", ["xid", "rpc-header", *ENDS])
def test_long_call(bench, name):
    """The position-zero chunk of a long WRITE ends too early, behind chunks that were whole."""
    primed = PrimedConnection(bench, make=long_write)
    conn = primed.conn
    call = write_call(conn, primed.new, bench.random.randbytes(INLINE))
    call.payload = bytes(call.payload)[: end_of(name, call, primed.new)]
    conn.long_call(call)
    outcome = conn.exchange(call)
    primed.expect_nothing_old(GARBAGE)
    expect(outcome, GARBAGE, must=UNEXECUTED)
    expect_alive(conn, GARBAGE)


# Calls with one chunk in one of the lists, and where the header ends behind the length of its segment: octets.
LISTS = {
    "read-list": (reduced_write, 32),
    "write-list": (read_to_chunk, 36),
    "reply-chunk": (read_to_reply_chunk, 40),
}


# What a server does that takes the octets of a whole call for the end of this one.
CONSEQUENCES = dict.fromkeys(
    ("RFC8166-3.4.5-6", "RFC8166-8.1.4-2"), "a consequence of taking a broken header for legal"
)


@case(
    "server.old-memory.cut-{name}",
    requirements=[BROKEN, GARBAGE],
    tolerates=CONSEQUENCES,
    hostile=True,
)
@pytest.mark.parametrize("name", LISTS)
def test_list(bench, name):
    """The header of a call ends inside its only chunk, behind whole calls of the same form and XID. It does not decode,
    and nothing is executed."""
    make, octets = LISTS[name]
    primed = PrimedConnection(bench, make=make, xid=XID)
    conn = primed.conn
    call = make(conn, primed.new, bench.random.randbytes(INLINE))
    renumber(call, XID)
    call.cut_to = octets
    outcome = conn.exchange(call)
    primed.expect_nothing_old(BROKEN)
    expect(outcome, BROKEN, must=[kinds.ERR_CHUNK])
    expect_alive(conn, BROKEN)


class OtherUser:
    """Another user, whose WRITEs have filled every receive of a connection that has ended since. Then there is `conn`,
    of the suite's own user, and an empty file `new`."""

    def __init__(self, bench):
        self._place = ChangedDirectory(bench)
        self._mark = bench.random.randbytes(MARK_OCTETS)
        theirs = self._place.make_file("theirs")
        self.new = self._place.make_file("new")
        conn = bench.connect()
        conn.credential = auth_sys(STRANGER, STRANGER)
        length = conn.negotiated.to_server_bytes - BESIDE_DATA
        data = (self._mark * (length // MARK_OCTETS + 1))[:length]
        for _ in range(min(conn.grant + MORE_RECEIVES, MOST_RECEIVES)):
            outcome = conn.exchange(write_call(conn, theirs, data))
            if outcome.kind in ("nfs:NFS3ERR_ACCES", "nfs:NFS3ERR_PERM"):
                bench.not_testable(NOT_WRITABLE)
            expect(outcome, GARBAGE, must=[kinds.REPLY])
        conn.abort()
        self.conn = bench.connect()

    def expect_nothing_of_theirs(self, outcome, requirement_id):
        """Neither the answer nor the file has data of the other user."""
        leaked = self._mark in bytes(outcome.raw) + bytes(outcome.whole)
        what = "the answer has nothing of what another user has written"
        expect.true(not leaked, requirement_id, what, outcome=outcome)
        what = "file of the call that ends too early"
        expect.data(self._place.content("new"), b"", requirement_id, what, outcome=outcome)


@case("server.old-memory.other-user-{name}", requirements=[GARBAGE, SHORT], hostile=True)
@pytest.mark.parametrize("name", ["short", "rpc-header", *ENDS])
def test_other_user(bench, name):
    """A WRITE that ends too early, behind whole ones of another user, over a connection of their own."""
    user = OtherUser(bench)
    conn = user.conn
    call = write_call(conn, user.new, bench.random.randbytes(INLINE))
    if name == "short":
        outcome = conn.exchange(call.encoded()[:27], xid=call.xid)
        user.expect_nothing_of_theirs(outcome, SHORT)
        expect(outcome, SHORT, must=[kinds.SILENCE])
    else:
        call.payload = bytes(call.payload)[: end_of(name, call, user.new)]
        outcome = conn.exchange(call)
        user.expect_nothing_of_theirs(outcome, GARBAGE)
        expect(outcome, GARBAGE, must=UNEXECUTED)
    expect_alive(conn, GARBAGE)


@case(
    "server.old-memory.other-user-tag",
    requirements=[GARBAGE],
    needs=["nfs41"],
    hostile=True,
)
def test_tag_of_other_user(bench):
    """A COMPOUND ends inside of its tag, which an answer would repeat, behind whole WRITEs of another user."""
    user = OtherUser(bench)
    conn = user.conn
    call = conn.compound_call("PUTROOTFH", tag="t" * TAG_OCTETS)
    payload = bytes(call.payload)
    call.payload = payload[: payload.index(b"t" * TAG_OCTETS) + TAG_OCTETS // 2]
    outcome = conn.exchange(call)
    user.expect_nothing_of_theirs(outcome, GARBAGE)
    expect(outcome, GARBAGE, must=[*UNEXECUTED, "nfs:NFS4ERR_BADXDR"])
    expect_alive(conn, GARBAGE)
