"""Credits: the client keeps to the last grant, and stays alive whatever is granted."""

import time

import pytest

from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import Script
from ..call_kinds import CALL_KINDS, deny_then_conform
from ..client_verdicts import completes, expect_or, may_hang
from ..short_read import try_later

GRANTS = {"one": 1, "two": 2, "largest": "0xffffffff", "half": "0x80000000"}
SEQUENCES = {
    "shrinking": [32, 16, 8, 4, 2, 1],
    "changing": [1, 32, 1, 8],
    "growing": [1, 2, 4, 8, 16, 32],
    "zero-between": [32, 0, 32, 0],
}


SMALL_TRANSFER_BYTES = 4096
# From a grant that falls to the last replies beside it. No verdict depends on it.
FALLEN_SECONDS = 0.2


class Grants(Script):
    """Grants the values of a list, round and round."""

    def __init__(self, values):
        self._values = values
        self._next = 0

    def on_departure(self, reply):
        if reply.kind == "callback":
            return False
        credit = self._values[self._next % len(self._values)]
        self._next += 1
        reply.push()
        reply.send_mutated(f"credit.{credit}", invalidate=reply.invalidate)
        return True


@pytest.mark.parametrize("name", GRANTS)
@case(
    "client.credits.always-{name}",
    requirements=["RFC8166-3.3.1-6", "RFC8166-3.3.1-4"],
    hostile=True,
)
def test_constant(bench, name):
    """The same grant in every reply: the client works, and never beyond it or its own request."""
    outcome = bench.use(Grants([GRANTS[name]]))
    expect(outcome, "RFC8166-3.3.1-6", must=[kinds.COMPLETED])


@pytest.mark.parametrize("name", SEQUENCES)
@case(
    "client.credits.{name}",
    requirements=["RFC8166-3.3.1-8", "RFC8166-3.3.1-4"],
    hostile=True,
)
def test_sequence(bench, name):
    """Grants may change with every reply, below the calls that are under way too."""
    outcome = bench.use(Grants(SEQUENCES[name]))
    if name != "zero-between":
        expect(outcome, "RFC8166-3.3.1-8", must=[kinds.COMPLETED])
        return
    _expect_with_zero(bench, outcome, "RFC8166-3.3.1-8")


def _expect_with_zero(bench, outcome, requirement_id):
    latitude = {kinds.REFUSED: "it takes a grant of zero for the end"}
    latitude |= may_hang(bench, "it goes by a grant of nothing, which is a deadlock")
    expect(outcome, requirement_id, must=[kinds.COMPLETED], latitude=latitude)


@case("client.credits.always-zero", requirements=["RFC8166-3.3.1-6"], hostile=True)
def test_zero(bench):
    """A server must not grant zero, since that is a deadlock (RFC 8166 3.3.1). A client may take
    such a grant for one, give up, or wait."""
    outcome = bench.use(server={"deviate": ["grants-zero"]})
    _expect_with_zero(bench, outcome, "RFC8166-3.3.1-6")


@case("client.credits.first-call-alone", requirements=["RFC8166-3.3.3-3"])
def test_first_alone(bench):
    """Before the first reply a connection has one credit: the reply is kept back until the client is
    quiet, and there is one call."""
    _hold_first(bench, "RFC8166-3.3.3-3")


def _hold_first(bench, requirement_id, before=None):
    held = []
    counts = []

    def hold(reply):
        held.append(reply)
        if before:
            reply.send_mutated(before)

    def quiet():
        for reply in held:
            if reply.raw.up:
                counts.append(len(reply.conn.calls))
                reply.conform()
        held.clear()

    outcome = bench.use(reply=hold, quiet=quiet)
    completes(outcome, requirement_id)
    what = "the client keeps its connection until the first reply"
    expect.true(bool(counts), requirement_id, what, outcome=outcome)
    what = "calls before the first reply"
    expect.equal(counts, [1], requirement_id, what, outcome=outcome)


FIRST_INVALID = {
    "bad-version": "version.2",
    "bad-procedure": "procedure.5",
    "bad-list": "write-list.end-presence-2",
    "unknown-xid": "xids.unknown",
    "short": "cut-at.20",
}


@pytest.mark.parametrize("name", FIRST_INVALID)
@case("client.credits.first-reply-{name}", requirements=["RFC8166-3.3.3-4"], hostile=True)
def test_first_invalid(bench, name):
    """A message that is no valid reply to the first call grants nothing: there is no second call before
    the valid one."""
    _hold_first(bench, "RFC8166-3.3.3-4", FIRST_INVALID[name])


class Waiting(Script):
    """Keeps the replies to READs back until the client is quiet, and counts those that wait on a
    connection: credits are of one."""

    def __init__(self):
        self._held = {}  # connection: replies
        self.most = 0

    @property
    def waits(self):
        return self.most == 0

    def hold(self, reply):
        """Keeps a reply; how many of its connection wait."""
        held = self._held.setdefault(reply.conn.number, [])
        held.append(reply)
        return len(held)

    def on_departure(self, reply):
        if not CALL_KINDS["read"](reply):
            return False
        self.most = max(self.most, self.hold(reply))
        return True

    def on_down(self, conn, reason):
        self._held.pop(conn.number, None)

    def on_quiet(self):
        held, self._held = self._held, {}
        for reply in (reply for replies in held.values() for reply in replies):
            reply.conform_late()


class Withhold(Waiting):
    """Counts the calls of every kind: what comes before the READs is answered at once."""

    waits = True

    def on_departure(self, reply):
        if reply.kind == "callback":
            return False
        self.most = max(self.most, self.hold(reply))
        if CALL_KINDS["read"](reply):
            self.waits = False
        else:
            self.on_quiet()
        return True


@pytest.mark.parametrize("grant", [2, 4, 8])
@case(
    "client.credits.withheld-{grant}",
    requirements=["RFC8166-3.3.1-4", "RFC8166-3.3.1-10"],
    needs=["client-pipelining"],
)
def test_withheld(bench, grant):
    """No reply to a READ comes until the client is quiet, then all come at once. No more calls than
    the grant are in flight on a connection, and there is a receive for each reply."""
    script = Withhold()
    outcome = bench.use(script, server={"credits": grant})
    expect(outcome, "RFC8166-3.3.1-10", must=[kinds.COMPLETED])
    expect.at_most(script.most, grant, "RFC8166-3.3.1-4", "calls outstanding", outcome)
    what = "there is a receive for every reply"
    expect.true(not outcome.starved(), "RFC8166-3.3.1-10", what, outcome=outcome)


class Falling(Waiting):
    """No READ is answered until the client is quiet. Then all that wait are answered but two, and grant one.
    These follow after a while: a client that does not heed the grant has gone on by then."""

    def __init__(self):
        super().__init__()
        self._left = []  # replies that follow
        self._due = None  # when, time.monotonic()

    def on_departure(self, reply):
        return self._due is None and super().on_departure(reply)

    def on_quiet(self):
        if self._due is not None:
            return
        held, self._held = self._held, {}
        waiting = [reply for replies in held.values() for reply in replies]
        if not waiting:
            return
        # More than are granted: one that is compared for being equal alone does not show.
        self._left, self._due = waiting[-2:], time.monotonic() + FALLEN_SECONDS
        for reply in waiting[:-2]:
            if reply.raw.up:
                reply.push()
                reply.send_mutated("credit.1", invalidate=reply.invalidate)

    def on_poll(self):
        if self._left and time.monotonic() > self._due:
            left, self._left = self._left, []
            for reply in left:
                reply.conform_late()


@case(
    "client.credits.falls",
    requirements=["RFC8166-3.3.1-4", "RFC8166-3.3.1-8"],
    needs=["client-pipelining"],
)
def test_falls(bench):
    """The grant falls to one while several READs are under way and more are due, small and hence many. Until all
    of these are answered no other call comes. The judge knows what the client may not have seen yet.
    """
    script = Falling()
    server = {"credits": 8, "transfer_bytes": SMALL_TRANSFER_BYTES}
    outcome = bench.use(script, server=server)
    if script.most < 3:
        bench.not_testable("the client has two READs under way at most")
    expect(outcome, "RFC8166-3.3.1-8", must=[kinds.COMPLETED])


class OneLate(Script):
    """Keeps the reply to the first READ back until the client is quiet; all others go as they come."""

    waits = True

    def __init__(self):
        self._held = []

    def on_departure(self, reply):
        if not self.waits or not CALL_KINDS["read"](reply):
            return False
        self.waits = False
        self._held.append(reply)
        return True

    def on_quiet(self):
        for reply in self._held:
            reply.conform_late()
        self._held.clear()


@case(
    "client.credits.one-late",
    requirements=["RFC8166-3.3.1-10"],
    needs=["client-pipelining"],
)
def test_one_late(bench):
    """There is a receive for each reply also while a call is always in flight. One READ is answered
    last, and those beside it are small, hence many."""
    outcome = bench.use(OneLate(), server={"transfer_bytes": SMALL_TRANSFER_BYTES})
    what = "there is a receive for every reply"
    expect.true(not outcome.starved(), "RFC8166-3.3.1-10", what, outcome=outcome)
    expect(outcome, "RFC8166-3.3.1-10", must=[kinds.COMPLETED])


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case("client.credits.discarded-grant.{call_kind}", requirements=["RFC8166-4.5-3"], hostile=True)
def test_discarded(bench, call_kind):
    """A grant of zero in a message that must be discarded has no effect."""
    interpose = deny_then_conform("version.9", "credit.0")
    completes(bench.use(reply=interpose, when=CALL_KINDS[call_kind]), "RFC8166-4.5-3")


@case("client.credits.request", requirements=["RFC8166-3.3.1-1"])
def test_request(bench):
    """Every call asks for credits: a request of zero would ask for none."""
    outcome = bench.use()
    expect(outcome, "RFC8166-3.3.1-1", must=[kinds.COMPLETED])
    asked = [sent.header.credit for _, sent in outcome.calls]
    expect.at_least(min(asked, default=0), 1, "RFC8166-3.3.1-1", "credits asked for", outcome)


class Reconnect(Script):
    """Aborts a connection at the first READ. On the next connection it holds the first reply until
    the client is quiet, and counts the calls. With `mutation` it sends that reply mutated at first.
    """

    def __init__(self, mutation=None):
        self._mutation = mutation
        self._before = None  # connections that there were at the cut
        self._held = None
        self.calls = None  # on the new connection, before its first reply

    def on_departure(self, reply):
        if reply.kind == "callback" or self.calls is not None:
            return False
        if self._before is None:
            if not CALL_KINDS["read"](reply):
                return False
            self._before = list(self.bench.connections)
            reply.raw.abort()
            return True
        if reply.conn in self._before or self._held and reply.conn is not self._held.conn:
            return False
        if self._held is None:
            self._held = reply
            if self._mutation:
                reply.send_mutated(self._mutation)
        return True

    def on_quiet(self):
        if self._held is not None and self._held.raw.up and self.calls is None:
            self.calls = len(self._held.conn.calls)
            # Who has sent more gets no more answers: the connection goes, and the calls are made again.
            if self.calls == 1:
                self._held.conform()
            else:
                self._held.raw.abort()


def _after_reconnect(bench, requirement_id, mutation=None):
    script = Reconnect(mutation)
    outcome = bench.use(script)
    refused = "it takes the lost connection for the end"
    expect_or(bench, outcome, requirement_id, kinds.COMPLETED, {kinds.REFUSED: refused})
    if script.calls is None:
        bench.not_testable("the client made no second connection, or read nothing")
    alone = script.calls == 1
    expect.true(alone, requirement_id, "one call goes before the first reply", outcome=outcome)


@case("client.credits.reconnect", requirements=["RFC8166-3.3.3-3"], bugs=["B71"], hostile=True)
def test_after_reconnect(bench):
    """A grant goes with its connection: on the next one there is one call before the first reply."""
    _after_reconnect(bench, "RFC8166-3.3.3-3")


@pytest.mark.parametrize("name", FIRST_INVALID)
@case("client.credits.reconnect-{name}", requirements=["RFC8166-3.3.3-4"], hostile=True)
def test_reconnect_invalid(bench, name):
    """The same with a first message that is no valid reply, and grants much."""
    _after_reconnect(bench, "RFC8166-3.3.3-4", FIRST_INVALID[name])


class IdleLoss(Waiting):
    """READs wait for their replies until the client is quiet. Then each is to be tried later, and the connection ends
    behind the last reply, so that it carries no call. The first reply of the next connection waits likewise.
    """

    def __init__(self):
        super().__init__()
        self.ended = None  # the connection, once it has ended
        self._first = None  # reply of the next one
        self.calls = None  # on that one, before this reply

    @property
    def waits(self):
        return self.ended is None

    def on_departure(self, reply):
        if self.ended is None:
            return try_later(reply) is not None and super().on_departure(reply)
        if reply.kind == "callback" or reply.conn is self.ended or self.calls is not None:
            return False
        self._first = self._first or reply
        return True

    def on_quiet(self):
        if self.ended is None and self._held:
            self._end()
        elif self._first is not None and self._first.raw.up and self.calls is None:
            self.calls = len(self._first.conn.calls)
            # Who has sent more gets no more answers: the connection goes, and the calls are made again.
            if self.calls == 1:
                self._first.conform()
            else:
                self._first.raw.abort()

    def _end(self):
        held, self._held = self._held, {}
        for reply in (reply for replies in held.values() for reply in replies):
            if reply.raw.up:
                reply.send(try_later(reply), invalidate=reply.invalidate)
                self.ended = reply.conn
        if self.ended is not None:
            self.ended.raw.disconnect()


@case(
    "client.credits.idle-reconnect",
    requirements=["RFC8166-3.3.3-3", "RFC8166-3.3.3-4"],
    needs=["client-pipelining"],
)
def test_after_idle_loss(bench):
    """A connection ends while no call is under way: all READs are to be tried later. Its grant goes with it, although
    several calls are due at once on the next one."""
    script = IdleLoss()
    outcome = bench.use(script)
    refused = "it takes the lost connection for the end"
    expect_or(bench, outcome, "RFC8166-3.3.3-3", kinds.COMPLETED, {kinds.REFUSED: refused})
    if script.calls is None or script.most < 2:
        bench.not_testable("the client made no second connection, or has one READ under way")
    alone = script.calls == 1
    expect.true(alone, "RFC8166-3.3.3-3", "one call goes before the first reply", outcome=outcome)


@case(
    "client.credits.one-in-reserve",
    requirements=["RFC8267-6.7.2-1"],
    needs=["client-nfs4.1", "client-pipelining"],
)
def test_one_in_reserve(bench):
    """READs wait for their replies until the client is quiet. They leave one credit free, with
    which the client can find out whether the server is still there."""
    grant = 4
    script = Waiting()
    outcome = bench.use(script, server={"credits": grant})
    what = "READs outstanding, of as many calls as are granted"
    expect.at_most(script.most, grant - 1, "RFC8267-6.7.2-1", what, outcome)
