"""Calls in the reverse direction (RFC 8167) harm no forward call.

Some go to clients that do not know such calls.
"""

import pytest

from steertag import mutate, wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.client_connection import sent_from
from steertag.suite.client.script import is_read, NFS, reverse_call, Script
from ..call_kinds import CALL_KINDS
from ..client_verdicts import completes, completes_unless_starved, expect_or, LOST

# The client chooses the program of callbacks (RFC 8881 18.36.3: csa_cb_program). No client chooses
# this one.
NOBODYS_PROGRAM = 0x40000000
# Plain calls that a client must have answered before it counts as one that answers reverse calls.
PROOFS = 2
FLOOD = 64
# Messages in one use to a client that waits for nothing. One shows a client that goes by its credit
# word. Each may cost a connection, and the client waits longer after each loss.
MOST_UNAWAITED = 2
# Replies that are sent while a message is not answered; then it counts as one that never will be.
# Before that, another message would exceed one call in flight. Every client that takes calls has a
# receive for that one (RFC 8166 3.3.3).
MOST_PASSED = 32
NO_RECEIVE = "a call of the server met no receive of the client, which ended the connection"


CHUNKS = {
    "read-list": ["read-list.invented"],
    # Its position is the end of the payload stream, which is empty.
    "position-zero": ["procedure.1", "payload.octets-0", "read-list.invented"],
    "write-list": ["write-list.invented"],
    "reply-chunk": ["reply-chunk.invented"],
}


def beside(make):
    """A function for `bench.use(reply=...)`: posts the messages of `make(reply)` and then the reply."""

    def interpose(reply):
        for message in make(reply):
            reply.send(message)
        reply.conform()

    return interpose


class Behind(Script):
    """Posts messages behind replies, one after another, while other calls of the connection are in
    flight.

    The first few times it also posts while no call is. Then no later reply corrects what a client
    takes from the message's credit word. But then a client need have no receive either (RFC 8166
    3.3.1).
    """

    def __init__(self, behind):
        self._behind = behind
        self._calls = {}  # connection: XIDs of the calls under way
        self._unawaited = 0  # messages while no call was
        self._unanswered = {}  # connection: (XID of the message, replies since)

    def on_arrival(self, conn, message):
        sent = sent_from(message)
        if sent.is_call:
            self._calls.setdefault(conn.number, set()).add(sent.xid)
        elif sent.xid == self._unanswered.get(conn.number, (None,))[0]:
            del self._unanswered[conn.number]
        return False

    def on_departure(self, reply):
        if reply.kind == "callback":
            return False
        calls = self._calls.setdefault(reply.conn.number, set())
        calls.discard(reply.xid)
        self.before(reply)
        reply.conform()
        if self._may_post(reply.conn.number, calls):
            self.post(reply, self._behind(reply))
        return True

    def _may_post(self, number, calls):
        xid, passed = self._unanswered.get(number, (None, MOST_PASSED))
        if passed < MOST_PASSED:
            self._unanswered[number] = xid, passed + 1
            return False
        if not calls and self._unawaited >= MOST_UNAWAITED:
            return False
        self._unawaited += not calls
        return True

    def post(self, reply, draft):
        """Posts a message, which the client may answer."""
        self._unanswered[reply.conn.number] = draft.xid, 0
        reply.send(draft)

    def before(self, reply):
        """Posts what is to go before the reply."""


class Besides(Behind):
    """Posts a message also before the first reply for which `when` holds."""

    def __init__(self, when, before, behind):
        super().__init__(behind)
        self._when, self._before = when, before
        self.waits = True

    def before(self, reply):
        if self.waits and self._when(reply):
            self.waits = False
            self.post(reply, self._before(reply))


def granting_nothing(draft):
    return mutate.mutated(draft, "credit.0")


def other_xid(reply):
    return reply.xid ^ 0x00C0FFEE


CALLS = {
    "null": lambda xid: reverse_call(xid),
    "procedure-one": lambda xid: reverse_call(xid, procedure=1, payload=bytes(16)),
    "of-nfs": lambda xid: reverse_call(xid, program=NFS, version=3),
    "credit-zero": lambda xid: granting_nothing(reverse_call(xid)),
    "credit-largest": lambda xid: mutate.mutated(reverse_call(xid), "credit.0xffffffff"),
}


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@pytest.mark.parametrize("name", CALLS)
@case("client.reverse.call.{name}.{call_kind}", requirements=["RFC8167-4.1-1"], hostile=True)
def test_call(bench, name, call_kind):
    """A well-formed call with an XID of its own, while forward calls are in flight. Its credit word
    is no grant of the forward direction, whatever the client does with the call. The same is true
    of such calls behind replies, which would grant nothing. A client that takes the largest word is
    seen only if it then sends more than the server has receives for."""

    def call(reply):
        return CALLS[name](other_xid(reply))

    def behind(reply):
        return call(reply) if name == "credit-largest" else granting_nothing(call(reply))

    outcome = bench.use(Besides(CALL_KINDS[call_kind], call, behind))
    completes_unless_starved(bench, outcome, "RFC8167-4.1-1")


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@pytest.mark.parametrize("name", CALLS)
@case("client.reverse.same-xid.{name}.{call_kind}", requirements=["RFC8167-2.4.1-1"], hostile=True)
def test_same_xid(bench, name, call_kind):
    """The XID of a forward call that is under way: the two are different transactions, so that the call
    is not taken for the reply."""
    outcome = bench.use(
        reply=beside(lambda reply: [CALLS[name](reply.xid)]), when=CALL_KINDS[call_kind]
    )
    completes(outcome, "RFC8167-2.4.1-1")


@pytest.mark.parametrize("xid", ["own", "same"])
@pytest.mark.parametrize("name", CHUNKS)
@case(
    "client.reverse.chunks.{name}.{xid}-xid",
    requirements=["RFC8167-2.4.1-1"],
    hostile=True,
)
def test_chunks(bench, name, xid):
    """A call that offers chunks harms no forward call, whatever the client does with it. A client
    that reads the chunk loses the connection, because the memory does not exist."""

    def make(reply):
        call = reverse_call(reply.xid if xid == "same" else other_xid(reply))
        return [mutate.mutated(call, *CHUNKS[name])]

    outcome = bench.use(reply=beside(make), when=CALL_KINDS["plain"])
    if name == "position-zero" and xid == "same":
        # RDMA_NOMSG with the XID of a call: nothing but the read list says that it is no reply.
        latitude = {kinds.REFUSED: "it takes the message for a reply without use"}
        expect(outcome, "RFC8167-2.4.1-1", must=[kinds.COMPLETED], latitude=latitude)
    else:
        completes(outcome, "RFC8167-2.4.1-1", chunks=True)


class Chunked(Script):
    """Once the client reads, calls it with chunks, and then with plain calls, each beside a reply.
    The plain calls show whether the client answers reverse calls at all."""

    def __init__(self, mutations):
        self._mutations = mutations
        self._conn = None
        self._asked = set()  # XIDs of plain calls that wait for their answers
        self.xid = None  # of the call with chunks
        self.answer = None  # Sent, to it
        self.answered = 0  # plain calls, after it

    @property
    def waits(self):
        return self._conn is None

    def on_departure(self, reply):
        if reply.kind == "callback" or (self._conn is None and not is_read(reply)):
            return False
        if self._conn is None:
            self._conn, self.xid = reply.conn, other_xid(reply)
            draft = mutate.mutated(reverse_call(self.xid), *self._mutations)
        elif self._asked or self.answered >= PROOFS or reply.conn is not self._conn:
            return False
        else:
            draft = reverse_call(other_xid(reply))
            self._asked.add(draft.xid)
        reply.send(draft)
        reply.conform()
        return True

    def on_arrival(self, conn, message):
        sent = sent_from(message)
        if sent.is_call or conn is not self._conn:
            return False
        if sent.xid == self.xid:
            self.answer = sent
        elif sent.xid in self._asked:
            self._asked.remove(sent.xid)
            self.answered += 1
        else:
            return False
        return True


@pytest.mark.parametrize("name", CHUNKS)
@case("client.reverse.chunks-answered.{name}", requirements=["RFC8167-5.3-3"], hostile=True)
def test_chunks_answered(bench, name):
    """A call that offers chunks, to a client that answers plain calls behind it on the same
    connection. The client answers this one too, with ERR_CHUNK if it supports no chunks in the
    reverse direction. It does not end the connection over it."""
    chunked = Chunked(CHUNKS[name])
    outcome = bench.use(chunked)
    completes(outcome, "RFC8167-5.3-3", chunks=True)
    if chunked.answer is None:
        if outcome.asked_too_much():
            bench.latitude("RFC8167-5.3-3", "it goes by the chunks, whose memory is not there")
            return
        if chunked.answered < PROOFS:
            lost = outcome.may_have_starved() and len(outcome.connections) > 1
            bench.not_testable(NO_RECEIVE if lost else "the client answers no reverse calls")
        what = "a call with chunks is answered, as plain calls are"
        expect.true(False, "RFC8167-5.3-3", what, outcome=outcome)
    elif chunked.answer.is_error:
        error = chunked.answer.header.error
        expect.equal(error, wire.ErrorCode.CHUNK, "RFC8167-5.3-3", "rdma_err", outcome=outcome)
    else:
        what = "the answer is a reply or an error"
        expect.true(chunked.answer.is_reply, "RFC8167-5.3-3", what, outcome=outcome)
        bench.latitude("RFC8167-5.3-3", "it supports chunks in the reverse direction")


MALFORMED = {
    "rpc-version-three": "rpc-version.3",
    "message-type-two": "rpc-type.2",
    "cut-in-header": "payload.octets-20",
    "xid-only": "payload.octets-4",
    "xid-and-type": "payload.octets-8",
    "header-version-two": "version.2",
    "procedure-five": "procedure.5",
    "msgp": "procedure.msgp-align-4",
    "credential-too-long": "rpc-credential.length-0xffffffff",
}


@pytest.mark.parametrize("xid", ["own", "same"])
@pytest.mark.parametrize("name", MALFORMED)
@case("client.reverse.malformed.{name}.{xid}-xid", requirements=["RFC8167-4.1-5"], hostile=True)
def test_malformed(bench, name, xid):
    """A malformed call harms no forward call, and the client takes no credit from it. Further ones
    follow behind replies and would grant nothing."""

    def make(reply):
        call = reverse_call(reply.xid if xid == "same" else other_xid(reply))
        return mutate.mutated(call, MALFORMED[name])

    outcome = bench.use(
        Besides(CALL_KINDS["plain"], make, lambda reply: granting_nothing(make(reply)))
    )
    # With a call's XID and less than a direction it may be taken for a reply that does not decode.
    if xid == "same" and name in ("xid-only", "message-type-two"):
        refused = "it takes the message for a reply that does not decode"
        completes_unless_starved(bench, outcome, "RFC8167-4.1-5", refused)
    else:
        completes_unless_starved(bench, outcome, "RFC8167-4.1-5")


@pytest.mark.parametrize("xid", ["own", "same"])
@case(
    "client.reverse.flood.{xid}-xid",
    requirements=["RFC8167-4.3-1"],
    bugs=["B83"],
    hostile=True,
    unbroken="RFC8167-4.3-1: the provider ends the connection when a message meets no receive.",
)
def test_flood(bench, xid):
    """Many calls at once, beyond what any client has granted and has receives for. Either side may end the
    connection over them (RFC 8166 3.3.1); the calls under way are made again."""

    def make(reply):
        first = reply.xid if xid == "same" else other_xid(reply)
        return [reverse_call((first + i * (xid != "same")) & 0xFFFFFFFF) for i in range(FLOOD)]

    outcome = bench.use(reply=beside(make), when=CALL_KINDS["read"])
    expect_or(bench, outcome, "RFC8167-4.3-1", kinds.COMPLETED, {kinds.REFUSED: LOST})


@case(
    "client.reverse.first-of-all",
    requirements=["RFC8167-4.3-1"],
    hostile=True,
    unbroken="RFC8167-4.3-1: the provider ends the connection when a message meets no receive.",
)
def test_first(bench):
    """The server calls before it has answered anything, so that no upper layer has said that it is ready. The
    client need have no receive for the call, and at worst its provider ends the connection."""
    called = []

    def arrival(conn, message):
        if not called:
            called.append(conn)
            conn.raw.send(wire.encode(reverse_call(1)))
        return False

    completes(bench.use(arrival=arrival), "RFC8167-4.3-1")


@pytest.mark.parametrize("name", ["unknown", "same"])
@case("client.reverse.reply-{name}-xid", requirements=["RFC8167-2.4-1"], hostile=True)
def test_reply(bench, name):
    """A reverse call and, unasked, its own reply: neither belongs to a forward call."""

    def make(reply):
        xid = other_xid(reply)
        call = reverse_call(reply.xid if name == "same" else xid)
        body = xid.to_bytes(4, "big") + (1).to_bytes(4, "big") + bytes(16)
        return [call, wire.Draft(xid=xid, credit=1, payload=body)]

    completes(bench.use(reply=beside(make), when=CALL_KINDS["plain"]), "RFC8167-2.4-1")


@pytest.mark.parametrize("name", ["null", "credit-zero", "credit-largest"])
@case("client.reverse.behind.{name}", requirements=["RFC8167-4.1-1"], hostile=True)
def test_behind(bench, name):
    """A call behind replies, at first also while nothing else is in flight. Its credit word does
    not count for the forward direction, and no later reply corrects it."""
    outcome = bench.use(Behind(lambda reply: CALLS[name](other_xid(reply))))
    completes_unless_starved(bench, outcome, "RFC8167-4.1-1")


class Asking(Behind):
    """Calls back behind replies and notes what the client answers."""

    def __init__(self):
        super().__init__(self._ask)
        self.asked = set()
        self.answers = []

    def _ask(self, reply):
        xid = other_xid(reply)
        self.asked.add(xid)
        return reverse_call(xid)

    def on_arrival(self, conn, message):
        super().on_arrival(conn, message)
        xid = int.from_bytes(message[:4], "big")
        if xid in self.asked:
            self.answers.append(message)
            return True
        return False


@case(
    "client.reverse.answers",
    requirements=["RFC8167-5.2-1", "RFC8167-5.2-2", "RFC8167-5.2-3", "RFC8167-5.2-4"],
    hostile=True,
)
def test_answers(bench):
    """Calls behind replies. A client that answers does so under the call's XID, with version 1 and
    an RPC reply; one that does not is silent."""
    asking = Asking()
    outcome = bench.use(asking)
    completes_unless_starved(bench, outcome, "RFC8167-5.2-1")
    if not asking.answers:
        bench.latitude("RFC8167-5.2-1", "it makes nothing of reverse calls")
    for octets in asking.answers:
        version = int.from_bytes(octets[4:8], "big")
        expect.equal(version, 1, "RFC8167-5.2-2", "version of the answer", outcome=outcome)
        sent = sent_from(octets)
        decodes = sent.header is not None
        expect.true(decodes, "RFC8167-5.2-1", "the answer decodes", outcome=outcome)
        if sent.header.proc == wire.Procedure.MSG:
            named, kind = sent.payload[:4], sent.payload[4:8]
            expect.equal(named, octets[:4], "RFC8167-5.2-3", "XID of the RPC reply", show=False)
            expect.equal(kind, b"\0\0\0\1", "RFC8167-5.2-4", "its message type")
