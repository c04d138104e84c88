"""RDMA_ERROR: it ends the call that it names, for good; one that does not decode ends nothing."""

import pytest

from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.cases.environments import Environment
from steertag.suite.client.script import ERR_CHUNK, ERR_VERS, is_read, ReplyInterposer, Script
from ..call_kinds import brought, CALL_KINDS, moved, shows_end, spoilt
from ..client_verdicts import (
    completes,
    done_otherwise,
    expect_no_resend,
    expect_or,
    may_hang,
    RETRIED,
)
from ..environment_script import EnvironmentScript

# A bound for "not without end": more than any client has calls for this file.
MOST_CALLS = 400
SAME_OCTETS = 32
ERRORS = {
    "err-chunk": [ERR_CHUNK],
    "err-vers": [ERR_VERS],
    "err-vers-two-three": [ERR_VERS, "error.versions-2-3"],
}


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@pytest.mark.parametrize("name", ERRORS)
@case(
    "client.error.{name}.{call_kind}",
    requirements=["RFC8166-4.5-8", "RFC8267-6.4.2-8"],
    bugs=["B124"],
    hostile=True,
)
def test_error(bench, name, call_kind):
    """The error ends the call: the client reports it, and does not send the XID again."""
    seen = []

    def interpose(reply):
        seen.append(reply.xid)
        reply.send_mutated(*ERRORS[name])

    outcome = bench.use(reply=interpose, when=CALL_KINDS[call_kind])
    # Of ours too: one that sends the call again is to be told by the row that says so.
    expect(outcome, "RFC8166-4.5-8", must=[kinds.REFUSED], latitude=done_otherwise(RETRIED))
    expect_no_resend(bench, outcome, seen[0], ERRORS[name][0])


# What a server says that it speaks, and had not said on the connection before.
RANGES = {
    "two": [ERR_VERS, "error.versions-2-2"],
    "two-three": [ERR_VERS, "error.versions-2-3"],
    "none": [ERR_VERS, "error.versions-1-0"],
}


@pytest.mark.parametrize("call_kind", ["read", "write"])
@pytest.mark.parametrize("name", RANGES)
@case(
    "client.error.versions-{name}-on-next.{call_kind}",
    requirements=["RFC8166-4.5-8"],
    hostile=True,
)
def test_versions_on_next(bench, name, call_kind):
    """A connection is lost, and on the next one the server names other versions than that of the call. The error
    ends the call there too, and the client does not send the XID again."""
    seen = []

    def interpose(reply):
        seen.append(reply.xid)
        reply.send_mutated(*RANGES[name])

    refusing = ReplyInterposer(interpose, CALL_KINDS[call_kind])
    script = EnvironmentScript(Environment(4096, reconnected=True), refusing)
    outcome = bench.use(script)
    expect(outcome, "RFC8166-4.5-8", must=[kinds.REFUSED], latitude=done_otherwise(RETRIED))
    before = 2 if seen[0] == script.lost else 1
    expect_no_resend(bench, outcome, seen[0], ERR_VERS, before)


class ErrorThenReply(Script):
    """Answers one call with an error, and with a reply as well when the client is quiet. The reply
    to a READ places octets that the file does not have. A client that has taken the error does not
    use them."""

    def __init__(self, call_kind):
        self._call_kind = call_kind
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
            if not CALL_KINDS[self._call_kind](reply):
                return False
            self._reply = reply
            reply.send_mutated(ERR_CHUNK)
            return True
        if self._call_kind == "write":
            self.again |= brought(self._reply) in moved(reply)
        return False

    def on_quiet(self):
        reply = self._reply
        if reply is None or self._replied or not reply.raw.up or reply.offered_again:
            return
        self._replied = True
        reply.push(spoilt(reply.writes))
        reply.send()


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case("client.error.completes.{call_kind}", requirements=["RFC8166-4.5-8"], hostile=True)
def test_completes(bench, call_kind):
    """The error completes the call: a reply that comes when the client is quiet finds no call any
    more. A client that still waits takes wrong octets for those of a READ. Or it takes a WRITE for
    done that was made only once and failed. Nothing shows whether the result of a plain call was of
    use; there the client has to come to an end."""
    script = ErrorThenReply(call_kind)
    outcome = bench.use(script)
    expect_or(bench, outcome, "RFC8166-4.5-8", kinds.REFUSED, {kinds.COMPLETED: RETRIED})
    if call_kind == "write":
        done = outcome.kind not in kinds.DONE or script.again
        what = "what a failed WRITE has brought is there by another call only"
        expect.true(done, "RFC8166-4.5-8", what, outcome=outcome)


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@pytest.mark.parametrize("name", ["err-chunk", "err-vers"])
@case(
    "client.error.{name}.always.{call_kind}",
    requirements=["RFC8267-3.1-4", "RFC8166-4.5-8"],
    hostile=True,
)
def test_always(bench, name, call_kind):
    """The same error for every such call. It is permanent, so that the client gives up. It should
    not retry without end, which RFC 8267 3.1 says of ERR_CHUNK. No document limits how often
    another transaction may be tried after ERR_VERS."""
    row = "RFC8267-3.1-4" if name == "err-chunk" else "RFC8166-4.5-8"

    def interpose(reply):
        reply.send_mutated(*ERRORS[name])

    outcome = bench.use(reply=interpose, when=CALL_KINDS[call_kind], times=None)
    latitude, warn = done_otherwise("it did without such calls"), {}
    if name == "err-chunk":
        warn = {} if bench.client.ours else {kinds.HANG: "it tries without end"}
    else:
        latitude |= may_hang(bench)
    if bench.client.ours:
        latitude = {}
    expect(outcome, row, must=[kinds.REFUSED], latitude=latitude, warn=warn)
    if name == "err-chunk" or bench.client.ours:
        expect.at_most(len(outcome.calls), MOST_CALLS, row, "calls")


UNDECODABLE = {
    "code-zero": [ERR_CHUNK, "error.code-0"],
    "code-three": [ERR_CHUNK, "error.code-3"],
    "code-largest": [ERR_CHUNK, "error.code-0xffffffff"],
    "without-code": [ERR_CHUNK, "cut-at.16"],
    "cut-in-code": [ERR_CHUNK, "cut-at.18"],
    "vers-without-range": [ERR_VERS, "cut-at.20"],
    "vers-without-high": [ERR_VERS, "cut-at.24"],
    "code-three-padded": [ERR_CHUNK, "error.code-3", "trailing.octets-16"],
}


@pytest.mark.parametrize("call_kind", ["plain", "read"])
@pytest.mark.parametrize("name", UNDECODABLE)
@case("client.error.undecodable.{name}.{call_kind}", requirements=["RFC8166-4.5-9"], hostile=True)
def test_undecodable(bench, name, call_kind):
    """An RDMA_ERROR that does not decode is discarded: the reply behind it completes the call."""

    def interpose(reply):
        reply.send_mutated(*UNDECODABLE[name])
        reply.conform()

    completes(bench.use(reply=interpose, when=CALL_KINDS[call_kind]), "RFC8166-4.5-9")


@pytest.mark.parametrize("name", ["err-chunk", "err-vers"])
@case("client.error.{name}.unknown-xid", requirements=["RFC8166-4.5-8"], hostile=True)
def test_unknown(bench, name):
    """An error for an XID that no call has completes nothing."""

    def interpose(reply):
        reply.send_mutated(*ERRORS[name], "xids.unknown")
        reply.conform()

    completes(bench.use(reply=interpose), "RFC8166-4.5-8")


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case("client.error.then-reply.{call_kind}", requirements=["RFC8166-4.5-8"], hostile=True)
def test_then_reply(bench, call_kind):
    """The call has ended with the error: the reply behind it finds no call, and its RDMA Writes no
    memory."""

    def interpose(reply):
        reply.send_mutated(ERR_CHUNK)
        reply.conform()

    outcome = bench.use(reply=interpose, when=CALL_KINDS[call_kind])
    expect_or(bench, outcome, "RFC8166-4.5-8", kinds.REFUSED, {kinds.COMPLETED: RETRIED})


class ErrorThenEnd(Script):
    """Answers one call with an error, and no later call of the connection. Ends the connection when
    the client has had time to take the error, and conforms on the next."""

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
        reply.send_mutated(ERR_CHUNK)
        return True

    def on_quiet(self):
        if self.answered is None:
            return
        if self._how == "disconnect":
            self.answered.raw.disconnect()
        else:
            self.answered.raw.abort()


@pytest.mark.parametrize("how", ["disconnect", "abort"])
@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case("client.error.then-{how}.{call_kind}", requirements=["RFC8267-6.7.2-2"], hostile=True)
def test_then_close(bench, how, call_kind):
    """An error and then the end of the connection. The error counts first: the call is not sent
    again on the next connection, unless the end has overtaken the error."""
    script = ErrorThenEnd(CALL_KINDS[call_kind], how)
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
    """An error that grants no credits ends its call all the same. No server may grant zero, since
    that is a deadlock (RFC 8166 3.3.1). So the client may go by the grant, take it for one, or end
    the connection."""

    def interpose(reply):
        reply.send_mutated(ERR_CHUNK, "credit.0")

    outcome = bench.use(reply=interpose)
    latitude = done_otherwise(RETRIED) | may_hang(bench, "it goes by a grant of nothing")
    expect(outcome, "RFC8166-4.5-8", must=[kinds.REFUSED], latitude=latitude)


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case("client.error.with-version-two.{call_kind}", requirements=["RFC8166-4.5-8"], hostile=True)
def test_other_version(bench, call_kind):
    """ERR_VERS under the version of the responder, not of the call. Position and meaning of its
    words are the same in all versions (RFC 8166 7), so that it may count. Its rdma_vers is wrong
    (4.5), so that it may be discarded too."""

    def interpose(reply):
        reply.send_mutated(ERR_VERS, "error.versions-2-2", "version.2")
        reply.conform()

    outcome = bench.use(reply=interpose, when=CALL_KINDS[call_kind])
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
            reply.send_mutated(ERR_CHUNK)
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
    """A READ gets ERR_CHUNK. Its reply has the length that the client expected. So the client
    should not try it with a larger reply chunk, as it does for replies of unknown length. It may
    choose to all the same."""
    row = "RFC8267-4.1-1" if "client-nfs3" in bench.habits.has else "RFC8267-3.1-5"
    script = Larger()
    outcome = bench.use(script)
    what = "octets of the reply chunk of a READ that is made again"
    expect.at_most(max(script.rooms), script.rooms[0], row, what, outcome)
