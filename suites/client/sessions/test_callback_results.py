"""What the results of a CB_COMPOUND say: which operations were executed, under which numbers (RFC 8881 19.2, 20.13)."""

import pytest

from steertag.suite import case, expect
from steertag.suite.client.backchannel import CB_SEQUENCE, OK
from ..call_kinds import words
from ..callback_scripts import (
    NEEDS,
    proven,
    recall_nothing,
    recall_slots,
    run_callbacks,
    UNPROVEN,
)
from ..client_verdicts import completes

STATUS, ENDS = "RFC8881-19.2.3-1", "RFC8881-19.2.4-1"
ILLEGAL, MINOR, TAG = "RFC8881-20.13.3-1", "RFC8881-15.1.3.2-1", "RFC8881-16.2.3-1"
ILLEGAL_NUMBER = 10044  # OP_CB_ILLEGAL
ILLEGAL_STATUS, BADXDR = "NFS4ERR_OP_ILLEGAL", "NFS4ERR_BADXDR"
TOO_FEW = "the client agrees to too few operations of a CB_COMPOUND"
# Numbers that RFC 8881 20 gives to no operation of callbacks.
NUMBERS = {
    "zero": 0,
    "one": 1,
    "two": 2,
    "of-open": 18,
    "of-exchange-id": 42,
    "below-illegal": ILLEGAL_NUMBER - 1,
    "above-illegal": ILLEGAL_NUMBER + 1,
    "sign": 1 << 31,
    "largest": 0xFFFFFFFF,
}
# Of no version that there is.
MINOR_VERSIONS = {"seven": 7, "sign": 1 << 31, "largest": 0xFFFFFFFF}
# Of a CB_COMPOUND of CB_SEQUENCE, with a credential of up to 400 octets (RFC 5531 8.2).
BESIDE_OCTETS = 40 + 400 + 72
TAGS = {"one-octet": "x", "three-octets": "abc", "five-octets": "abcde", "long": "t" * 61}


def _names(answer):
    """The names of the operations in the results."""
    compound = answer.compound
    return [number.name for number, _ in compound.results] if compound is not None else []


def _overall(answer):
    """The name of the status of the CB_COMPOUND."""
    compound = answer.compound
    return compound.status.name if compound is not None else answer.status()


def _replaced_last(octets, old, new):
    """The octets with `new` in the place of the last `old`."""
    at = octets.rindex(old)
    return octets[:at] + new + octets[at + len(old) :]


def _highest(back):
    return recall_slots(back.granted.csr_fore_chan_attrs.ca_maxrequests - 1)


# -- the first error ------------------------------------------------------------------------------


def _failing(name):
    return recall_nothing() if name.endswith("recall") else ("CB_ILLEGAL", None)


@pytest.mark.parametrize("name", ["recall", "illegal", "third-recall", "third-illegal"])
@case("client.callback.ends-at-error.{name}", requirements=[ENDS, STATUS], needs=NEEDS)
def test_ends_at_error(bench, name):
    """The second or third operation of a CB_COMPOUND fails, and another one is behind it. That has no result. The
    status of the CB_COMPOUND is that of the one that failed."""

    def callbacks(back):
        operations = [_failing(name), _highest(back)]
        if name.startswith("third"):
            operations.insert(0, _highest(back))
        if back.back_attrs.ca_maxoperations < len(operations) + 1:
            return TOO_FEW
        if not (yield from proven(back)):
            return UNPROVEN
        return len(operations), (yield back.call(*operations, number=2))

    back, outcome = run_callbacks(bench, callbacks, ENDS)
    most, answer = back.result
    statuses = answer.statuses
    if not statuses or statuses[0] != OK or statuses[1:] == [OK] * most:
        bench.not_testable("the client executes an operation that is to fail")
    what = "results behind the one that has failed"
    behind = next((at for at, status in enumerate(statuses) if status != OK), len(statuses)) + 1
    expect.equal(len(statuses[behind:]), 0, ENDS, what, outcome=outcome)
    what = "status of a CB_COMPOUND whose last operation has failed"
    expect.equal(_overall(answer), statuses[-1], STATUS, what, outcome=outcome)
    completes(outcome, ENDS)


# -- illegal numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NUMBERS)
@case("client.callback.number.{name}", requirements=[ILLEGAL, STATUS], needs=NEEDS, hostile=True)
def test_number(bench, name):
    """The second operation of a CB_COMPOUND has a number that no operation has. Its result has the number of
    CB_ILLEGAL, and says NFS4ERR_OP_ILLEGAL. So does the status of the CB_COMPOUND."""

    def callbacks(back):
        if not (yield from proven(back)):
            return UNPROVEN
        back.change = lambda octets: _replaced_last(
            octets, words(ILLEGAL_NUMBER), words(NUMBERS[name])
        )
        answer = yield back.call(("CB_ILLEGAL", None), number=2)
        back.change = None
        return answer, (yield back.call(number=3))

    back, outcome = run_callbacks(bench, callbacks, ILLEGAL)
    answer, later = back.result
    if not bench.client.ours and (not answer.accepted or _overall(answer) == BADXDR):
        bench.latitude(ILLEGAL, "it checks numbers while it decodes (RFC 8881 20.13.4)")
        completes(outcome, ILLEGAL)
        return
    what = "the last result is CB_ILLEGAL with NFS4ERR_OP_ILLEGAL"
    # Both are the same number. A result with the number of another operation may not decode.
    is_illegal = answer.body.endswith(words(ILLEGAL_NUMBER, ILLEGAL_NUMBER))
    expect.true(is_illegal, ILLEGAL, what, outcome=outcome)
    what = "status of a CB_COMPOUND whose last operation is illegal"
    expect.equal(_overall(answer), ILLEGAL_STATUS, STATUS, what, outcome=outcome)
    what = "status of the next callback in the slot"
    expect.equal(later.status(), OK, ILLEGAL, what, outcome=outcome)
    completes(outcome, ILLEGAL)


# -- the head of a CB_COMPOUND --------------------------------------------------------------------


@pytest.mark.parametrize("name", MINOR_VERSIONS)
@case("client.callback.minor-version.{name}", requirements=[MINOR], needs=NEEDS, hostile=True)
def test_minor_version(bench, name):
    """A CB_COMPOUND is of a minor version that does not exist. It gets NFS4ERR_MINOR_VERS_MISMATCH and no results, and
    its CB_SEQUENCE uses no sequence id."""
    # minorversion, callback_ident, the number of operations, and that of CB_SEQUENCE.
    head, changed = (words(version, 0, 1, CB_SEQUENCE) for version in (1, MINOR_VERSIONS[name]))

    def callbacks(back):
        if not (yield from proven(back)):
            return UNPROVEN
        back.change = lambda octets: _replaced_last(octets, head, changed)
        answer = yield back.call(number=2)
        back.change = None
        return answer, (yield back.call(number=2))

    back, outcome = run_callbacks(bench, callbacks, MINOR)
    answer, later = back.result
    what = "status of a CB_COMPOUND of another minor version"
    expect.equal(_overall(answer), "NFS4ERR_MINOR_VERS_MISMATCH", MINOR, what, outcome=outcome)
    expect.equal(_names(answer), [], MINOR, "results of such a CB_COMPOUND", outcome=outcome)
    what = "status of the callback that has its sequence id"
    expect.equal(later.status(), OK, MINOR, what, outcome=outcome)
    completes(outcome, MINOR)


@pytest.mark.parametrize("name", TAGS)
@case("client.callback.tag.{name}", requirements=[TAG], needs=NEEDS)
def test_tag(bench, name):
    """A CB_COMPOUND has a tag: its results have the same, and so do those of its retry."""
    tag = TAGS[name]

    def callbacks(back):
        if not (yield from proven(back)):
            return UNPROVEN
        if back.back_attrs.ca_maxrequestsize < BESIDE_OCTETS + len(tag):
            return "the client has no room for a tag"
        first = yield back.call(number=2, tag=tag)
        return first, (yield back.call(number=2, tag=tag))

    back, outcome = run_callbacks(bench, callbacks, TAG)
    for answer in back.result:
        compound = answer.compound if answer.is_compound else None
        found = compound.tag if compound is not None else None
        expect.equal(found, tag, TAG, "tag of a CB_COMPOUND", outcome=outcome)
    completes(outcome, TAG)
