"""Each kind of callback in each environment, while a READ of the client waits for its reply.

`steertag coverage --pairs` lists the pairs."""

import dataclasses

import pytest

from steertag import mutate, wire
from steertag.suite import case, expect
from steertag.suite.cases.environments import ENVIRONMENTS
from steertag.suite.client.backchannel import Backchannel, OK
from steertag.suite.client.script import is_read, reverse_call
from ..callback_scripts import judge_retry, MISORDERED, NEEDS, recall_nothing
from ..client_verdicts import completes, STARVES, stays, survives
from ..environment_script import (
    EnvironmentScript,
    own_options,
    server_options,
    UsedEnvironment,
)

SAME = "RFC8166-1-1"
TAKEN, RECEIVES = "RFC8881-20.9.3-2", "RFC8167-4.3.1-1"
UNDIRECTED, UNKNOWN, CHUNKS = "RFC8167-4.1-5", "RFC8167-2.4-1", "RFC8167-5.3-3"
# Of messages that are no callbacks: those have the XIDs behind Backchannel's first.
STRANGE_XID = 0x5EEDC0DE
GOES_BY_CHUNKS = "it goes by the chunks of the server's call, whose memory is not there"
REFUSED = "RDMA_ERROR"


def alone(back):
    return [(yield back.call(number=1))]


def with_error(back):
    """The second is out of its order, and the third follows the first."""
    first = yield back.call(number=1)
    wrong = yield back.call(recall_nothing(), number=5)
    return [first, wrong, (yield back.call(number=2))]


def retried(back):
    first = yield back.call(recall_nothing(), number=1)
    again = yield back.call(recall_nothing(), number=1)
    return [first, again, (yield back.call(number=2))]


def behind_malformed(back):
    """Behind a call that is cut in its RPC header."""
    cut = mutate.mutated(reverse_call(STRANGE_XID), "payload.octets-20")
    back.conn.raw.send(wire.encode(cut))
    return [(yield back.call(number=1))]


def behind_reply(back):
    """Behind a reply with the XID that it has itself: that is one of the server's calls, and of none of the
    client's."""
    xid = back.call(number=1)
    body = xid.to_bytes(4, "big") + (1).to_bytes(4, "big") + bytes(16)
    back.conn.raw.send(wire.encode(wire.Draft(xid=xid, credit=1, payload=body)))
    return [(yield xid)]


def behind_chunks(back):
    """Behind a call with a position-zero chunk, which the client refuses."""
    return (yield [back.long_null(), back.call(number=1)])


# What the server does, the statuses of the answers, and the requirement.
LEGAL = {
    "callback": (alone, [OK], TAKEN),
    "callback-retried": (retried, [OK, OK, OK], TAKEN),
}
FAULTS = {
    "callback-misordered": (with_error, [OK, MISORDERED, OK], TAKEN),
    "callback-behind-malformed": (behind_malformed, [OK], UNDIRECTED),
    "callback-and-its-reply": (behind_reply, [OK], UNKNOWN),
    "callback-behind-chunks": (behind_chunks, [REFUSED, OK], CHUNKS),
}
# Those with a message that is no callback, for which a client need have no receive.
BESIDE = (behind_malformed, behind_reply, behind_chunks)


def judge(bench, environment, make, statuses, requirement_id):
    """Runs the client while the server calls it, and judges the answers and what came of the READ."""

    def callbacks(back):
        if environment.reconnected:
            yield back.lose()
        return (yield from make(back))

    back = Backchannel(callbacks, is_read)
    script = EnvironmentScript(dataclasses.replace(environment, reconnected=False), back)
    own = own_options(environment)
    outcome = bench.use(script, server=server_options(environment), own=own)
    used = UsedEnvironment(environment, outcome)
    if back.lost and make in BESIDE and outcome.may_have_starved():
        bench.latitude(requirement_id, STARVES)
        return
    if back.lost and make is behind_chunks and outcome.asked_too_much():
        bench.latitude(requirement_id, GOES_BY_CHUNKS)
        return
    what = "a receive for each callback"
    expect.true(not (back.lost and outcome.starved()), RECEIVES, what, outcome=outcome)
    stays(back, outcome, requirement_id)
    if back.not_testable_reason:
        bench.not_testable(back.not_testable_reason)
    found = [answer.status() for answer in back.result]
    expect.equal(found, statuses, requirement_id, "statuses of the callbacks", outcome=outcome)
    if make is retried:
        judge_retry(bench, *back.result[:2], False, outcome)
    if environment.reconnected:
        survives(bench, outcome, SAME)
    else:
        completes(outcome, SAME)
    used.expect_met()


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=str)
@pytest.mark.parametrize("name", LEGAL)
@case("client.combination.{name}.{environment}", requirements=[TAKEN, RECEIVES, SAME], needs=NEEDS)
def test_legal(bench, name, environment):
    """Callbacks come while a READ waits for its reply. All get their answers."""
    judge(bench, environment, *LEGAL[name])


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=str)
@pytest.mark.parametrize("name", FAULTS)
@case(
    "client.combination.{name}.{environment}",
    requirements=[TAKEN, RECEIVES, UNDIRECTED, UNKNOWN, CHUNKS, SAME],
    needs=NEEDS,
    hostile=True,
)
def test_fault(bench, name, environment):
    """The same with a callback out of its order, or beside a message that is none."""
    judge(bench, environment, *FAULTS[name])
