"""Messages and chunks that end too early, behind long ones that were whole. Every receive of the
server has held a call before: nothing of it is executed, and none of its octets are stored."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from ..changed_directory import ChangedDirectory
from ..chunk_checks import expect_alive, reduce_item, write_call

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


class PrimedConnection:
    """A connection whose receives have all held a WRITE to the file `old`. Another client has
    written that file since."""

    def __init__(self, bench, length=INLINE, reduced=False):
        self._place = ChangedDirectory(bench)
        self._old = self._place.make_file("old")
        self.new = self._place.make_file("new")
        self.conn = bench.connect()
        receives = self.conn.grant if self.conn.has_header else self.conn.window
        for _ in range(min(receives + MORE_RECEIVES, MOST_RECEIVES)):
            call = write_call(self.conn, self._old, bench.random.randbytes(length))
            if reduced:
                self.conn.reduce(call)
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


@case("server.old-memory.call-{name}", requirements=[GARBAGE], hostile=True, over=ANY)
@pytest.mark.parametrize("name", ["nothing", "xid", "rpc-header", *ENDS])
def test_call(bench, name):
    """A WRITE that ends too early, behind whole ones of the same length."""
    primed = PrimedConnection(bench)
    conn = primed.conn
    call = write_call(conn, primed.new, bench.random.randbytes(INLINE))
    payload = bytes(call.payload)
    if name in ENDS:
        arguments = payload.index(bytes(primed.new)) - 4
        end = arguments + ENDS[name](-(-len(primed.new) // 4) * 4)
    else:
        end = {"nothing": 0, "xid": 4, "rpc-header": 24}[name]
    call.payload = payload[:end]
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
    primed = PrimedConnection(bench, CHUNK, reduced=True)
    conn = primed.conn
    call = write_call(conn, primed.new, bytes(CHUNK))
    reduce_item(conn, call, bench.random.randbytes(octets))
    outcome = conn.exchange(call)
    primed.expect_nothing_old(GARBAGE)
    expect(outcome, GARBAGE, must=UNEXECUTED)
    expect_alive(conn, GARBAGE)
