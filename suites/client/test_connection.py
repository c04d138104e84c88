"""The connection is lost at every step: calls are made again on another, and their effect is one."""

import pytest

from places import PLACES
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.script import is_read, is_write, Script

GIVES_UP = "it takes a lost connection for the end, and tells its user"
# More than any client needs for this file, on all connections that it tries.
MOST_CONNECTIONS = 64

ENDS = {
    "abort": lambda line: line.abort(),
    "disconnect": lambda line: line.disconnect(),
    # RFC 5040 4.8: layer RDMAP, remote operation error, catastrophic.
    "terminate": lambda line: line.terminate(0, 2, 5),
}


class Ending(Script):
    """Ends a connection, once unless `always`, at one step."""

    def __init__(self, step, end, always=False):
        self._step, self._end, self._always = step, end, always
        self.waits = True

    def _now(self, step, conn):
        if step != self._step or not (self.waits or self._always):
            return False
        self.waits = False
        self._end(conn.line)
        return True

    def on_arrival(self, conn, message):
        return self._now("first-call", conn)

    def on_departure(self, reply):
        if reply.kind == "callback":
            return False
        conn = reply.conn
        if is_read(reply) and self._step == "read-half" and (self.waits or self._always):
            half = reply.writes[: max(1, len(reply.writes) // 2)]
            reply.push(half)
            return self._now("read-half", conn)
        if is_read(reply) and self._step == "read-writes" and (self.waits or self._always):
            reply.push()
            return self._now("read-writes", conn)
        for step, holds in (
            ("first-reply", True),
            ("plain-reply", PLACES["plain"](reply)),
            ("read-reply", is_read(reply)),
            ("write-reply", is_write(reply)),
        ):
            if holds and self._now(step, conn):
                return True
        if self._step in ("behind-read", "behind-write") and (self.waits or self._always):
            if is_read(reply) if self._step == "behind-read" else is_write(reply):
                reply.conform()
                return self._now(self._step, conn)
        return False


STEPS = (
    "first-call",
    "first-reply",
    "plain-reply",
    "read-half",
    "read-writes",
    "read-reply",
    "behind-read",
    "write-reply",
    "behind-write",
)


@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize("step", STEPS)
@case("client.loss.{step}.{how}", requirements=["RFC8166-4.5.5-1"], hostile=True)
def test_loss(bench, step, how):
    """One connection ends at this step; what had no reply is made again on another."""
    outcome = bench.use(Ending(step, ENDS[how]))
    expect(outcome, "RFC8166-4.5.5-1", must=[kinds.COMPLETED], latitude={kinds.REFUSED: GIVES_UP})


@pytest.mark.parametrize("step", ["first-call", "first-reply", "read-reply", "write-reply"])
@case("client.loss.always.{step}", requirements=["RFC8166-4.5.5-1"], hostile=True)
def test_always(bench, step):
    """Every connection ends at this step: the user is told, after a bounded number of connections."""
    outcome = bench.use(Ending(step, ENDS["abort"], always=True))
    inline = "it did without such calls"
    expect(outcome, "RFC8166-4.5.5-1", must=[kinds.REFUSED], latitude={kinds.COMPLETED: inline})
    expect.at_most(len(outcome.connections), MOST_CONNECTIONS, "RFC8166-4.5.5-1", "connections")


@pytest.mark.parametrize("step", ["read-reply", "write-reply"])
@case(
    "client.loss.same-xid.{step}",
    requirements=["RFC8267-6.7.2-3"],
    needs=["client-nfs4.1"],
    hostile=True,
)
def test_same_xid(bench, step):
    """A call without a reply is sent again on the next connection, and is the same call to the session:
    one XID, one slot and sequence id."""
    lost = []

    class Lose(Script):
        waits = True

        def on_departure(self, reply):
            if not self.waits or not PLACES[step.partition("-")[0]](reply):
                return False
            self.waits = False
            lost.append((reply.xid, bytes(reply.rpc_call)))
            reply.line.abort()
            return True

    outcome = bench.use(Lose())
    expect(outcome, "RFC8267-6.7.2-3", must=[kinds.COMPLETED], latitude={kinds.REFUSED: GIVES_UP})
    if outcome.kind == kinds.COMPLETED:
        again = outcome.sends_of(lost[0][0])
        expect.equal(again, 2, "RFC8267-6.7.2-3", "times that the call was sent")


@pytest.mark.parametrize("answer", ["drop", "reject"])
@case("client.startup.{answer}-first", requirements=["RFC8166-4.5.5-1"], hostile=True)
def test_startup_first(bench, answer):
    """The first request gets no connection; a client may try again or tell its user."""

    def request(step):
        if len(bench.connections) == 1:
            step.answer = answer

    outcome = bench.use(request=request)
    tried = "it tried again"
    expect(outcome, "RFC8166-4.5.5-1", must=[kinds.REFUSED], latitude={kinds.COMPLETED: tried})


@case("client.startup.drop-always", requirements=["RFC8166-4.5.5-1"], hostile=True)
def test_startup_drop(bench):
    """No request gets a connection: the user is told."""

    def request(step):
        step.answer = "drop"

    expect(bench.use(request=request), "RFC8166-4.5.5-1", must=[kinds.REFUSED])


@pytest.mark.parametrize("answer", ["drop", "reject"])
@case("client.startup.{answer}-reconnect", requirements=["RFC8166-4.5.5-1"], hostile=True)
def test_startup_reconnect(bench, answer):
    """A connection is lost in the middle, and the next request gets none: the client tries again."""

    def request(step):
        if len(bench.connections) == 2:
            step.answer = answer

    def bend(reply):
        reply.line.abort()

    outcome = bench.use(request=request, reply=bend, when=is_read)
    expect(outcome, "RFC8166-4.5.5-1", must=[kinds.COMPLETED], latitude={kinds.REFUSED: GIVES_UP})


@case("client.startup.abort-once-accepted", requirements=["RFC8166-4.5.5-1"], hostile=True)
def test_abort_accepted(bench):
    """The connection ends as soon as it is up."""

    def accepted(conn):
        if len(bench.connections) == 1:
            conn.line.abort()

    outcome = bench.use(accepted=accepted)
    expect(outcome, "RFC8166-4.5.5-1", must=[kinds.COMPLETED], latitude={kinds.REFUSED: GIVES_UP})


STARTUPS = {
    # RFC 5044 7.1.1: key, flags M C R S, revision, length of the private data.
    "revision-three": b"MPA ID Rep Frame" + b"\x40\x03\x00\x00",
    "key-of-request": b"MPA ID Req Frame" + b"\x40\x01\x00\x00",
    "foreign-key": b"HTTP/1.1 400 Bad" + b"\x40\x01\x00\x00",
    "cut": b"MPA ID Rep Fr",
    "length-beyond-end": b"MPA ID Rep Frame" + b"\x40\x01\xff\xff",
    "nothing": b"",
}


@pytest.mark.parametrize("name", STARTUPS)
@case(
    "client.startup.reply.{name}",
    requirements=["RFC5044-7.1.1-1"],
    needs=["server-fault-hooks"],
    hostile=True,
)
def test_startup_reply(bench, name):
    """The first MPA reply is none: the client ends the stream; it may try again or tell its user."""

    def request(step):
        if len(bench.connections) == 1:
            step.raw_startup = STARTUPS[name]

    def quiet():
        # A client that waits for more is not left alone with it.
        if len(bench.connections) == 1:
            bench.connections[0].line.abort()

    outcome = bench.use(request=request, quiet=quiet)
    tried = "it tried again"
    expect(outcome, "RFC5044-7.1.1-1", must=[kinds.REFUSED], latitude={kinds.COMPLETED: tried})


@pytest.mark.parametrize("place", PLACES)
@case("client.loss.reply-on-next.{place}", requirements=["RFC8166-4.5.5-1"], hostile=True)
def test_reply_on_next(bench, place):
    """The reply that was due on the lost connection comes on the next as soon as anything is asked
    there: it may count or not, and the call has one effect."""
    due = []

    class Next(Script):
        waits = True

        def on_departure(self, reply):
            if self.waits and PLACES[place](reply):
                self.waits = False
                due.append(reply)
                reply.line.abort()
                return True
            if due and reply.kind == "reply":
                reply.send(due.pop().message)
                reply.conform()
                return True
            return False

    outcome = bench.use(Next())
    refused = "the stale reply ends the call, or the connection is the end"
    expect(outcome, "RFC8166-4.5.5-1", must=[kinds.COMPLETED], latitude={kinds.REFUSED: refused})
