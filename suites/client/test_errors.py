"""RDMA_ERROR: it ends the call that it names, for good; one that does not decode ends nothing."""

import pytest

from steertag import peer, wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import is_read, Script
from .places import completes, expect_or, patience, PLACES, shows_end, SPOILER

VERS, CHUNK = 1, 2
RETRIED = "the client did the same by a new transaction (RFC 8267 3.1)"
# A bound for "not without end": more than any client has calls for this file.
MOST_CALLS = 400
SAME_OCTETS = 32
ERRORS = {"err-chunk": (CHUNK, 1, 1), "err-vers": (VERS, 1, 1), "err-vers-two-three": (VERS, 2, 3)}


def expect_no_resend(bench, outcome, xid, code):
    """A call that was answered with an error is not sent again. RFC 8267 6.4.2 says so of NFSv4 and
    ERR_CHUNK, where it is no more than a SHOULD NOT. On another connection it may be: the error may have
    gone with the first one."""
    asked = code == CHUNK and "client-nfs3" not in bench.habits.has
    row = "RFC8267-6.4.2-8" if asked else "RFC8166-4.5-8"
    what = "times that the call was sent on one connection"
    expect.equal(outcome.sends_on_one(xid), 1, row, what, outcome=outcome)
    if outcome.sends_of(xid) > 1:
        bench.latitude(row, "it was sent again on another connection")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ERRORS)
@case(
    "client.error.{name}.{place}",
    requirements=["RFC8166-4.5-8", "RFC8267-6.4.2-8"],
    bugs=["B124"],
    hostile=True,
)
def test_error(bench, name, place):
    """The error ends the call: its user is told, and its XID is not sent again."""
    seen = []

    def bend(reply):
        seen.append(reply.xid)
        reply.error(*ERRORS[name])

    outcome = bench.use(reply=bend, when=PLACES[place])
    # Of ours too: one that sends the call again is to be told by the row that says so.
    expect(outcome, "RFC8166-4.5-8", must=[kinds.REFUSED], latitude={kinds.COMPLETED: RETRIED})
    expect_no_resend(bench, outcome, seen[0], ERRORS[name][0])


def _brought(reply):
    """Octets that the call brings in its first read chunk."""
    entry = next(each for each in reply.call.read_list if each.position)
    return bytes(reply.rpc_call)[entry.position : entry.position + entry.target.length]


class ErrorThenReply(Script):
    """Answers one call with an error, and with a reply as well when the client has nothing more to say. The
    reply to a READ places other octets than the file has, which are data for nobody who knows that the
    call is over."""

    def __init__(self, place):
        self._place = place
        self._reply = None
        self._replied = False
        self.again = False  # what the call has brought came with another one

    @property
    def waits(self):
        return self._reply is None

    def on_departure(self, reply):
        if reply.kind == "callback":
            return False
        if self._reply is None:
            if not PLACES[self._place](reply):
                return False
            self._reply = reply
            reply.error(CHUNK)
            return True
        if self._place == "write":
            self.again |= _brought(self._reply) in _moved(reply)
        return False

    def on_quiet(self):
        reply = self._reply
        if reply is None or self._replied or not reply.line.up or reply.offered_again:
            return
        self._replied = True
        reply.push([_spoilt(write) for write in reply.writes])
        reply.send()


def _spoilt(write):
    return peer.RemoteWrite(write.stag, write.offset, SPOILER * len(write.octets))


def _moved(reply):
    """All octets that a call, and the reply to it, have moved."""
    return b"".join([bytes(reply.rpc_call), *(bytes(write.octets) for write in reply.writes)])


@pytest.mark.parametrize("place", PLACES)
@case("client.error.completes.{place}", requirements=["RFC8166-4.5-8"], hostile=True)
def test_completes(bench, place):
    """The error completes the call: a reply that comes when the client is quiet finds no call any more. Who
    waits for it takes wrong octets for those of a READ, or takes a WRITE for done that was made only once
    and failed. Of a plain call nothing shows whether its result was of use; there the client has to come
    to an end."""
    script = ErrorThenReply(place)
    outcome = bench.use(script)
    expect_or(bench, outcome, "RFC8166-4.5-8", kinds.REFUSED, {kinds.COMPLETED: RETRIED})
    if place == "write":
        done = outcome.kind != kinds.COMPLETED or script.again
        what = "what a failed WRITE has brought is there by another call only"
        expect.true(done, "RFC8166-4.5-8", what, outcome=outcome)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ["err-chunk", "err-vers"])
@case(
    "client.error.{name}.always.{place}",
    requirements=["RFC8267-3.1-4", "RFC8166-4.5-8"],
    hostile=True,
)
def test_always(bench, name, place):
    """The same error for every such call: it is permanent, so that the client gives up, and should not try
    without end (which RFC 8267 3.1 says of ERR_CHUNK). Of ERR_VERS no document says that another
    transaction may not be tried, however often."""
    row = "RFC8267-3.1-4" if name == "err-chunk" else "RFC8166-4.5-8"

    def bend(reply):
        reply.error(*ERRORS[name])

    outcome = bench.use(reply=bend, when=PLACES[place], times=None)
    latitude, warn = {kinds.COMPLETED: "it did without such calls"}, {}
    if name == "err-chunk":
        warn = {} if bench.client.ours else {kinds.HANG: "it tries without end"}
    else:
        latitude |= patience(bench)
    if bench.client.ours:
        latitude = {}
    expect(outcome, row, must=[kinds.REFUSED], latitude=latitude, warn=warn)
    if name == "err-chunk" or bench.client.ours:
        expect.at_most(len(outcome.calls), MOST_CALLS, row, "calls")


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

    completes(bench.use(reply=bend, when=PLACES[place]), "RFC8166-4.5-9")


@pytest.mark.parametrize("name", ["err-chunk", "err-vers"])
@case("client.error.{name}.unknown-xid", requirements=["RFC8166-4.5-8"], hostile=True)
def test_unknown(bench, name):
    """An error for an XID that no call has completes nothing."""

    def bend(reply):
        code, low, high = ERRORS[name]
        reply.error(code, low, high, xid=reply.xid ^ 0x5A5A0000)
        reply.conform()

    completes(bench.use(reply=bend), "RFC8166-4.5-8")


@pytest.mark.parametrize("place", PLACES)
@case("client.error.then-reply.{place}", requirements=["RFC8166-4.5-8"], hostile=True)
def test_then_reply(bench, place):
    """The call has ended with the error: the reply behind it finds no call, and its RDMA Writes no
    memory."""

    def bend(reply):
        reply.error(CHUNK)
        reply.conform()

    outcome = bench.use(reply=bend, when=PLACES[place])
    expect_or(bench, outcome, "RFC8166-4.5-8", kinds.REFUSED, {kinds.COMPLETED: RETRIED})


class ErrorThenEnd(Script):
    """Answers one call with an error and all later ones not at all; ends the connection when the client
    has had time to take the error, and conforms on the next."""

    def __init__(self, when, how):
        self._when, self._how = when, how
        self.answered = None  # the reply in whose place the error went
        self.taken = False  # the client has shown that it has the error

    @property
    def waits(self):
        return self.answered is None

    def on_departure(self, reply):
        if reply.kind == "callback":
            return False
        if self.answered is not None:
            if reply.conn is not self.answered.conn:
                return False
            self.taken |= shows_end(self.answered, reply)
            return True
        if not self._when(reply):
            return False
        self.answered = reply
        reply.error(CHUNK)
        return True

    def on_quiet(self):
        if self.answered is None:
            return
        if self._how == "disconnect":
            self.answered.line.disconnect()
        else:
            self.answered.line.abort()


@pytest.mark.parametrize("how", ["disconnect", "abort"])
@pytest.mark.parametrize("place", PLACES)
@case("client.error.then-{how}.{place}", requirements=["RFC8267-6.7.2-2"], hostile=True)
def test_then_close(bench, how, place):
    """An error and then the end of the connection: the error counts first, so that the call is not
    sent again on the next connection, unless the end has overtaken it."""
    script = ErrorThenEnd(PLACES[place], how)
    outcome = bench.use(script)
    expect_or(bench, outcome, "RFC8267-6.7.2-2", kinds.REFUSED, {kinds.COMPLETED: RETRIED})
    xid = script.answered.xid
    # Of our own client it is known that it looks at what has come before it looks at an orderly end.
    sure = script.taken or (how == "disconnect" and bench.client.closes_at_once)
    if outcome.sends_of(xid) > 1 and not sure:
        bench.latitude("RFC8267-6.7.2-2", "nothing shows that it had the error before the end")
    sends = outcome.sends_of(xid) if sure else outcome.sends_on_one(xid)
    expect.equal(sends, 1, "RFC8267-6.7.2-2", "times that the call was sent", outcome=outcome)


@case("client.error.grants-nothing", requirements=["RFC8166-4.5-8"], hostile=True)
def test_no_grant(bench):
    """An error that grants no credits ends its call all the same. The client may go by the grant, take it
    for one, or end the connection: no server may grant zero, since that is a deadlock (RFC 8166 3.3.1).
    """

    def bend(reply):
        reply.error(CHUNK, credit=0)

    outcome = bench.use(reply=bend)
    latitude = {kinds.COMPLETED: RETRIED, **patience(bench, "it goes by a grant of nothing")}
    expect(outcome, "RFC8166-4.5-8", must=[kinds.REFUSED], latitude=latitude)


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
    ours = kinds.REFUSED
    expect_or(bench, outcome, "RFC8166-4.5-8", kinds.COMPLETED, {kinds.REFUSED: refused}, ours)


class Larger(Script):
    """Answers the first READ with ERR_CHUNK, and notes what the same READ offers when it is made again."""

    def __init__(self):
        self._first = None
        self.rooms = []  # octets of the reply chunks of the same READ, in order

    @property
    def waits(self):
        return self._first is None

    def on_departure(self, reply):
        if not is_read(reply):
            return False
        if self._first is None:
            self._first = reply
            self.rooms.append(_room(reply))
            reply.error(CHUNK)
            return True
        # A READ ends with what it reads: file or stateid, offset, count.
        if reply.rpc_call[-SAME_OCTETS:] == self._first.rpc_call[-SAME_OCTETS:]:
            self.rooms.append(_room(reply))
        return False


def _room(reply):
    return sum(segment.length for segment in reply.call.reply_chunk or [])


@case(
    "client.error.no-larger-reply-chunk",
    requirements=["RFC8267-3.1-5", "RFC8267-4.1-1"],
    needs=["client-write-chunks"],
    hostile=True,
)
def test_no_larger_reply_chunk(bench):
    """A READ gets ERR_CHUNK. Its reply is as long as it was thought to be, so that the client should not try
    it with a larger reply chunk, as it does where nobody knows the length. It may choose to all the same.
    """
    row = "RFC8267-4.1-1" if "client-nfs3" in bench.habits.has else "RFC8267-3.1-5"
    script = Larger()
    outcome = bench.use(script)
    what = "octets of the reply chunk of a READ that is made again"
    expect.at_most(max(script.rooms), script.rooms[0], row, what, outcome)
