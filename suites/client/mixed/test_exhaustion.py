"""More messages without use than any client has receives for, callbacks, errors and rejected connections.

Each case sends one beside each reply, so that a client that gives back what it used up notices nothing.
"""

import pytest

from steertag import mutate
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.backchannel import Backchannel, OK
from steertag.suite.client.client_connection import sent_from
from steertag.suite.client.script import ERR_CHUNK, is_read, reverse_call, Script
from steertag.suite.exchange.deadline import Limit
from ..call_kinds import denial
from ..callback_scripts import NEEDS, UNPROVEN
from ..client_verdicts import (
    completes,
    completes_unless_starved,
    expect_or,
    GIVES_UP,
    may_hang,
    stays,
)

RECEIVES, REVERSE_RECEIVES = "RFC8166-3.3.1-10", "RFC8167-4.3.1-1"
RECOVERS = "RFC8166-4.5.5-1"
# More than twice the receives of any client: Linux asks for 128 credits, ours for 32.
MANY = 300
# A READ or WRITE of so many octets makes more calls than that for the file.
TRANSFER_BYTES = 1024
# With one credit each call shows that the client has had the last reply, and all before it.
SERVER = {"credits": 1, "transfer_bytes": TRANSFER_BYTES}
# A client that had receives for so many has one for each later.
PROOFS = 2
# Ours tries a call on eight connections, and waits longer each time.
MOST_REJECTED = 4
# With two replies for each, as many as the calls of any version are enough for.
MOST_CLOSED = 150
# Rejections between others: with those a use has fewer connections than the suite takes.
MOST_ALTERNATING = 100
# The time for them. Other clients wait for seconds behind each.
REJECTIONS_MS = 20_000
OWN_PAUSE = ["--reconnect-pause-ms", "1"]
# Times that a client is quiet before it answers. Where a network loses packets, that is no lack of an answer.
MOST_LATE = 8
FEW_CALLS = "the client makes fewer calls than the case has messages"


class Repeated(Script):
    """Posts a message before each reply but a connection's first, before which there may be one receive.

    `make(reply, last)` gives it; `last` is the reply before. Where it raises KeyError, none is posted.
    """

    def __init__(self, make):
        self._make = make
        self._last = {}  # connection: its last Reply
        self._unproven = {}  # connection: messages that no call has followed
        self._proven = {}  # connection: messages that the client has had
        self.posted = 0

    @property
    def waits(self):
        return self.posted == 0

    def on_arrival(self, conn, message):
        if sent_from(message).is_call:
            before = self._unproven.pop(conn.number, 0)
            self._proven[conn.number] = self._proven.get(conn.number, 0) + before
        return False

    def on_departure(self, reply):
        if reply.kind == "callback":
            return False
        last = self._last.get(reply.conn.number)
        self._last[reply.conn.number] = reply
        return last is not None and self.post(reply, last)

    def post(self, reply, last):
        """Posts the message and the reply; False if only the reply is to be posted."""
        try:
            message = self._make(reply, last)
        except KeyError:
            return False
        self.count(reply)
        reply.send(message)
        reply.conform()
        return True

    def count(self, reply):
        number = reply.conn.number
        self.posted += 1
        self._unproven[number] = self._unproven.get(number, 0) + 1

    def wasted(self, outcome):
        """The connections that ended for want of a receive, although the client had some to spare."""
        return [conn for conn in outcome.starving() if self._proven.get(conn.number, 0) >= PROOFS]


def _judge(bench, outcome, script, requirement_id, receives=RECEIVES):
    what = "a receive that carried a message is there for the next"
    expect.true(not script.wasted(outcome), receives, what, outcome=outcome)
    completes_unless_starved(bench, outcome, requirement_id)
    if script.posted < MANY:
        bench.not_testable(FEW_CALLS)


# What a client discards, and the clause that says so.
USELESS = {
    "version-two": ("RFC8166-4.5-3", lambda reply, last: denial(reply, "version.2")),
    "procedure-five": ("RFC8166-4.5-3", lambda reply, last: denial(reply, "procedure.5")),
    "bad-list": ("RFC8166-4.5-3", lambda reply, last: denial(reply, "write-list.end-presence-2")),
    "short": ("RFC8166-4.5-1", lambda reply, last: denial(reply, "cut-at.20")),
    "bad-error": ("RFC8166-4.5-9", lambda reply, last: reply.mutated(ERR_CHUNK, "error.code-3")),
    "unknown-xid": ("RFC8167-2.4-1", lambda reply, last: denial(reply, "xids.unknown")),
    "unknown-nomsg": (
        "RFC8167-2.4-1",
        lambda reply, last: denial(reply, "xids.unknown", "procedure.nomsg-no-chunk"),
    ),
    "unknown-msgp": (
        "RFC8167-2.4-1",
        lambda reply, last: denial(reply, "xids.unknown", "procedure.msgp"),
    ),
    "unknown-error": (
        "RFC8166-4.5-8",
        lambda reply, last: reply.mutated(ERR_CHUNK, "xids.unknown"),
    ),
    "duplicate": ("RFC8167-2.4-1", lambda reply, last: last.message),
    "done": ("RFC8166-4.6.2-2", lambda reply, last: reply.mutated("procedure.done")),
}


@pytest.mark.parametrize("name", USELESS)
@case(
    "client.exhaustion.reply.{name}",
    requirements=[
        RECEIVES,
        "RFC8166-4.5-1",
        "RFC8166-4.5-3",
        "RFC8166-4.5-8",
        "RFC8166-4.5-9",
        "RFC8166-4.6.2-2",
        "RFC8167-2.4-1",
    ],
    bugs=["B80"],
    hostile=True,
)
def test_useless_replies(bench, name):
    """Before each reply comes a message that the client discards, some 300 in one use. Each gives its receive
    back, and ends neither a call nor the connection."""
    requirement_id, make = USELESS[name]
    script = Repeated(make)
    _judge(bench, bench.use(script, server=SERVER), script, requirement_id)


class Called(Repeated):
    """Posts a call of the other direction before each reply, which waits for the answer.

    A client that has not answered the first by the time that it is quiet counts as one that answers none. Later
    answers may be late.
    """

    def __init__(self, make):
        super().__init__(make)
        self._held, self._held_for = None, None  # a reply, and the call that it waits for
        self._expected = set()  # (connection, XID) of the calls that have no answer
        self._answers = True
        self._late = 0
        self.answered = 0

    def post(self, reply, last):
        draft = self._make(reply, last)
        self.count(reply)
        reply.send(draft)
        call = (reply.conn.number, draft.xid)
        if self._answers:
            self._expected.add(call)
        if self._answers and self._late < MOST_LATE:
            self._held, self._held_for = reply, call
        else:
            reply.conform()
        return True

    def on_arrival(self, conn, message):
        sent = sent_from(message)
        call = (conn.number, sent.xid)
        if sent.is_call or call not in self._expected:
            return super().on_arrival(conn, message)
        self._expected.remove(call)
        self.answered += 1
        if self._held is not None and call == self._held_for:
            self._release()
        return True

    def on_down(self, conn, reason):
        if self._held is not None and self._held.conn is conn:
            self._held = None

    def on_quiet(self):
        if self._held is None:
            return
        self._late += 1
        if not self.answered:
            self._answers = False
            self._expected.clear()
        self._release()

    def _release(self):
        held, self._held = self._held, None
        held.conform_late()


def _unused_xid(reply):
    return reply.xid ^ 0x00C0FFEE


def _reverse(*mutations):
    return lambda reply, last: mutate.mutated(reverse_call(_unused_xid(reply)), *mutations)


# Calls of the other direction: the clause that wants an answer, and the one that an end of the connection breaks.
CALLS = {
    "plain": ("RFC8167-5.2-1", "RFC8167-4.1-1", _reverse()),
    "chunks": ("RFC8167-5.3-3", "RFC8167-5.3-3", _reverse("read-list.invented")),
}
MALFORMED = {
    "cut": _reverse("payload.octets-20"),
    "version-two": _reverse("version.2"),
    "xid-only": _reverse("payload.octets-4"),
}


@pytest.mark.parametrize("name", CALLS)
@case(
    "client.exhaustion.reverse.{name}",
    requirements=[REVERSE_RECEIVES, "RFC8167-4.1-1", "RFC8167-5.2-1", "RFC8167-5.3-3"],
    hostile=True,
)
def test_reverse_calls(bench, name):
    """Before each reply comes a call of the other direction, some 300 in one use. A client that has answered
    the first ones answers all, those with chunks by an error. Forward calls go on."""
    answers, goes_on, make = CALLS[name]
    script = Called(make)
    outcome = bench.use(script, server=SERVER)
    what = "a receive that carried a call is there for the next"
    expect.true(not script.wasted(outcome), REVERSE_RECEIVES, what, outcome=outcome)
    if script.answered >= PROOFS:
        what = "calls of the other direction that were answered"
        expect.equal(script.answered, script.posted, answers, what, False, outcome)
    _judge(bench, outcome, script, goes_on, REVERSE_RECEIVES)


@pytest.mark.parametrize("name", MALFORMED)
@case(
    "client.exhaustion.malformed.{name}",
    requirements=[REVERSE_RECEIVES, "RFC8167-4.1-5"],
    hostile=True,
)
def test_malformed_calls(bench, name):
    """Before each reply comes a malformed call of the other direction, some 300 in one use."""
    script = Repeated(MALFORMED[name])
    outcome = bench.use(script, server=SERVER)
    _judge(bench, outcome, script, "RFC8167-4.1-5", REVERSE_RECEIVES)


@case("client.exhaustion.callbacks", requirements=[REVERSE_RECEIVES], needs=NEEDS)
def test_callbacks(bench):
    """Beside each reply comes a CB_SEQUENCE of one slot, some 300 in one use: each is executed."""
    asked, statuses = [], []

    def callbacks(back):
        for number in range(1, MANY + 1):
            asked.append(number)
            answer = yield back.call(number=number)
            statuses.append(answer.status())
            yield back.next_reply()
        return None

    back = Backchannel(callbacks, tolerates_delay=True)
    outcome = bench.use(back, server=SERVER)
    what = "a receive for each callback"
    expect.true(not outcome.starved(), REVERSE_RECEIVES, what, outcome=outcome)
    stays(back, outcome, REVERSE_RECEIVES)
    completes(outcome, REVERSE_RECEIVES)
    if statuses[:1] != [OK]:
        bench.not_testable(UNPROVEN)
    what = "callbacks that were answered"
    expect.equal(len(statuses), len(asked), REVERSE_RECEIVES, what, False, outcome)
    others = [status for status in statuses if status != OK]
    expect.equal(others, [], REVERSE_RECEIVES, "other statuses than NFS4_OK", outcome=outcome)
    if len(statuses) < MANY:
        bench.not_testable(FEW_CALLS)


class Closing(Script):
    """Ends each connection, in good order, behind its second reply, some times. The first may be that to
    BIND_CONN_TO_SESSION."""

    def __init__(self, most=MOST_CLOSED):
        self._replies = {}  # connection: replies
        self.left = most

    def on_departure(self, reply):
        if reply.kind == "callback" or self.left == 0:
            return False
        number = reply.conn.number
        self._replies[number] = self._replies.get(number, 0) + 1
        if self._replies[number] < 2:
            return False
        if self._replies[number] > 2:  # to a call that crossed the end
            return True
        self.left -= 1
        reply.conform()
        reply.raw.disconnect()
        return True


@case(
    "client.exhaustion.connections",
    requirements=[RECOVERS, RECEIVES],
    bugs=["B72"],
    hostile=True,
)
def test_connections(bench):
    """The server ends 150 connections in one use, each behind two replies. No call is lost more than once, so
    that no client has a reason to give up."""
    script = Closing()
    outcome = bench.use(script, server=SERVER)
    what = "there is a receive for every reply"
    expect.true(not outcome.starved(), RECEIVES, what, outcome=outcome)
    expect(outcome, RECOVERS, must=[kinds.COMPLETED])
    if script.left > 0:
        bench.not_testable(FEW_CALLS)


class Rejections(Script):
    """Gives no connection for some requests: the first ones, or those behind a connection that was lost."""

    def __init__(self, how, at_first):
        self._how, self._at_first = how, at_first
        self._lost = at_first
        self.left = MOST_REJECTED

    @property
    def waits(self):
        return not self._lost

    def _rejects(self):
        if not self._lost or self.left == 0:
            return False
        self.left -= 1
        return True

    def on_request(self, step):
        if self._how != "close" and self._rejects():
            step.answer = self._how

    def on_accepted(self, conn):
        if self._how == "close" and self._rejects():
            conn.raw.abort()

    def on_departure(self, reply):
        if self._lost or not is_read(reply):
            return False
        self._lost = True
        reply.raw.abort()
        return True


@pytest.mark.parametrize("when", ["first", "later"])
@pytest.mark.parametrize("how", ["reject", "drop", "close"])
@case("client.exhaustion.{how}.{when}", requirements=[RECOVERS, RECEIVES], hostile=True)
def test_rejections(bench, how, when):
    """Several connections in a row are rejected, dropped, or closed as soon as they are up. The next one is
    good, and as good as any. No document says how often a client tries."""
    script = Rejections(how, when == "first")
    outcome = bench.use(script)
    what = "there is a receive for every reply"
    expect.true(not outcome.starved(), RECEIVES, what, outcome=outcome)
    others = {kinds.REFUSED: GIVES_UP} | may_hang(bench)
    expect_or(bench, outcome, RECOVERS, kinds.COMPLETED, others)


class Alternating(Closing):
    """Rejects every other request, and ends each connection behind its second reply."""

    def __init__(self):
        super().__init__(MOST_ALTERNATING)
        self._rejects = False  # the next request
        self._limit = None
        self.rejected = 0

    def on_request(self, step):
        self._limit = self._limit or Limit(REJECTIONS_MS)
        if self._limit.passed:
            self.left = 0
        if self._rejects and self.left > 0:
            self.rejected += 1
            step.answer = "reject"
        self._rejects = not self._rejects


@case(
    "client.exhaustion.reject.alternating",
    requirements=[RECOVERS, RECEIVES],
    hostile=True,
)
def test_alternating(bench):
    """The server rejects a connection, ends the next one behind two replies, and so on, 100 times in one use. No call
    is lost on two connections in a row, so that no client has a reason to give up."""
    script = Alternating()
    outcome = bench.use(script, server=SERVER, own=OWN_PAUSE)
    what = "there is a receive for every reply"
    expect.true(not outcome.starved(), RECEIVES, what, outcome=outcome)
    others = {kinds.REFUSED: GIVES_UP} | may_hang(bench)
    expect_or(bench, outcome, RECOVERS, kinds.COMPLETED, others)
    if script.rejected < MOST_ALTERNATING - 1:
        bench.not_testable(f"the client had fewer than {MOST_ALTERNATING} rejections in time")
