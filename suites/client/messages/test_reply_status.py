"""Replies that say by RPC that the call was not executed (RFC 5531 9): they bring no results."""

import pytest

from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import Script
from ..call_kinds import brought, CALL_KINDS, moved, spoilt, word, words
from ..client_verdicts import expect_or, RETRIED

ACCEPTED_ROW, DENIED_ROW = "RFC5531-9-10", "RFC5531-9-11"
STATUS_AT = 8  # in a reply: XID, type, whether it is accepted
ACCEPTED, DENIED = 0, 1
VERIFIER_AT = 12
# accept_stat, and what follows it.
STATUSES = {
    "prog-unavail": words(1),
    "prog-mismatch": words(2, 4, 4),
    "proc-unavail": words(3),
    "garbage-args": words(4),
    "system-err": words(5),
    "status-six": words(6),
    "status-largest": words(0xFFFFFFFF),
}
# What follows MSG_DENIED: reject_stat, and the range or auth_stat.
DENIALS = {
    "rpc-mismatch": words(0, 2, 2),
    "bad-credential": words(1, 1),
    "rejected-credential": words(1, 2),
    "bad-verifier": words(1, 3),
    "rejected-verifier": words(1, 4),
    "too-weak": words(1, 5),
    "auth-failed": words(1, 7),
    "auth-status-99": words(1, 99),
}


def _behind_verifier(payload):
    """Where accept_stat is in an accepted reply."""
    length = word(payload, VERIFIER_AT + 4)
    return VERIFIER_AT + 8 + length + -length % 4


def _accepted_with_results(status):
    """Replaces accept_stat, and leaves the results behind it."""

    def change(payload):
        at = _behind_verifier(payload)
        return payload[:at] + STATUSES[status][:4] + payload[at + 4 :]

    return change


def _accepted(status):
    return lambda payload: payload[: _behind_verifier(payload)] + STATUSES[status]


def _denied_with_results(payload):
    """Replaces reply_stat alone. Behind an empty verifier of AUTH_NONE and SUCCESS, the words are RPC_MISMATCH with a
    range from 0 to 0, and then results."""
    return payload[:STATUS_AT] + words(DENIED) + payload[STATUS_AT + 4 :]


def _denied(reason):
    return lambda payload: payload[:STATUS_AT] + words(DENIED) + DENIALS[reason]


class NotExecuted(Script):
    """One reply has its RPC message changed. With results behind it, a READ has octets that the file does not have.
    Without them, its write chunks come back unused."""

    def __init__(self, call_kind, change, has_results):
        self._call_kind, self._change, self._has_results = call_kind, change, has_results
        self._refused = None
        self.again = False  # what the call has brought came with another one

    @property
    def waits(self):
        return self._refused is None

    def on_departure(self, reply):
        if reply.kind == "callback":
            return False
        if self._refused is not None:
            if self._call_kind == "write":
                self.again |= brought(self._refused) in moved(reply)
            return False
        if not CALL_KINDS[self._call_kind](reply) or reply.header.proc != 0:
            return False
        self._refused = reply
        draft = reply.draft()
        draft.payload = self._change(bytes(draft.payload))
        if self._has_results:
            reply.push(spoilt(reply.writes))
        else:
            draft = _unused(draft)
        reply.send(draft)
        return True


def _unused(draft):
    chunks = draft.write_list
    for chunk in chunks:
        chunk.segments = [_empty(segment) for segment in chunk.segments]
    draft.write_list = chunks
    return draft


def _empty(segment):
    segment.length = 0
    return segment


def _refused(bench, requirement_id, call_kind, change, has_results):
    """The client reports an error, or makes the call again."""
    script = NotExecuted(call_kind, change, has_results)
    outcome = bench.use(script)
    expect_or(bench, outcome, requirement_id, kinds.REFUSED, {kinds.COMPLETED: RETRIED})
    if call_kind == "write":
        done = outcome.kind not in kinds.DONE or script.again
        what = "what a refused WRITE has brought is there by another call only"
        expect.true(done, requirement_id, what, outcome=outcome)


@pytest.mark.parametrize("call_kind", ["read", "write"])
@pytest.mark.parametrize("name", STATUSES)
@case("client.rpc.accepted.{name}.{call_kind}", requirements=[ACCEPTED_ROW])
def test_accepted(bench, name, call_kind):
    """One call is accepted and not executed. It fails, or is made again."""
    _refused(bench, ACCEPTED_ROW, call_kind, _accepted(name), has_results=False)


@pytest.mark.parametrize("call_kind", ["read", "write"])
@pytest.mark.parametrize("name", STATUSES)
@case(
    "client.rpc.accepted-with-results.{name}.{call_kind}",
    requirements=[ACCEPTED_ROW],
    hostile=True,
)
def test_accepted_with_results(bench, name, call_kind):
    """The same, and what could be results follows. It has no meaning behind such a status."""
    _refused(bench, ACCEPTED_ROW, call_kind, _accepted_with_results(name), has_results=True)


@pytest.mark.parametrize("call_kind", ["read", "write"])
@pytest.mark.parametrize("name", DENIALS)
@case("client.rpc.denied.{name}.{call_kind}", requirements=[DENIED_ROW])
def test_denied(bench, name, call_kind):
    """One call is denied. It fails, or is made again."""
    _refused(bench, DENIED_ROW, call_kind, _denied(name), has_results=False)


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case("client.rpc.denied-with-results.{call_kind}", requirements=[DENIED_ROW], hostile=True)
def test_denied_with_results(bench, call_kind):
    """Of a good reply one word alone is another: that it is denied."""
    _refused(bench, DENIED_ROW, call_kind, _denied_with_results, has_results=True)
