"""Answers of a client to CB_COMPOUND (RFC 8881 20), while its own calls wait."""

import pytest

from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.backchannel import ASKED_CREDITS, Backchannel, OK
from steertag.suite.client.script import is_read
from ..callback_scripts import (
    CACHED,
    judge_retry,
    keeps,
    KEEPS_NOTHING,
    MISORDERED,
    NEEDS,
    proven,
    recall_nothing,
    recall_slots,
    run_callbacks,
    SEQUENCE,
    UNPROVEN,
)
from ..call_kinds import CALL_KINDS
from ..client_verdicts import completes, stays

IDENT = "RFC8881-2.10.2.1-1"
SLOT, SESSION = "RFC8881-20.9.3-5", "RFC8881-20.9.3-6"
RECEIVES, RECEIVES_AGAIN, READY = "RFC8167-4.3.1-1", "RFC8167-4.3.1-2", "RFC8167-6-2"
REPLY_SIZE, LONG_CALLS = "RFC8267-6.5.2-2", "RFC8267-6.5.2-5"


@pytest.mark.parametrize("ident", ["one", "largest"])
@case("client.callback.ident-{ident}", requirements=[IDENT], needs=NEEDS)
def test_ident(bench, ident):
    """A CB_COMPOUND has another callback_ident than 0, which a client of this version ignores."""
    value = {"one": 1, "largest": 0xFFFFFFFF}[ident]

    def callbacks(back):
        if not (yield from proven(back)):
            return UNPROVEN
        return (yield back.call(number=2, ident=value))

    back, outcome = run_callbacks(bench, callbacks, IDENT)
    expect.equal(back.result.status(), OK, IDENT, "status of CB_SEQUENCE", outcome=outcome)
    completes(outcome, IDENT)


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case("client.callback.new.{call_kind}", requirements=[SEQUENCE], needs=NEEDS)
def test_new(bench, call_kind):
    """Callbacks in one slot with the sequence ids 1, 2 and 3: each is executed, and answered under its own
    numbers."""

    def callbacks(back):
        first = yield back.call(number=1)
        if not first.is_compound:
            return UNPROVEN
        second = yield back.call(number=2)
        return first, second, (yield back.call(number=3))

    back, outcome = run_callbacks(bench, callbacks, SEQUENCE, CALL_KINDS[call_kind])
    for number, answer in enumerate(back.result, start=1):
        expect.equal(answer.status(), OK, SEQUENCE, "status of CB_SEQUENCE", outcome=outcome)
        ok = answer.compound["CB_SEQUENCE"].resok4
        named = (bytes(ok.csr_sessionid) == back.session, ok.csr_sequenceid, ok.csr_slotid)
        what = "session, sequence id and slot of the answer"
        expect.equal(named, (True, number, 0), SEQUENCE, what, outcome=outcome)
    completes(outcome, SEQUENCE)


@pytest.mark.parametrize("reply", ["kept", "not-kept"])
@case("client.callback.retry.{reply}", requirements=[SEQUENCE, CACHED], needs=NEEDS)
def test_retry(bench, reply):
    """A callback is retried with its sequence id, and the client answers from its reply cache. It
    may say that it has not kept a reply that was not to be kept."""
    kept = reply == "kept"

    def callbacks(back):
        if kept and not keeps(back):
            return KEEPS_NOTHING
        first = yield back.call(recall_nothing(), number=1, cachethis=kept)
        if first.status() != OK:
            return UNPROVEN
        second = yield back.call(recall_nothing(), number=1, cachethis=kept)
        return first, second

    back, outcome = run_callbacks(bench, callbacks, SEQUENCE)
    judge_retry(bench, *back.result, kept, outcome)
    completes(outcome, SEQUENCE)


@case("client.callback.other-call-as-retry", requirements=[SEQUENCE], needs=NEEDS)
def test_false_retry(bench):
    """Another callback comes with the sequence id of the last: it may get that one's reply, or an error,
    but is not executed."""

    def callbacks(back):
        first = yield back.call(recall_nothing(), number=1)
        if first.status() != OK:
            return UNPROVEN
        highest = back.granted.csr_fore_chan_attrs.ca_maxrequests - 1
        return (yield back.call(recall_slots(highest), number=1))

    back, outcome = run_callbacks(bench, callbacks, SEQUENCE)
    results = back.result.compound.results if back.result.compound else []
    executed = [
        number.name
        for number, result in results
        if number.name == "CB_RECALL_SLOT" and result.status.name == OK
    ]
    what = "operations that were executed under the sequence id of another callback"
    expect.equal(executed, [], SEQUENCE, what, outcome=outcome)
    completes(outcome, SEQUENCE)


# Behind a callback with the sequence id 2.
WRONG_NUMBERS = {"two-more": 4, "one-less": 1, "far-ahead": 0x40000002, "far-behind": 0xC0000002}


@pytest.mark.parametrize("name", WRONG_NUMBERS)
@case("client.callback.misordered.{name}", requirements=[SEQUENCE], needs=NEEDS, hostile=True)
def test_misordered(bench, name):
    """The sequence id of a callback is neither that of the last nor the next: it is refused, and the slot
    stays as it was."""

    def callbacks(back):
        if not (yield from proven(back)):
            return UNPROVEN
        second = yield back.call(number=2)
        wrong = yield back.call(recall_nothing(), number=WRONG_NUMBERS[name])
        third = yield back.call(number=3)
        return second, wrong, third

    back, outcome = run_callbacks(bench, callbacks, SEQUENCE)
    statuses = [answer.status() for answer in back.result]
    what = "statuses of a callback, of one out of its order, and of the one behind it"
    expect.equal(statuses, [OK, MISORDERED, OK], SEQUENCE, what, outcome=outcome)
    completes(outcome, SEQUENCE)


@case("client.callback.bad-slot", requirements=[SLOT], needs=NEEDS, hostile=True)
def test_bad_slot(bench):
    """A callback in a slot that the backchannel does not have: it is refused, and nothing else is hurt."""

    def callbacks(back):
        if not (yield from proven(back)):
            return UNPROVEN
        slots = back.granted.csr_back_chan_attrs.ca_maxrequests
        wrong = yield back.call(number=1, slot=slots)
        return wrong, (yield back.call(number=2))

    back, outcome = run_callbacks(bench, callbacks, SLOT)
    statuses = [answer.status() for answer in back.result]
    what = "statuses of a callback without a slot, and of the one behind it"
    expect.equal(statuses, ["NFS4ERR_BADSLOT", OK], SLOT, what, outcome=outcome)
    completes(outcome, SLOT)


@case("client.callback.bad-session", requirements=[SESSION], needs=NEEDS, hostile=True)
def test_bad_session(bench):
    """A callback for a session that is not there: it is refused, and moves no slot of the one that is."""

    def callbacks(back):
        if not (yield from proven(back)):
            return UNPROVEN
        other = bytes(each ^ 0xFF for each in back.session)
        wrong = yield back.call(number=2, session=other)
        return wrong, (yield back.call(number=2))

    back, outcome = run_callbacks(bench, callbacks, SESSION)
    statuses = [answer.status() for answer in back.result]
    what = "statuses of a callback for no session, and of the one behind it"
    expect.equal(statuses, ["NFS4ERR_BADSESSION", OK], SESSION, what, outcome=outcome)
    completes(outcome, SESSION)


def lost_behind_first(back):
    """A callback, and a lost connection. Gives the callback, or the sentence why nothing can be shown behind it."""
    first = yield back.call(recall_nothing(), number=1)
    if first.status() != OK:
        return UNPROVEN
    session = back.session
    yield back.lose()
    if back.session != session:
        return "the client leaves the session with the connection"
    return first


@case("client.callback.retry-after-loss", requirements=[SEQUENCE, RECEIVES_AGAIN], needs=NEEDS)
def test_retry_after_loss(bench):
    """The connection is lost behind a callback, and the client binds the next one. The callback is
    retried there, and the next callback of its slot follows. Slots belong to the session, not to
    the connection."""

    def callbacks(back):
        first = yield from lost_behind_first(back)
        if isinstance(first, str):
            return first
        second = yield back.call(recall_nothing(), number=1)
        return first, second, (yield back.call(number=2))

    back = Backchannel(callbacks, is_read)
    outcome = bench.use(back)
    if back.made is not None and back.has_left(back.session):
        bench.latitude(SEQUENCE, "it leaves the session with the connection")
        return
    # Also when the callbacks have used up what a later reply needs.
    what = "receives for callbacks on the connection that was bound"
    expect.true(not outcome.starved(), RECEIVES_AGAIN, what, outcome=outcome)
    stays(back, outcome, SEQUENCE)
    if back.not_testable_reason:
        bench.not_testable(back.not_testable_reason)
    first, second, third = back.result
    judge_retry(bench, first, second, False, outcome)
    what = "status of CB_SEQUENCE behind the retry"
    expect.equal(third.status(), OK, SEQUENCE, what, outcome=outcome)
    expect(outcome, SEQUENCE, must=[kinds.COMPLETED])


@case("client.callback.next-after-loss", requirements=[SEQUENCE], needs=NEEDS)
def test_next_after_loss(bench):
    """The same, but the callback is not retried: the next one of its slot comes first. It is executed."""

    def callbacks(back):
        first = yield from lost_behind_first(back)
        if isinstance(first, str):
            return first
        return (yield back.call(recall_nothing(), number=2))

    back = Backchannel(callbacks, is_read)
    outcome = bench.use(back)
    if back.made is not None and back.has_left(back.session):
        bench.latitude(SEQUENCE, "it leaves the session with the connection")
        return
    stays(back, outcome, SEQUENCE)
    if back.not_testable_reason:
        bench.not_testable(back.not_testable_reason)
    what = "status of CB_SEQUENCE on the next connection"
    expect.equal(back.result.status(), OK, SEQUENCE, what, outcome=outcome)
    expect(outcome, SEQUENCE, must=[kinds.COMPLETED])


@case("client.callback.as-many-as-granted", requirements=[RECEIVES], needs=NEEDS)
def test_as_many_as_granted(bench):
    """As many callbacks as the client grants come at once, while its own calls wait for their replies:
    there is a receive for each."""

    def callbacks(back):
        first = yield back.null()
        if not first.accepted:
            return UNPROVEN
        credits = min(max(first.sent.header.credit, 1), ASKED_CREDITS)
        return (yield [back.null() for _ in range(credits)])

    back = Backchannel(callbacks, is_read)
    outcome = bench.use(back, own=["--credits", "2"])
    what = "a receive for each callback that was granted"
    expect.true(not (back.lost and outcome.starved()), RECEIVES, what, outcome=outcome)
    stays(back, outcome, RECEIVES)
    if back.not_testable_reason:
        bench.not_testable(back.not_testable_reason)
    accepted = all(answer.accepted for answer in back.result)
    expect.true(accepted, RECEIVES, "every CB_NULL is answered", outcome=outcome)
    completes(outcome, RECEIVES)


@case("client.callback.before-the-session", requirements=[READY], needs=NEEDS)
def test_before_the_session(bench):
    """A CB_NULL comes before the reply to the CREATE_SESSION that asked for a backchannel: the client has
    made ready for it before it asked."""

    def callbacks(back):
        early = back.null()
        back.release()
        return (yield early)

    back = Backchannel(callbacks, early=True)
    outcome = bench.use(back)
    what = "a receive for the first callback"
    expect.true(not outcome.starved(), READY, what, outcome=outcome)
    stays(back, outcome, READY)
    if back.not_testable_reason:
        bench.latitude(READY, "it answers no callback before it has its session")
    completes(outcome, READY)


@case("client.callback.reply-size", requirements=[REPLY_SIZE], needs=NEEDS)
def test_reply_size(bench):
    """The answers to callbacks are no longer than what the client has asked for as the most."""

    def callbacks(back):
        answers = []
        for number in (1, 2):
            answers.append((yield back.call(recall_nothing(), number=number)))
        return answers

    back, outcome = run_callbacks(bench, callbacks, REPLY_SIZE)
    most = back.asked.csa_back_chan_attrs.ca_maxresponsesize
    for answer in back.result:
        octets = len(answer.sent.payload)
        expect.at_most(octets, most, REPLY_SIZE, "octets of an answer to a callback", outcome)
    completes(outcome, REPLY_SIZE)


@case("client.callback.long-call", requirements=[LONG_CALLS], needs=NEEDS, hostile=True)
def test_long_call(bench):
    """A client that asks for callbacks above the inline threshold seems to take long ones. The
    document only says the converse: a client that takes them asks so. The chunk of this callback is
    short, and its memory does not exist. A client that reads it loses the connection. A client that
    takes no chunks answers with an error."""

    def callbacks(back):
        if back.asked.csa_back_chan_attrs.ca_maxrequestsize <= back.threshold:
            return None
        return (yield back.long_null())

    back = Backchannel(callbacks, is_read)
    outcome = bench.use(back)
    if back.lost and (outcome.asked_too_much() or not outcome.tells_ends):
        bench.latitude(LONG_CALLS, "it reads the chunk of a long callback")
        return
    stays(back, outcome, LONG_CALLS)
    if back.not_testable_reason:
        bench.not_testable(back.not_testable_reason)
    refused = back.result is not None and back.result.sent.is_error
    what = "a client that asks for long callbacks takes chunks"
    expect.true(not refused, LONG_CALLS, what, outcome=outcome)
