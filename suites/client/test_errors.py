"""RDMA_ERROR: it ends the call that it names, for good; one that does not decode ends nothing."""

import pytest

from places import PLACES
from steertag import wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.script import Script

VERS, CHUNK = 1, 2
RETRIED = "the client did the same by a new transaction (RFC 8267 3.1)"
# A bound for "not without end": more than any client has calls for this file.
MOST_CALLS = 400
ERRORS = {"err-chunk": (CHUNK, 1, 1), "err-vers": (VERS, 1, 1), "err-vers-two-three": (VERS, 2, 3)}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ERRORS)
@case(
    "client.error.{name}.{place}",
    requirements=["RFC8166-4.5-8", "RFC8267-6.4.2-8"],
    hostile=True,
)
def test_error(bench, name, place):
    """The error ends the call: its user is told, and its XID is not sent again."""
    seen = []

    def bend(reply):
        seen.append(reply.xid)
        reply.error(*ERRORS[name])

    outcome = bench.use(reply=bend, when=PLACES[place])
    expect(outcome, "RFC8166-4.5-8", must=[kinds.REFUSED], latitude={kinds.COMPLETED: RETRIED})
    expect.equal(outcome.sends_of(seen[0]), 1, "RFC8267-6.4.2-8", "times that the call was sent")


class ErrorThenReply(Script):
    """Answers one call with an error, and with the reply as well when the client has nothing more to
    say: a client that has taken the error does not need it."""

    def __init__(self, when):
        self._when = when
        self._reply = None
        self._replied = False
        self.needed = False  # nothing came after the error

    @property
    def waits(self):
        return self._reply is None

    def on_arrival(self, conn, message):
        self._silent = False
        return False

    def on_departure(self, reply):
        if self._reply is not None or reply.kind == "callback" or not self._when(reply):
            return False
        self._reply = reply
        self._silent = True
        reply.error(CHUNK)
        return True

    def on_quiet(self):
        if self._reply is None or self._replied or not self._reply.line.up:
            return
        self._replied = True
        self.needed = self._silent
        self._reply.conform()


@pytest.mark.parametrize("place", PLACES)
@case("client.error.completes.{place}", requirements=["RFC8166-4.5-8"], hostile=True)
def test_completes(bench, place):
    """The error completes the call: its reply, which comes only when the client is quiet, finds no call
    any more."""
    script = ErrorThenReply(PLACES[place])
    outcome = bench.use(script)
    expect(outcome, "RFC8166-4.5-8", must=[kinds.REFUSED], latitude={kinds.COMPLETED: RETRIED})
    late = outcome.kind == kinds.COMPLETED and script.needed
    expect.true(not late, "RFC8166-4.5-8", "the error ends the call", outcome=outcome)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ["err-chunk", "err-vers"])
@case("client.error.{name}.always.{place}", requirements=["RFC8267-3.1-4"], hostile=True)
def test_always(bench, name, place):
    """The same error for every such call: the client gives up, and does not try without end."""

    def bend(reply):
        reply.error(*ERRORS[name])

    outcome = bench.use(reply=bend, when=PLACES[place], times=None)
    inline = "it did without such calls"
    expect(outcome, "RFC8267-3.1-4", must=[kinds.REFUSED], latitude={kinds.COMPLETED: inline})
    expect.at_most(len(outcome.calls), MOST_CALLS, "RFC8267-3.1-4", "calls")


UNDECODABLE = {
    "code-zero": lambda message: message[:16] + bytes(4),
    "code-three": lambda message: message[:16] + b"\0\0\0\3",
    "code-largest": lambda message: message[:16] + b"\xff" * 4,
    "without-code": lambda message: message[:16],
    "cut-in-code": lambda message: message[:18],
    "vers-without-range": lambda message: message[:16] + b"\0\0\0\1",
    "vers-without-high": lambda message: message[:16] + b"\0\0\0\1\0\0\0\1",
    "code-three-padded": lambda message: message[:16] + b"\0\0\0\3" + bytes(16),
}


@pytest.mark.parametrize("place", ["plain", "read"])
@pytest.mark.parametrize("name", UNDECODABLE)
@case("client.error.undecodable.{name}.{place}", requirements=["RFC8166-4.5-9"], hostile=True)
def test_undecodable(bench, name, place):
    """An RDMA_ERROR that does not decode is discarded: the reply behind it completes the call."""

    def bend(reply):
        reply.send(UNDECODABLE[name](wire.encode(wire.Draft(xid=reply.xid, credit=32, proc=4))))
        reply.conform()

    outcome = bench.use(reply=bend, when=PLACES[place])
    expect(outcome, "RFC8166-4.5-9", must=[kinds.COMPLETED])


@pytest.mark.parametrize("name", ["err-chunk", "err-vers"])
@case("client.error.{name}.unknown-xid", requirements=["RFC8166-4.5-8"], hostile=True)
def test_unknown(bench, name):
    """An error for an XID that no call has completes nothing."""

    def bend(reply):
        code, low, high = ERRORS[name]
        reply.error(code, low, high, xid=reply.xid ^ 0x5A5A0000)
        reply.conform()

    expect(bench.use(reply=bend), "RFC8166-4.5-8", must=[kinds.COMPLETED])


@pytest.mark.parametrize("place", PLACES)
@case("client.error.then-reply.{place}", requirements=["RFC8166-4.5-8"], hostile=True)
def test_then_reply(bench, place):
    """The call has ended with the error: the reply behind it finds no call, and its RDMA Writes no
    memory."""

    def bend(reply):
        reply.error(CHUNK)
        reply.conform()

    outcome = bench.use(reply=bend, when=PLACES[place])
    expect(outcome, "RFC8166-4.5-8", must=[kinds.REFUSED], latitude={kinds.COMPLETED: RETRIED})


class ErrorThenEnd(Script):
    """Answers one call with an error and all later ones not at all; ends the connection when the client
    has had time to take the error, and conforms on the next."""

    def __init__(self, when, how):
        self._when, self._how = when, how
        self.conn = None
        self.xid = None

    @property
    def waits(self):
        return self.conn is None

    def on_departure(self, reply):
        if reply.kind == "callback":
            return False
        if self.conn is not None:
            return reply.conn is self.conn
        if not self._when(reply):
            return False
        self.conn, self.xid = reply.conn, reply.xid
        reply.error(CHUNK)
        return True

    def on_quiet(self):
        if self.conn is None:
            return
        if self._how == "disconnect":
            self.conn.line.disconnect()
        else:
            self.conn.line.abort()


@pytest.mark.parametrize("how", ["disconnect", "abort"])
@pytest.mark.parametrize("place", PLACES)
@case("client.error.then-{how}.{place}", requirements=["RFC8267-6.7.2-2"], hostile=True)
def test_then_close(bench, how, place):
    """An error and then the end of the connection: the error counts first, so that the call is not
    sent again on the next connection."""
    script = ErrorThenEnd(PLACES[place], how)
    outcome = bench.use(script)
    expect(outcome, "RFC8267-6.7.2-2", must=[kinds.REFUSED], latitude={kinds.COMPLETED: RETRIED})
    sends = outcome.sends_of(script.xid)
    if how == "abort" and sends == 2:
        # The end may have overtaken it.
        bench.latitude("RFC8267-6.7.2-2", "it did not see the error")
        return
    expect.equal(sends, 1, "RFC8267-6.7.2-2", "times that the call was sent", outcome=outcome)


@case("client.error.grants-nothing", requirements=["RFC8166-3.3.1-5"], hostile=True)
def test_no_grant(bench):
    """An error that grants no credits leaves the client one, or ends the connection: it does not wait
    for ever."""

    def bend(reply):
        reply.error(CHUNK, credit=0)

    outcome = bench.use(reply=bend)
    expect(outcome, "RFC8166-3.3.1-5", must=[kinds.REFUSED], latitude={kinds.COMPLETED: RETRIED})


@pytest.mark.parametrize("place", PLACES)
@case("client.error.with-version-two.{place}", requirements=["RFC8166-4.5-8"], hostile=True)
def test_other_version(bench, place):
    """ERR_VERS under the version of the responder, not of the call: position and meaning of its words
    are the same in all versions (RFC 8166 7), so that it may count; rdma_vers is wrong (4.5), so that
    it may be discarded too."""

    def bend(reply):
        reply.error(VERS, 2, 2, vers=2)
        reply.conform()

    outcome = bench.use(reply=bend, when=PLACES[place])
    refused = "it counts, because the layout of ERR_VERS is the same in all versions"
    expect(outcome, "RFC8166-4.5-8", must=[kinds.COMPLETED], latitude={kinds.REFUSED: refused})
