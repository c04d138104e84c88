"""The connection is lost at each step: calls are made again on another, with one effect."""

import pytest

from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import is_read, is_write, Script
from ..call_kinds import CALL_KINDS, denial
from ..client_verdicts import done_otherwise, expect_or, may_hang, survives

# On average: with fewer, connections are for calls.
CALLS_OF_A_CONNECTION = 8

ENDS = {
    "abort": lambda raw: raw.abort(),
    "disconnect": lambda raw: raw.disconnect(),
    # RFC 5040 4.8: layer RDMAP, remote operation error, catastrophic.
    "terminate": lambda raw: raw.terminate(0, 2, 5),
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
        self._end(conn.raw)
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
            ("plain-reply", CALL_KINDS["plain"](reply)),
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
@case(
    "client.loss.{step}.{how}",
    requirements=["RFC8166-4.5.5-1"],
    bugs=["B72", "B73", "B82"],
    hostile=True,
)
def test_loss(bench, step, how):
    """One connection ends at this step; what had no reply is made again on another."""
    if how == "terminate":
        bench.need("server-fault-hooks")
    survives(bench, bench.use(Ending(step, ENDS[how])), "RFC8166-4.5.5-1")


@pytest.mark.parametrize("step", ["first-call", "first-reply", "read-reply", "write-reply"])
@case("client.loss.always.{step}", requirements=["RFC8166-4.5.5-1"], hostile=True)
def test_always(bench, step):
    """Every connection ends at this step: the client reports an error, or goes on trying."""
    outcome = bench.use(Ending(step, ENDS["abort"], always=True))
    latitude = done_otherwise("it did without such calls") | may_hang(bench)
    expect(outcome, "RFC8166-4.5.5-1", must=[kinds.REFUSED], latitude=latitude)


class Lose(Script):
    """Ends the connection instead of one reply, and notes the requests with a slot on all others."""

    def __init__(self, when):
        self._when = when
        self.lost = None  # the reply that was not sent
        self.later = []  # replies

    @property
    def waits(self):
        return self.lost is None

    def on_departure(self, reply):
        if reply.kind == "callback":
            return False
        if self.lost is None:
            if not self._when(reply):
                return False
            self.lost = reply
            reply.raw.abort()
            return True
        if reply.conn is not self.lost.conn and reply.sequence is not None:
            self.later.append(reply)
        return False


@pytest.mark.parametrize("step", ["read-reply", "write-reply"])
@case(
    "client.loss.same-xid.{step}",
    requirements=["RFC8267-6.7.2-3"],
    needs=["client-nfs4.1"],
    hostile=True,
)
def test_same_xid(bench, step):
    """A call without a reply is made again on the next connection. To the session it is the same
    request: the slot goes on with its sequence id (RFC 8881 2.10.6.2, 2.10.13.1.2). The XID may be
    the same, which no document demands (RFC 5531 5; RFC 8881 2.10.6.1)."""
    script = Lose(CALL_KINDS[step.partition("-")[0]])
    outcome = bench.use(script)
    survives(bench, outcome, "RFC8267-6.7.2-3")
    lost = script.lost
    if lost.sequence is None:
        bench.not_testable("the call has no slot")
    goes_on = [each for each in script.later if each.sequence.session == lost.sequence.session]
    again = [each for each in goes_on if each.sequence.same_slot(lost.sequence)]
    if again:
        number, what = again[0].sequence.number, "sequence id with which the slot goes on"
        expect.equal(number, lost.sequence.number, "RFC8267-6.7.2-3", what, False, outcome)
        if again[0].xid != lost.xid:
            bench.latitude("RFC8267-6.7.2-3", "the request has another XID when it is made again")
    elif not goes_on:
        bench.latitude("RFC8267-6.7.2-3", "it leaves the session with the connection")
    else:
        made_again = outcome.kind not in kinds.DONE
        what = "a request without a reply is made again where its session goes on"
        expect.true(made_again, "RFC8267-6.7.2-3", what, outcome=outcome)


@pytest.mark.parametrize("answer", ["drop", "reject"])
@case("client.startup.{answer}-first", requirements=["RFC8166-4.5.5-1"], hostile=True)
def test_startup_first(bench, answer):
    """The first request gets no connection; a client may try again or tell its user."""

    def request(step):
        if len(bench.connections) == 1:
            step.answer = answer

    outcome = bench.use(request=request)
    tried = "it tried again"
    expect_or(
        bench,
        outcome,
        "RFC8166-4.5.5-1",
        kinds.REFUSED,
        {kinds.COMPLETED: tried},
        ours=kinds.COMPLETED,
    )


@case("client.startup.drop-always", requirements=["RFC8166-4.5.5-1"], hostile=True)
def test_startup_drop(bench):
    """No request gets a connection: the client reports an error, or goes on trying."""

    def request(step):
        step.answer = "drop"

    outcome = bench.use(request=request)
    expect(outcome, "RFC8166-4.5.5-1", must=[kinds.REFUSED], latitude=may_hang(bench))


@pytest.mark.parametrize("answer", ["drop", "reject"])
@case("client.startup.{answer}-reconnect", requirements=["RFC8166-4.5.5-1"], hostile=True)
def test_startup_reconnect(bench, answer):
    """A connection is lost in the middle, and the next request gets none: the client tries again."""

    def request(step):
        if len(bench.connections) == 2:
            step.answer = answer

    def interpose(reply):
        reply.raw.abort()

    outcome = bench.use(request=request, reply=interpose, when=is_read)
    survives(bench, outcome, "RFC8166-4.5.5-1")


@case("client.startup.abort-once-accepted", requirements=["RFC8166-4.5.5-1"], hostile=True)
def test_abort_accepted(bench):
    """The connection ends as soon as it is up."""

    def accepted(conn):
        if len(bench.connections) == 1:
            conn.raw.abort()

    survives(bench, bench.use(accepted=accepted), "RFC8166-4.5.5-1")


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
    """The first MPA reply is none: the client ends the stream; it may try again or tell its user. Nothing
    is sent to who has answered so."""

    def request(step):
        if len(bench.connections) == 1:
            step.raw_startup = STARTUPS[name]

    def quiet():
        # A client that waits for more is not left alone with it.
        if len(bench.connections) == 1:
            bench.connections[0].raw.abort()

    outcome = bench.use(request=request, quiet=quiet)
    sent = len(outcome.connections[0].sent) if outcome.connections else 0
    what = "messages behind a reply that is none"
    expect.equal(sent, 0, "RFC5044-7.1.1-1", what, outcome=outcome)
    tried = "it tried again"
    expect_or(
        bench,
        outcome,
        "RFC5044-7.1.1-1",
        kinds.REFUSED,
        {kinds.COMPLETED: tried},
        ours=kinds.COMPLETED,
    )


def _denied(reply):
    return denial(reply, "write-list.absent")


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case("client.loss.reply-on-next.{call_kind}", requirements=["RFC8166-4.5.5-1"], hostile=True)
def test_reply_on_next(bench, call_kind):
    """The reply that was due on the lost connection comes on the next one as soon as the client
    sends a call there. It may count or not, and the call has one effect. The memory of a READ has
    gone with its connection. A denial takes the place of its reply, because no client can tell that
    octets were not placed. Where the stale reply counts, the other one writes to memory that is offered no more, or
    invalidates it: that may end the connection."""
    due, used_memory = [], []

    class Next(Script):
        waits = True

        def on_departure(self, reply):
            if self.waits and CALL_KINDS[call_kind](reply):
                self.waits = False
                due.append(reply)
                reply.raw.abort()
                return True
            if due and reply.kind == "reply":
                stale = due.pop()
                reply.send(_denied(stale) if is_read(stale) else stale.message)
                if stale.xid == reply.xid and (is_read(reply) or reply.invalidate):
                    used_memory.append(reply)
                reply.conform()
                return True
            return False

    outcome = bench.use(Next())
    latitude = {kinds.REFUSED: "the stale reply ends the call, or the connection is the end"}
    if used_memory:
        latitude[kinds.LEFT] = "the stale reply ends the call, whose memory the other one uses"
    ours = kinds.REFUSED if call_kind == "read" else kinds.COMPLETED
    expect_or(bench, outcome, "RFC8166-4.5.5-1", kinds.COMPLETED, latitude, ours)


class Lifetimes(Script):
    """Counts the connections in place of others, which have ended. Those beside others are trunking (RFC 8881
    2.10.5), and may be as many as the client likes."""

    def __init__(self):
        self._ended = 0
        self.in_place = 0

    def on_request(self, step):
        self.in_place += self.in_place < self._ended

    def on_down(self, conn, reason):
        self._ended += 1


@case(
    "client.connection.long-lived",
    requirements=["RFC8881-2.9.2-1"],
    needs=["client-nfs4.1"],
)
def test_long_lived(bench):
    """A use of some dozen calls has a connection for many of them, not one for each."""
    script = Lifetimes()
    outcome = bench.use(script)
    most = max(1, len(outcome.calls) // CALLS_OF_A_CONNECTION)
    what = "connections of one use, one after another"
    expect.at_most(1 + script.in_place, most, "RFC8881-2.9.2-1", what, outcome)
