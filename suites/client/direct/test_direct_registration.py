"""Memory that stays open over calls: what closes it, and who must not (docs/direct-access.md)."""

import collections

import pytest

from steertag import wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.client_bench import SOURCE_BYTES
from steertag.suite.client.script import is_read, Script, stags_of
from ..call_kinds import CALL_KINDS, shows_end, SPOILER
from ..client_verdicts import expect_or, LOST
from ..direct_server import reads_of
from ..memory_use import error, MemoryUse, source, target

CLOSED, FLAG = "ODAFS-37", "ODAFS-38"
# More calls than are under way at a time, so that memory serves several. No Send closes memory.
MANY_CALLS = {"transfer_bytes": 4096, "remote_invalidation": False}
AGAIN = "it did the same by another call"
_USE_OCTETS = 64


def _offers_again(outcome):
    """Whether calls of one connection have offered the same STag."""
    return any(_most_offers(conn) > 1 for conn in outcome.connections)


def _most_offers(conn):
    headers = [sent.header for sent in conn.calls if sent.header is not None]
    counts = collections.Counter(stag for header in headers for stag in set(stags_of(header)))
    return max(counts.values(), default=0)


def _use_cached(bench):
    """The outcome of a client that is asked to keep memory open. One that does not offers no STag again."""
    outcome = bench.use(server=MANY_CALLS, transfer="cached")
    if outcome.kind in kinds.DONE and not _offers_again(outcome):
        bench.unsupported("needs cached registration: the client offers each STag once")
    return outcome


@case("client.direct.cached", requirements=[FLAG])
def test_cached(bench):
    """The R flag of a client whose memory stays open over calls is clear (RFC 8797 4.1)."""
    outcome = _use_cached(bench)
    for conn in outcome.connections:
        announced = conn.announced is not None and conn.announced.remote_invalidation
        expect.true(not announced, FLAG, "the R flag is clear", outcome=outcome)
    expect(outcome, FLAG, must=[kinds.COMPLETED])


class Once(Script):
    """Acts once, in place of a reply, and then watches the connection of that reply."""

    def __init__(self):
        self.offer = None  # the Reply in whose place it has acted
        self.goes_on = False  # the client has taken what came on its connection up to that reply

    @property
    def waits(self):
        return self.offer is None

    def on_departure(self, reply):
        if reply.kind != "reply":
            return False
        if self.offer is None:
            return self.takes(reply)
        if reply.conn is self.offer.conn and shows_end(self.offer, reply):
            self.goes_on = True
        return False


class AtRead(Once):
    """Calls `act(reply)` for replies to READs until it is true."""

    def __init__(self, act):
        super().__init__()
        self._act = act

    def takes(self, reply):
        """Whether something has taken the reply's place."""
        done = is_read(reply) and self._act(reply)
        self.offer = reply if done else None
        return done


@case("client.direct.cached-invalidated", requirements=[FLAG], hostile=True)
def test_cached_invalidated(bench):
    """A reply invalidates memory that stays open over calls, without leave. The client ends the connection, and makes
    the call again or tells its user."""
    _use_cached(bench)

    def invalidate(reply):
        reply.push()
        reply.send(invalidate=target(reply).handle)
        return True

    script = AtRead(invalidate)
    outcome = bench.use(script, server=MANY_CALLS, transfer="cached")
    expect(outcome, FLAG, must=[kinds.COMPLETED, kinds.LEFT, kinds.REFUSED])
    what = "the Send with Invalidate ends the connection"
    expect.true(not script.goes_on, FLAG, what, outcome=outcome)


# -- what closes it -----------------------------------------------------------------------------


USES = {
    "read": lambda reply: _write(reply, target(reply)),
    "write": lambda reply: _read(reply, source(reply)),
}


def _write(reply, segment):
    reply.raw.write(SPOILER * _USE_OCTETS, segment.handle, segment.offset)
    return False


def _read(reply, segment):
    """True: octets are waited for."""
    reply.raw.read(segment.handle, segment.offset, _USE_OCTETS)
    return True


def _fault(reply):
    """Ends the call by a reply with a write chunk that the call has not offered."""
    reply.push()
    draft = reply.draft()
    foreign = wire.Segment(handle=0x7E570001, length=_USE_OCTETS, offset=0)
    draft.write_list = [*draft.write_list, wire.DraftChunk(segments=[foreign])]
    reply.send(draft)


ENDS = {"error": error, "fault": _fault}


@case(
    "client.direct.cached-{end}.{call_kind}",
    requirements=[CLOSED],
    hostile=True,
    unfailed={
        f"client.direct.cached-{end}.read": "An RDMA Write to open memory leaves no trace."
        for end in ENDS
    },
)
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("call_kind", USES)
def test_cached_end(bench, end, call_kind):
    """An RDMA_ERROR or a reply that breaks a rule ends a call. Its memory is closed, although that of other calls
    stays open."""
    _use_cached(bench)
    use = MemoryUse(CALL_KINDS[call_kind], USES[call_kind], ENDS[end])
    outcome = bench.use(use, server=MANY_CALLS, transfer="cached")
    expect_or(bench, outcome, CLOSED, kinds.REFUSED, {kinds.COMPLETED: AGAIN})
    if not use.used:
        bench.not_testable("nothing that the client did shows that its user had the answer")
    expect.equal(len(use.read), 0, CLOSED, "RDMA Reads that the client's memory took")


@case("client.direct.cached-reused", requirements=[CLOSED], hostile=True)
def test_cached_reused(bench):
    """One READ at a time. The last one is shorter, and offers another STag: the memory of the one before serves it. A
    late RDMA Write to that is refused, which ends the connection."""
    _use_cached(bench)
    before = []

    def write_late(reply):
        mine, old = target(reply), before[-1] if before else None
        before.append((reply.conn, mine))
        if old is None or old[0] is not reply.conn or old[1].handle == mine.handle:
            return False
        _write(reply, old[1])
        reply.conform()
        return True

    script = AtRead(write_late)
    outcome = bench.use(script, server=MANY_CALLS, own=["--in-flight", "1"], transfer="cached")
    expect_or(bench, outcome, CLOSED, kinds.COMPLETED, {kinds.REFUSED: LOST})
    if script.goes_on and not bench.client.ours:
        bench.not_testable("the client may keep that memory for another READ")
    what = "memory that serves another call refuses an RDMA Write by its old STag"
    expect.true(not script.goes_on, CLOSED, what, outcome=outcome)


@case("client.direct.cached-lengths", requirements=[CLOSED])
def test_cached_lengths(bench):
    """Calls with other lengths or directions offer other STags: no octet beyond that of a call is open."""
    outcome = _use_cached(bench)
    expect(outcome, CLOSED, must=[kinds.COMPLETED])
    uses = collections.defaultdict(set)  # {(connection, STag): {(list, octets)}}
    for conn, sent in outcome.calls:
        for kind, segment in _offers(sent.header):
            uses[conn.number, segment.handle].add((kind, segment.length))
    if not bench.client.ours and any(len(found) > 1 for found in uses.values()):
        bench.not_testable("the client may offer parts of one memory")
    most = max((len(found) for found in uses.values()), default=0)
    expect.equal(most, 1, CLOSED, "uses of one STag", outcome=outcome)
    lengths = {length for found in uses.values() for kind, length in found if kind == "write"}
    if len(lengths) < 2:
        bench.not_testable("all READs of the client ask for as many octets")


def _offers(header):
    """(list, segment) of all memory that a call offers."""
    if header is None:
        return []
    found = [("write", segment) for chunk in header.write_list for segment in chunk]
    found += [("read", entry.target) for entry in header.read_list]
    return found + [("reply", segment) for segment in header.reply_chunk or []]


class NextConnection(Once):
    """Ends the connection in place of the reply to the READ of the end of the file: those before have left memory open.
    Over the next one it writes to that of the last of them, before the first reply."""

    def __init__(self):
        super().__init__()
        self._target = None  # of the last READ that was answered
        self._first = None  # the connection that it ends

    def takes(self, reply):
        """Whether something has taken the reply's place."""
        if self._first is None:
            return is_read(reply) and self._ends_at(reply)
        if reply.conn is self._first:
            return False
        self.offer = reply
        _write(reply, self._target)
        reply.conform()
        return True

    def _ends_at(self, read):
        before, self._target = self._target, target(read)
        if before is None or not any(sum(each) >= SOURCE_BYTES for each in reads_of(read)):
            return False
        self._first, self._target = read.conn, before
        read.raw.abort()
        return True


@case("client.direct.cached-lost", requirements=[CLOSED], hostile=True)
def test_cached_lost(bench):
    """The connection ends. None of its memory is open on the next one: no STag is offered there again, and a late RDMA
    Write is refused."""
    _use_cached(bench)
    script = NextConnection()
    outcome = bench.use(script, server=MANY_CALLS, transfer="cached")
    expect_or(bench, outcome, CLOSED, kinds.COMPLETED, {kinds.REFUSED: LOST})
    offered = [
        {stag for sent in conn.calls if sent.header for stag in stags_of(sent.header)}
        for conn in outcome.connections
    ]
    again = sum(len(offered[0] & later) for later in offered[1:])
    expect.equal(again, 0, CLOSED, "STags that are offered on a later connection", outcome=outcome)
    what = "memory of a lost connection refuses an RDMA Write over the next one"
    expect.true(not script.goes_on, CLOSED, what, outcome=outcome)
