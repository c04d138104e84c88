"""CB_COMPOUNDs that break the rules of their session: the answers, and the slot afterwards.

RFC 8881 20.9, 2.10.6.1, 2.10.6.3, 18.36.3.
"""

import pytest

from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.backchannel import Backchannel, DELAY, OK
from steertag.suite.client.script import is_read, Sequence
from ..callback_scripts import (
    keeps,
    KEEPS_NOTHING,
    MISORDERED,
    NEEDS,
    proven,
    recall_nothing,
    recall_slots,
    run_callbacks,
    UNPROVEN,
)
from ..client_verdicts import completes

POSITION, NO_SEQUENCE = "RFC8881-20.9.3-3", "RFC8881-20.9.3-4"
UNTOUCHED, HIGHEST, ILLEGAL = "RFC8881-20.9.3-8", "RFC8881-20.9.3-9", "RFC8881-20.9.3-10"
FIRST, OPERATIONS = "RFC8881-18.36.3-15", "RFC8881-18.36.3-16"
NO_RACE, ANSWERED = "RFC8881-2.10.6.3-3", "RFC8881-2.10.6.3-4"
EACH_COUNTS = "RFC8881-2.10.6.3-5"
# RFC 8881 2.10.6.1.3: of an operation that is illegal.
REFUSALS = ["NFS4ERR_OP_ILLEGAL", "NFS4ERR_NOTSUPP", "NFS4ERR_BADXDR"]
# Of one CB_RECALL_SLOT; and of the rest of such a call, whose credential has up to 400 (RFC 5531 8.2).
SLOT_RECALL_OCTETS, BESIDE_OCTETS = 8, 40 + 400 + 72
PATIENT = "it may wait for the reply, which is not for ever"
# A CB_COMPOUND of so many operations still fits any receive; a client may agree to any number.
MOST_TRIED = 32


@case("client.callback.sequence-twice", requirements=[POSITION], needs=NEEDS, hostile=True)
def test_sequence_twice(bench):
    """A second CB_SEQUENCE follows the first, with the next sequence id of the slot. It gets
    NFS4ERR_SEQUENCE_POS, and does not use that id."""

    def callbacks(back):
        if not (yield from proven(back)):
            return UNPROVEN
        twice = yield back.call(back.sequence(number=3), number=2)
        return twice, (yield back.call(number=3))

    back, outcome = run_callbacks(bench, callbacks, POSITION)
    twice, third = back.result
    what = "statuses of two CB_SEQUENCEs"
    expect.equal(twice.statuses, [OK, "NFS4ERR_SEQUENCE_POS"], POSITION, what, outcome=outcome)
    what = "status of the callback behind them"
    expect.equal(third.status(), OK, POSITION, what, outcome=outcome)
    completes(outcome, POSITION)


@pytest.mark.parametrize("name", ["alone", "before"])
@case("client.callback.no-sequence.{name}", requirements=[NO_SEQUENCE], needs=NEEDS, hostile=True)
def test_no_sequence(bench, name):
    """A CB_COMPOUND begins with CB_RECALL, without a CB_SEQUENCE or with one behind it: it is refused, and
    moves no slot."""

    def callbacks(back):
        if not (yield from proven(back)):
            return UNPROVEN
        behind = [back.sequence(number=2)] if name == "before" else []
        wrong = yield back.compound(recall_nothing(), *behind)
        return wrong, (yield back.call(number=2))

    back, outcome = run_callbacks(bench, callbacks, NO_SEQUENCE)
    wrong, second = back.result
    what = "statuses of a callback without CB_SEQUENCE in the first place"
    refused = ["NFS4ERR_OP_NOT_IN_SESSION"]
    expect.equal(wrong.statuses, refused, NO_SEQUENCE, what, outcome=outcome)
    what = "status of the callback behind it"
    expect.equal(second.status(), OK, NO_SEQUENCE, what, outcome=outcome)
    completes(outcome, NO_SEQUENCE)


NOT_ONE = {"zero": 0, "two": 2, "largest": 0xFFFFFFFF, "sign": 0x80000000}


@pytest.mark.parametrize("name", NOT_ONE)
@case("client.callback.first.{name}", requirements=[FIRST], needs=NEEDS, hostile=True)
def test_first(bench, name):
    """The first callback of a session has another sequence id than 1: it is refused, and the slot stays
    unused. That the client takes such calls at all, in the RPC version and under the credential that we
    use, the second one shows."""

    def callbacks(back):
        wrong = yield back.call(number=NOT_ONE[name])
        right = yield back.call(number=1)
        return (wrong, right) if right.is_compound else UNPROVEN

    back, outcome = run_callbacks(bench, callbacks, FIRST)
    statuses = [answer.status() for answer in back.result]
    what = "statuses of the first callback, and of one with the sequence id 1 behind it"
    expect.equal(statuses, [MISORDERED, OK], FIRST, what, outcome=outcome)
    completes(outcome, FIRST)


@case("client.callback.too-many-operations", requirements=[OPERATIONS], needs=NEEDS, hostile=True)
def test_too_many_operations(bench):
    """A callback has one operation more than the client has agreed to: it gets NFS4ERR_TOO_MANY_OPS, as the
    status of CB_SEQUENCE or of one behind it. What is asked for changes nothing."""

    def callbacks(back):
        if not (yield from proven(back)):
            return UNPROVEN
        most = back.back_attrs.ca_maxoperations
        if most > MOST_TRIED:
            return "the client agrees to more operations than the case has"
        if back.back_attrs.ca_maxrequestsize < most * SLOT_RECALL_OCTETS + BESIDE_OCTETS:
            return "the client has no room for more operations than it agrees to"
        highest = back.granted.csr_fore_chan_attrs.ca_maxrequests - 1
        return (yield back.call(*[recall_slots(highest)] * most, number=2))

    back, outcome = run_callbacks(bench, callbacks, OPERATIONS)
    what = "status of a callback with too many operations"
    status = back.result.status("none of them")
    expect.equal(status, "NFS4ERR_TOO_MANY_OPS", OPERATIONS, what, outcome=outcome)
    completes(outcome, OPERATIONS)


@case("client.callback.behind-error", requirements=[UNTOUCHED], needs=NEEDS, hostile=True)
def test_behind_error(bench):
    """A misordered callback follows one whose reply is to be kept, and then the first comes as a
    retry. The error leaves reply and sequence id of the slot unchanged. The next callback shows
    that too."""

    def callbacks(back):
        if not keeps(back):
            return KEEPS_NOTHING
        first = yield back.call(recall_nothing(), number=1, cachethis=True)
        if first.status() != OK:
            return UNPROVEN
        wrong = yield back.call(recall_nothing(), number=5, cachethis=True)
        again = yield back.call(recall_nothing(), number=1, cachethis=True)
        return first, wrong, again, (yield back.call(number=2))

    back, outcome = run_callbacks(bench, callbacks, UNTOUCHED)
    first, wrong, again, following = back.result
    what = "status of a callback out of its order"
    expect.equal(wrong.status(), MISORDERED, UNTOUCHED, what, outcome=outcome)
    same = again.kept == first.kept
    what = "behind an error, the retry of a callback has the reply of the first time"
    expect.true(same, UNTOUCHED, what, outcome=outcome)
    what = "status of the next callback of the slot"
    expect.equal(following.status(), OK, UNTOUCHED, what, outcome=outcome)
    completes(outcome, UNTOUCHED)


@case("client.callback.highest-slot", requirements=[HIGHEST], needs=NEEDS)
def test_highest_slot(bench):
    """A callback names the last slot of the backchannel as the highest in use: the client does not take it
    away with its answer."""

    def callbacks(back):
        return (yield back.call(number=1, highest=back.back_attrs.ca_maxrequests - 1))

    back, outcome = run_callbacks(bench, callbacks, HIGHEST)
    if back.result.status() != OK:
        bench.not_testable(UNPROVEN)
    highest = back.back_attrs.ca_maxrequests - 1
    given = back.result.compound["CB_SEQUENCE"].resok4.csr_highest_slotid
    expect.at_least(given, highest, HIGHEST, "csr_highest_slotid", outcome)
    completes(outcome, HIGHEST)


@case("client.callback.retry.illegal", requirements=[ILLEGAL], needs=NEEDS, hostile=True)
def test_illegal(bench):
    """A callback with an illegal operation is sent twice, and its reply is not to be kept. The
    operation is illegal both times, and the client does not report a missing reply."""

    def callbacks(back):
        first = yield back.call(("CB_ILLEGAL", None), number=1)
        if first.status() != OK:
            return UNPROVEN
        return first, (yield back.call(("CB_ILLEGAL", None), number=1))

    back, outcome = run_callbacks(bench, callbacks, ILLEGAL)
    for answer in back.result:
        what = "status of an illegal operation"
        status = answer.statuses[-1] if len(answer.statuses) == 2 else answer.status()
        expect.one_of(status, REFUSALS, ILLEGAL, what, outcome=outcome)
    completes(outcome, ILLEGAL)


# -- referring calls -------------------------------------------------------------------------------


def answered_before(back):
    """The request before the one that waits, in its slot: who makes that one has read the other's reply."""
    waiting = back.waiting
    if waiting.number < 2:
        return None
    return Sequence(waiting.session, waiting.slot, waiting.number - 1)


# What no outstanding request is.
NO_REQUESTS = {
    "answered": answered_before,
    "no-slot": lambda back: Sequence(back.session, 0x7FFFFFFF, 1),
    "no-session": lambda back: Sequence(bytes(16), back.waiting.slot, back.waiting.number),
}


@pytest.mark.parametrize("name", NO_REQUESTS)
@case("client.callback.referring.{name}", requirements=[NO_RACE], needs=NEEDS)
def test_no_race(bench, name):
    """A callback refers to a request that was answered, or that the client cannot have made. There
    is no race, and the client executes the callback as if it referred to none."""

    def callbacks(back):
        request = NO_REQUESTS[name](back)
        if request is None:
            return "the request that waits is the first of its slot"
        plain = yield back.call(recall_nothing(), number=1)
        if plain.status() != OK:
            return UNPROVEN
        return plain, (yield back.call(recall_nothing(), number=2, referring=[request]))

    back, outcome = run_callbacks(bench, callbacks, NO_RACE, tolerates_delay=True)
    plain, referring = back.result
    if plain.statuses[-1] == DELAY:
        bench.not_testable("the client puts such a callback off whatever it refers to")
    what = "statuses of a callback that refers to no request under way"
    expect.equal(referring.statuses, plain.statuses, NO_RACE, what, outcome=outcome)
    completes(outcome, NO_RACE)


@case("client.callback.referring.outstanding", requirements=[ANSWERED], needs=NEEDS)
def test_race(bench):
    """A callback refers to a request whose reply waits for the answer to the callback. The client
    answers it, with any status: if it waited for the reply, neither would ever come. No document
    limits how long it may wait."""

    def callbacks(back):
        if not (yield from proven(back)):
            return UNPROVEN
        return (yield back.call(recall_nothing(), number=2, referring=[back.waiting]))

    back = Backchannel(callbacks, is_read, tolerates_delay=True, patient=True)
    outcome = bench.use(back)
    if isinstance(back.result, str):
        bench.not_testable(back.result)
    if back.result is None and not bench.client.ours:  # of ours it is known how long it waits
        if outcome.kind == kinds.HANG and not outcome.starved():
            expect(outcome, ANSWERED, must=[kinds.COMPLETED], warn={kinds.HANG: PATIENT})
            return
    answered = back.result is not None and back.result.is_compound
    what = "a callback that refers to a request under way has an answer before that"
    expect.true(answered, ANSWERED, what, outcome=outcome)
    completes(outcome, ANSWERED)


# The waiting request behind another one, which it is no race to refer to: in its list, or in a list of its own.
BEHIND = {
    "second-of-list": lambda back, answered: [[answered, back.waiting]],
    "second-list": lambda back, answered: [NO_REQUESTS["no-session"](back), back.waiting],
}


@pytest.mark.parametrize("name", BEHIND)
@case("client.callback.referring.{name}", requirements=[EACH_COUNTS], needs=NEEDS)
def test_behind(bench, name):
    """A callback refers to a request whose reply waits, and to another before that. It is put off as one is that refers
    to the waiting request alone."""

    def callbacks(back):
        answered = answered_before(back)
        if answered is None:
            return "the request that waits is the first of its slot"
        alone = yield back.call(recall_nothing(), number=1, referring=[back.waiting])
        if alone.status() not in (OK, DELAY):
            return UNPROVEN
        if alone.statuses[-1] != DELAY or back.waiting is None:
            return "the client does not put off what refers to a request under way"
        number = 2 if alone.status() == OK else 1
        referring = BEHIND[name](back, answered)
        return alone, (yield back.call(recall_nothing(), number=number, referring=referring))

    back, outcome = run_callbacks(bench, callbacks, EACH_COUNTS, tolerates_delay=True)
    alone, behind = back.result
    what = "statuses of a callback that refers to a request under way behind another"
    expect.equal(behind.statuses, alone.statuses, EACH_COUNTS, what, outcome=outcome)
    completes(outcome, EACH_COUNTS)
