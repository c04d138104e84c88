"""RDMA operations on memory that the client has not offered, or has closed: they fail, and end the
connection; the data of the user stay right."""

import pytest

from places import PLACES
from steertag import peer
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.script import is_read, is_write, Script

SPOILER = b"\xee"


class Intruder(Script):
    """Uses the client's memory at a reply, once, and notes what it could read. `before` the reply that
    closes the memory, or behind it: a client may take a moment to close what it has the reply to, so that
    this comes when another call of it waits for its reply and it has nothing more to say. With `reads`
    that reply comes when the RDMA Read is answered."""

    def __init__(self, when, act, before, reads=False):
        self._when, self._act, self._before, self._reads = when, act, before, reads
        self._offer = None  # the reply to the call whose memory is used
        self._held = None  # a reply that waits for the use
        self.waits = True
        self.read = []

    def on_departure(self, reply):
        if reply.kind == "callback":
            return False
        if self._offer is None:
            return self._when(reply) and self._begin(reply)
        if self.waits and self._held is None and reply.conn is self._offer.conn:
            self._held = reply
            return True
        return False

    def _begin(self, reply):
        self._offer = reply
        if self._before:
            self._use(reply)
        else:
            # Without invalidation: it is for the client to close the memory.
            reply.push()
            reply.send()
        return True

    def _use(self, held):
        self.waits = False
        self._act(self._offer)
        self._held = held
        if not self._reads:
            self._release()

    def _release(self):
        held, self._held = self._held, None
        if held is not None and held.line.up:
            held.conform()

    def on_read(self, conn, number, octets):
        self.read.append(octets)
        self._release()

    def on_quiet(self):
        if self.waits and self._held is not None and self._held.line.up:
            self._use(self._held)
        else:
            self._release()


def _target(reply):
    return [segment for chunk in reply.call.write_list for segment in chunk][0]


def _source(reply):
    return next(entry.target for entry in reply.call.read_list if entry.position)


WRITES = {
    # name: (which reply, before or behind it, what to do)
    "write-after-reply": (is_read, False, lambda r: _write(r, _target(r))),
    "write-to-read-chunk": (is_write, True, lambda r: _write(r, _source(r))),
    "write-to-read-chunk-after-reply": (is_write, False, lambda r: _write(r, _source(r))),
    "write-behind-segment": (is_read, True, lambda r: _write(r, _target(r), at=_target(r).length)),
    "write-across-end": (is_read, True, lambda r: _write(r, _target(r), at=_target(r).length - 4)),
    "write-before-segment": (is_read, True, lambda r: _write(r, _target(r), at=-64)),
    "write-to-no-memory": (is_read, True, lambda r: _write(r, _target(r), flip=0x5A5A5A5A)),
    "write-to-other-generation": (is_read, True, lambda r: _write(r, _target(r), flip=1)),
}
READS = {
    "read-after-reply": (is_write, False, lambda r: _read(r, _source(r))),
    "read-write-chunk": (is_read, True, lambda r: _read(r, _target(r))),
    "read-write-chunk-after-reply": (is_read, False, lambda r: _read(r, _target(r))),
    "read-behind-segment": (
        is_write,
        True,
        lambda r: _read(r, _source(r), at=_source(r).length),
    ),
    "read-before-segment": (is_write, True, lambda r: _read(r, _source(r), at=-64)),
    "read-no-memory": (is_write, True, lambda r: _read(r, _source(r), flip=0x5A5A5A5A)),
}


def _write(reply, segment, at=0, flip=0):
    reply.line.write(SPOILER * 64, segment.handle ^ flip, segment.offset + at)


def _read(reply, segment, at=0, flip=0):
    reply.line.read(segment.handle ^ flip, segment.offset + at, 64)


@pytest.mark.parametrize("name", WRITES)
@case("client.memory.{name}", requirements=["RFC8166-8.1-1"], hostile=True)
def test_write(bench, name):
    """The octets land nowhere where the user would find them."""
    when, before, act = WRITES[name][0], WRITES[name][1], WRITES[name][2]
    outcome = bench.use(Intruder(when, act, before))
    refused = "it takes the lost connection for the end"
    expect(outcome, "RFC8166-8.1-1", must=[kinds.COMPLETED], latitude={kinds.REFUSED: refused})


@pytest.mark.parametrize("name", READS)
@case("client.memory.{name}", requirements=["RFC8166-8.1-1"], hostile=True)
def test_read(bench, name):
    """The server gets nothing to see but what the call offers for reading."""
    when, before, act = READS[name][0], READS[name][1], READS[name][2]
    intruder = Intruder(when, act, before, reads=True)
    outcome = bench.use(intruder)
    refused = "it takes the lost connection for the end"
    expect(outcome, "RFC8166-8.1-1", must=[kinds.COMPLETED], latitude={kinds.REFUSED: refused})
    expect.equal(len(intruder.read), 0, "RFC8166-8.1-1", "RDMA Reads that the client's memory took")


@pytest.mark.parametrize("place", ["read", "write"])
@case("client.memory.error-then-use.{place}", requirements=["RFC8166-4.4.1-2"], hostile=True)
def test_after_error(bench, place):
    """After an RDMA_ERROR the call has ended, and the memory of the call is closed as after a reply."""
    done = []

    class Error(Script):
        waits = True

        def on_departure(self, reply):
            if done or not PLACES[place](reply):
                return False
            self.waits = False
            done.append(reply)
            reply.error(2)
            if place == "read":
                _write(reply, _target(reply))
            else:
                _read(reply, _source(reply))
            return True

        def on_read(self, conn, number, octets):
            done.append(octets)

    outcome = bench.use(Error())
    again = "it did the same by another call"
    expect(outcome, "RFC8166-4.4.1-2", must=[kinds.REFUSED], latitude={kinds.COMPLETED: again})
    expect.equal(len(done), 1, "RFC8166-4.4.1-2", "uses of the memory, the call's own included")


@case("client.memory.on-other-connection", requirements=["RFC8166-8.1.1-1"], hostile=True)
def test_other_connection(bench):
    """Memory of a lost connection is not open on the next one."""
    old = []

    class Other(Script):
        waits = True

        def on_departure(self, reply):
            if not old and is_read(reply):
                old.append(_target(reply))
                reply.line.abort()
                return True
            if len(old) == 1 and len(bench.connections) > 1 and reply.kind == "reply":
                reply.line.write(SPOILER * 64, old[0].handle, old[0].offset)
                self.waits = False
                old.append(reply)
                reply.conform()
                return True
            return False

    outcome = bench.use(Other())
    refused = "it takes a lost connection for the end"
    expect(outcome, "RFC8166-8.1.1-1", must=[kinds.COMPLETED], latitude={kinds.REFUSED: refused})


@case("client.memory.writes-in-pieces", requirements=["RFC8166-3.4.6.1-1"])
def test_pieces(bench):
    """A segment is filled by many small RDMA Writes, the last first: legal before the Send."""

    def bend(reply):
        for write in reply.writes:
            octets = bytes(write.octets)
            for at in reversed(range(0, len(octets), 1000)):
                reply.line.write(octets[at : at + 1000], write.stag, write.offset + at)
        reply.send(invalidate=reply.invalidate)

    outcome = bench.use(reply=bend, when=is_read)
    expect(outcome, "RFC8166-3.4.6.1-1", must=[kinds.COMPLETED])


@case("client.memory.beyond-returned-length", requirements=["RFC8166-4.3.2.2-5"], hostile=True)
def test_beyond(bench):
    """The READ of the end of the file fills its chunk beyond the data: what is behind the returned
    length may be anything (RFC 8166 4.3.2.2)."""

    def bend(reply):
        segment = _target(reply)
        placed = sum(len(write.octets) for write in reply.writes)
        reply.push()
        if placed < segment.length:
            rest = segment.length - placed
            reply.push([peer.RemoteWrite(segment.handle, segment.offset + placed, SPOILER * rest)])
        reply.send()

    outcome = bench.use(reply=bend, when=is_read, times=None)
    expect(outcome, "RFC8166-4.3.2.2-5", must=[kinds.COMPLETED])
