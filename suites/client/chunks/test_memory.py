"""RDMA operations on memory that the client has not offered, or has closed.

They fail and end the connection, and the data of the user stay right.
"""

import pytest

from steertag import wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import (
    has_reply_chunk,
    is_read,
    is_write,
    Script,
    stags_of,
)
from ..call_kinds import CALL_KINDS, SPOILER
from ..client_verdicts import expect_or, LOST
from ..memory_use import error, MemoryUse, source, target
from ..short_read import cut, parted, placed, shortened

# READs of so many octets are not shortened any more.
LEAST_READ_BYTES = 1024
READ_AGAIN_BYTES = 64
# Written into what a reply leaves of a chunk, whatever its length.
MOST_SPOILT_BYTES = 1 << 20
UNSURE = "nothing that the client did shows that its user had the answer"


def _reply(reply):
    """Without invalidation: it is for the client to close the memory."""
    reply.push()
    reply.send()


WRITES = {
    # name: (which reply, the answer behind which it comes or None, what to do)
    "write-after-reply": (is_read, _reply, lambda r: _write(r, target(r))),
    "write-to-read-chunk": (is_write, None, lambda r: _write(r, source(r))),
    "write-to-read-chunk-after-reply": (is_write, _reply, lambda r: _write(r, source(r))),
    "write-behind-segment": (is_read, None, lambda r: _write(r, target(r), at=target(r).length)),
    "write-across-end": (is_read, None, lambda r: _write(r, target(r), at=target(r).length - 4)),
    "write-before-segment": (is_read, None, lambda r: _write(r, target(r), at=-64)),
    "write-to-no-memory": (is_read, None, lambda r: _write(r, target(r), flip=0x5A5A5A5A)),
    "write-to-other-generation": (is_read, None, lambda r: _write(r, target(r), flip=1)),
}
READS = {
    "read-after-reply": (is_write, _reply, lambda r: _read(r, source(r))),
    "read-write-chunk": (is_read, None, lambda r: _read(r, target(r))),
    "read-write-chunk-after-reply": (is_read, _reply, lambda r: _read(r, target(r))),
    "read-behind-segment": (
        is_write,
        None,
        lambda r: _read(r, source(r), at=source(r).length),
    ),
    "read-before-segment": (is_write, None, lambda r: _read(r, source(r), at=-64)),
    "read-no-memory": (is_write, None, lambda r: _read(r, source(r), flip=0x5A5A5A5A)),
}


def _write(reply, segment, at=0, flip=0):
    reply.raw.write(SPOILER * 64, segment.handle ^ flip, _at(segment, at))
    return False


def _read(reply, segment, at=0, flip=0):
    """True: octets are waited for."""
    reply.raw.read(segment.handle ^ flip, _at(segment, at), 64)
    return True


def _at(segment, at):
    """The place so many octets into the segment, whatever offset the client gives."""
    return (segment.offset + at) % (1 << 64)


def _use_memory(bench, when, act, answer, requirement_id, kind, others, own=()):
    """(MemoryUse, ClientOutcome) of a run whose outcome is judged, after memory that is certainly closed was
    used."""
    use = MemoryUse(when, act, answer)
    outcome = bench.use(use, own=own)
    expect_or(bench, outcome, requirement_id, kind, others)
    if not use.used:
        bench.not_testable(UNSURE)
    return use, outcome


COMPLETES = (kinds.COMPLETED, {kinds.REFUSED: LOST})
AGAIN = "it did the same by another call"
REFUSES = (kinds.REFUSED, {kinds.COMPLETED: AGAIN})
TAKEN = "RDMA Reads that the client's memory took"


@pytest.mark.parametrize("name", WRITES)
@case("client.memory.{name}", requirements=["RFC8166-8.1-1"], hostile=True)
def test_write(bench, name):
    """The octets land nowhere where the user would find them."""
    when, answer, act = WRITES[name]
    _use_memory(bench, when, act, answer, "RFC8166-8.1-1", *COMPLETES)


@pytest.mark.parametrize("name", READS)
@case("client.memory.{name}", requirements=["RFC8166-8.1-1"], hostile=True)
def test_read(bench, name):
    """The server gets nothing to see but what the call offers for reading."""
    when, answer, act = READS[name]
    use, _ = _use_memory(bench, when, act, answer, "RFC8166-8.1-1", *COMPLETES)
    expect.equal(len(use.read), 0, "RFC8166-8.1-1", TAKEN)


def _is_long_call(reply):
    return reply.kind == "reply" and reply.call.proc == wire.Procedure.NOMSG


def _leaves_reply_chunk(reply):
    return has_reply_chunk(reply) and reply.header.proc == wire.Procedure.MSG


@case("client.memory.read-long-call-after-reply", requirements=["RFC8166-8.1-1"], hostile=True)
def test_read_long_call(bench):
    """A position-zero chunk cannot be read any more once its call has its reply. Ours sends long calls only here."""

    def act(reply):
        return _read(reply, reply.call.read_list[0].target)

    own = ["--long-calls"]
    use, outcome = _use_memory(
        bench, _is_long_call, act, _reply, "RFC8166-8.1-1", *COMPLETES, own=own
    )
    expect.equal(len(use.read), 0, "RFC8166-8.1-1", TAKEN, outcome=outcome)


@case("client.memory.write-unused-reply-chunk", requirements=["RFC8166-8.1-1"], hostile=True)
def test_write_reply_chunk(bench):
    """A reply chunk that is returned unused is closed like all other memory: an RDMA Write to it ends the
    connection. Ours offers such chunks only here."""

    def act(reply):
        return _write(reply, reply.call.reply_chunk[0])

    own = ["--reply-chunks"]
    _, outcome = _use_memory(
        bench, _leaves_reply_chunk, act, _reply, "RFC8166-8.1-1", *COMPLETES, own=own
    )
    ended = outcome.kind not in kinds.DONE or len(outcome.connections) > 1
    what = "an RDMA Write to memory of an answered call ends the connection"
    expect.true(ended, "RFC8166-8.1-1", what, outcome=outcome)


def _close_other(reply):
    """Send with Invalidate of memory of the call that is not the data's."""
    reply.push()
    data = source(reply).handle
    reply.send(invalidate=next(stag for stag in reply.stags if stag != data))


@case(
    "client.memory.read-beside-invalidated",
    requirements=["RFC8166-8.1-1"],
    needs=["client-invalidation"],
    hostile=True,
)
def test_beside_invalidated(bench):
    """A WRITE offers memory with several STags. The reply closes one of them by Send with Invalidate.
    The client closes the others itself, so that the data cannot be read any more. Ours offers a reply
    chunk in each call."""

    def has_others(reply):
        return is_write(reply) and len(set(reply.stags)) > 1

    use = MemoryUse(has_others, lambda reply: _read(reply, source(reply)), _close_other)
    outcome = bench.use(use, own=["--reply-chunks"])
    kind, others = COMPLETES
    expect_or(bench, outcome, "RFC8166-8.1-1", kind, others)
    if not use.used:
        bench.not_testable(UNSURE)
    expect.equal(len(use.read), 0, "RFC8166-8.1-1", TAKEN)


USES = {
    "read": lambda reply: _write(reply, target(reply)),
    "write": lambda reply: _read(reply, source(reply)),
}


@pytest.mark.parametrize("call_kind", USES)
@case("client.memory.error-then-use.{call_kind}", requirements=["RFC8166-4.4.1-2"], hostile=True)
def test_after_error(bench, call_kind):
    """After an RDMA_ERROR the call has ended, and the memory of the call is closed as after a reply."""
    use, _ = _use_memory(
        bench, CALL_KINDS[call_kind], USES[call_kind], error, "RFC8166-4.4.1-2", *REFUSES
    )
    expect.equal(len(use.read), 0, "RFC8166-4.4.1-2", TAKEN)


@case(
    "client.memory.on-other-connection",
    requirements=["RFC8166-8.1.1-1"],
    hostile=True,
    unbroken="RFC8166-8.1.1-1: the provider of the memory's owner refuses.",
)
def test_other_connection(bench):
    """Memory of a lost connection is not open on the next one."""
    old = []

    class Other(Script):
        waits = True

        def on_departure(self, reply):
            if not old and is_read(reply):
                old.append(target(reply))
                reply.raw.abort()
                return True
            if len(old) == 1 and len(bench.connections) > 1 and reply.kind == "reply":
                if any(old[0].handle in stags_of(call.header) for call in reply.conn.calls):
                    bench.not_testable("the client offers the same STag on the next connection")
                reply.raw.write(SPOILER * 64, old[0].handle, old[0].offset)
                self.waits = False
                old.append(reply)
                reply.conform()
                return True
            return False

    outcome = bench.use(Other())
    # Our server does not refuse the READ at the third: it was not the READ that memory denied (RFC 8166 4.5.3).
    expect_or(bench, outcome, "RFC8166-8.1.1-1", kinds.COMPLETED, {kinds.REFUSED: LOST})


class OnNext(Script):
    """Aborts the connection in place of the reply to a WRITE. Reads its memory over the next
    connection, where another reply waits for the result."""

    def __init__(self):
        self._old = None  # (connection, segment) of the first
        self._held = None
        self.again = False  # the client offers the same STag over the next one
        self.waits = True
        self.read = []

    def on_departure(self, reply):
        if self._old is None:
            if not is_write(reply):
                return False
            self._old = reply.conn, source(reply)
            reply.raw.abort()
            return True
        conn, segment = self._old
        if not self.waits or reply.kind != "reply" or reply.conn is conn:
            return False
        self.waits = False
        self.again = any(segment.handle in stags_of(each.header) for each in reply.conn.calls)
        if self.again:
            return False
        self._held = reply
        reply.raw.read(segment.handle, segment.offset, 64)
        return True

    def _release(self):
        held, self._held = self._held, None
        if held is not None:
            held.conform_late()

    def on_read(self, conn, number, octets):
        self.read.append(octets)
        self._release()

    def on_quiet(self):
        self._release()


@case(
    "client.memory.read-over-other-connection",
    requirements=["RFC8166-8.1-2"],
    hostile=True,
    unbroken="RFC8166-8.1-2: the provider of the memory's owner refuses.",
)
def test_read_over_other(bench):
    """What a call offers for reading on one connection cannot be read over the next: an STag is good for
    its own connection only."""
    script = OnNext()
    outcome = bench.use(script)
    if script.again:
        bench.not_testable("the client offers the same STag on the next connection")
    expect.equal(len(script.read), 0, "RFC8166-8.1-2", TAKEN, outcome=outcome)
    expect_or(bench, outcome, "RFC8166-8.1-2", kinds.COMPLETED, {kinds.REFUSED: LOST})


@case("client.memory.writes-in-pieces", requirements=["RFC8166-3.4.6.1-1"])
def test_pieces(bench):
    """A segment is filled by many small RDMA Writes, the last first: legal before the Send."""

    def interpose(reply):
        for write in reply.writes:
            octets = bytes(write.octets)
            for at in reversed(range(0, len(octets), 1000)):
                reply.raw.write(octets[at : at + 1000], write.stag, write.offset + at)
        reply.send(invalidate=reply.invalidate)

    outcome = bench.use(reply=interpose, when=is_read)
    expect(outcome, "RFC8166-3.4.6.1-1", must=[kinds.COMPLETED])


@case("client.memory.beyond-returned-length", requirements=["RFC8166-4.3.2.2-5"], hostile=True)
def test_beyond(bench):
    """READs return half of what they could, and the rest of their chunks is filled all the same.
    The memory behind the returned length may hold anything (RFC 8166 4.3.2.2)."""
    spoilt = []

    def interpose(reply):
        most = max(LEAST_READ_BYTES, len(placed(reply)) // 2)
        payload, data = shortened(reply, most) or (reply.payload, placed(reply))
        filled, left = parted(reply.call.write_list[0], len(data))
        draft = reply.draft()
        draft.payload = payload
        draft.write_list = [wire.DraftChunk(segments=filled), *draft.write_list[1:]]
        spoilt.extend(left)
        reply.push(cut(reply.writes, len(data)))
        for rest in left:
            octets = SPOILER * min(rest.length, MOST_SPOILT_BYTES)
            reply.raw.write(octets, rest.handle, rest.offset)
        reply.send(draft)

    outcome = bench.use(reply=interpose, when=is_read, times=None)
    expect(outcome, "RFC8166-4.3.2.2-5", must=[kinds.COMPLETED])
    if not spoilt:
        bench.not_testable("no READ of the client can be answered with less than fills its chunk")


class ReadAgain(Script):
    """Reads the first read chunk once more, before the reply to its call."""

    def __init__(self):
        self._reply = None
        self.octets = None  # what was read

    @property
    def begun(self):
        return self._reply is not None

    def on_departure(self, reply):
        if self.begun or not is_write(reply):
            return False
        self._reply = reply
        chunk = source(reply)
        reply.raw.read(chunk.handle, chunk.offset, min(chunk.length, READ_AGAIN_BYTES))
        return True

    def on_read(self, conn, number, octets):
        self.octets = octets
        self._reply.conform_late()


@case(
    "client.memory.read-chunk-open",
    requirements=["RFC8166-3.4.5.1-2"],
    needs=["client-read-chunks"],
)
def test_read_chunk_open(bench):
    """The server reads a chunk twice, which it may until it has replied: the memory is there."""
    script = ReadAgain()
    outcome = bench.use(script, server={"inline_bytes": 1024})
    expect(outcome, "RFC8166-3.4.5.1-2", must=[kinds.COMPLETED])
    if not script.begun:
        bench.not_testable("the client sends no read chunk where 1024 octets are the threshold")
    there = script.octets is not None
    what = "the memory of a read chunk is open until the reply"
    expect.true(there, "RFC8166-3.4.5.1-2", what, outcome=outcome)
