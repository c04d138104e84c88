"""Calls in the backchannel that RPC refuses (RFC 5531 9): the client is their server, and says why."""

import pytest

from steertag import rpc
from steertag.suite import case, expect
from steertag.suite.client.backchannel import OK
from ..call_kinds import words
from ..callback_scripts import NEEDS, proven, run_callbacks, UNPROVEN
from ..client_verdicts import completes

ANOTHER_RPC, NO_PROGRAM = "RFC5531-9-3", "RFC5531-9-4"
NO_VERSION, NO_PROCEDURE = "RFC5531-9-5", "RFC5531-9-6"
# Octets in front of an RPC message without chunks, and where words of a call are in it.
HEADER_OCTETS = 28
RPC_VERSION_AT, PROGRAM_AT, VERSION_AT, PROCEDURE_AT = 8, 12, 16, 20
UNSUPPORTED = 0x7FFFFFFF  # by every client, as a version of RPC, of the program, or as a procedure
ACCEPTED = rpc.ReplyStatus.MSG_ACCEPTED


def _put(octets, at, value):
    at += HEADER_OCTETS
    return octets[:at] + words(value) + octets[at + 4 :]


def _changed(back, at, value, send):
    """The XID of a call, in which one word is another."""
    back.change = lambda octets: _put(bytes(octets), at, value)
    xid = send()
    back.change = None
    return xid


def _status(answer):
    """What RPC says to the call, by name."""
    reply = answer.reply
    if reply is None:
        return "RDMA_ERROR" if answer.sent.is_error else "no reply that decodes"
    if reply.status == ACCEPTED:
        return reply.accept_status.name
    return reply.reject_status.name


def _range(answer):
    """(lowest, highest) version of a refusal."""
    return answer.reply.mismatch.low, answer.reply.mismatch.high


def _refused(bench, requirement_id, at, value, wanted, send=lambda back: back.null()):
    """(Answer, ClientOutcome): one call is refused so, and the callback behind it is executed."""

    def callbacks(back):
        if not (yield from proven(back)):
            return UNPROVEN
        refused = yield _changed(
            back, at, value(back) if callable(value) else value, lambda: send(back)
        )
        return refused, (yield back.call(number=2))

    back, outcome = run_callbacks(bench, callbacks, requirement_id)
    refused, behind = back.result
    what = "what RPC says to the call"
    expect.equal(_status(refused), wanted, requirement_id, what, outcome=outcome)
    what = "status of the callback behind it"
    expect.equal(behind.status(), OK, requirement_id, what, outcome=outcome)
    completes(outcome, requirement_id)
    return refused, outcome


@pytest.mark.parametrize("version", [0, 1, 3, UNSUPPORTED])
@case(
    "client.callback.refused.rpc-version-{version}",
    requirements=[ANOTHER_RPC],
    needs=NEEDS,
    hostile=True,
)
def test_rpc_version(bench, version):
    """A call of another version of RPC is denied, with the range from 2 to 2."""
    answer, outcome = _refused(bench, ANOTHER_RPC, RPC_VERSION_AT, version, "RPC_MISMATCH")
    expect.equal(_range(answer), (2, 2), ANOTHER_RPC, "versions of RPC", outcome=outcome)


@pytest.mark.parametrize("distance", [1, 0x1000])
@case(
    "client.callback.refused.program-plus-{distance}",
    requirements=[NO_PROGRAM],
    needs=NEEDS,
    hostile=True,
)
def test_program(bench, distance):
    """A call to another program than the one that the client has named in CREATE_SESSION is refused."""

    def program(back):
        return (back.asked.csa_cb_program + distance) & 0xFFFFFFFF

    _refused(bench, NO_PROGRAM, PROGRAM_AT, program, "PROG_UNAVAIL")


@pytest.mark.parametrize("version", [0, UNSUPPORTED])
@case(
    "client.callback.refused.version-{version}",
    requirements=[NO_VERSION],
    needs=NEEDS,
    hostile=True,
)
def test_version(bench, version):
    """A call of a version that no client has is refused, with a range that does not hold it."""
    answer, outcome = _refused(bench, NO_VERSION, VERSION_AT, version, "PROG_MISMATCH")
    low, high = _range(answer)
    what = "the range is not empty, and does not hold the refused version"
    outside = low <= high and not low <= version <= high
    expect.true(outside, NO_VERSION, what, outcome=outcome)


@pytest.mark.parametrize("procedure", [2, UNSUPPORTED])
@case(
    "client.callback.refused.procedure-{procedure}",
    requirements=[NO_PROCEDURE],
    needs=NEEDS,
    hostile=True,
)
def test_procedure(bench, procedure):
    """A call to a procedure behind CB_COMPOUND is refused. It moves no slot."""

    def send(back):
        return back.call(number=2)

    _refused(
        bench,
        NO_PROCEDURE,
        PROCEDURE_AT,
        procedure,
        "PROC_UNAVAIL",
        send,
    )
