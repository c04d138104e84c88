"""Each kind of event in each environment: what a client takes alone it has to take with what else is negotiated.

`steertag coverage --pairs` lists the pairs."""

import dataclasses

import pytest

from steertag.suite import case, expect
from steertag.suite.cases.environments import ENVIRONMENTS
from steertag.suite.client.backchannel import Backchannel, OK
from steertag.suite.client.script import has_reply_chunk, is_read, is_write, ReplyInterposer
from ..call_kinds import deny_then_conform
from ..callback_scripts import NEEDS
from ..client_verdicts import completes, stays, survives
from .environment_script import EnvironmentScript, own_options, server_options

SAME = "RFC8166-1-1"
DISCARDED = "RFC8166-4.5-3"
UNKNOWN = "RFC8167-2.4-1"
AGAIN = "RFC8166-4.5.5-1"
TAKEN, RECEIVES = "RFC8881-20.9.3-2", "RFC8167-4.3.1-1"


def conform(reply):
    reply.conform()


def unknown_xid(reply):
    reply.send_mutated("xids.unknown")
    reply.conform()


def sent_twice(reply):
    reply.conform()
    reply.send()


def lost_with_data(reply):
    """The data are placed, and the reply is lost with its connection."""
    reply.push()
    reply.raw.abort()


# What happens, at which reply, and the requirement by which the client completes.
EVENTS = {
    "read": (conform, is_read, SAME),
    "write": (conform, is_write, SAME),
    "long-reply": (conform, has_reply_chunk, SAME),
    "read-behind-bad-version": (deny_then_conform("version.2"), is_read, DISCARDED),
    "write-behind-bad-version": (deny_then_conform("version.2"), is_write, DISCARDED),
    "read-behind-bad-list": (deny_then_conform("write-list.end-presence-2"), is_read, DISCARDED),
    "read-behind-unknown-xid": (unknown_xid, is_read, UNKNOWN),
    "write-behind-unknown-xid": (unknown_xid, is_write, UNKNOWN),
    "read-answered-twice": (sent_twice, is_read, UNKNOWN),
    "read-lost": (lost_with_data, is_read, AGAIN),
    "write-lost": (lost_with_data, is_write, AGAIN),
}


def gave_up_before(script, outcome):
    """Whether a client may have failed at the loss of its first connection, and not at the event: the READ that was
    lost there is not made again."""
    return script.lost is not None and outcome.sends_of(script.lost) == 1


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=str)
@pytest.mark.parametrize("event", EVENTS)
@case(
    "client.combination.{event}.{environment}",
    requirements=[SAME, DISCARDED, UNKNOWN, AGAIN],
    hostile=True,
)
def test_event(bench, event, environment):
    """What the server does otherwise ends no call, and the data are right."""
    interpose, when, requirement_id = EVENTS[event]
    script = EnvironmentScript(environment, ReplyInterposer(interpose, when))
    own = own_options(environment)
    if when is has_reply_chunk:
        own.append("--reply-chunks")
    outcome = bench.use(script, server=server_options(environment), own=own)
    if requirement_id == AGAIN or gave_up_before(script, outcome):
        survives(bench, outcome, requirement_id)
    else:
        completes(outcome, requirement_id)


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=str)
@case("client.combination.callback.{environment}", requirements=[TAKEN, RECEIVES, SAME], needs=NEEDS)
def test_callback(bench, environment):
    """A callback comes while a READ waits for its reply. Both get their answers."""

    def callbacks(back):
        if environment.reconnected:
            yield back.lose()
        return (yield back.call(number=1))

    back = Backchannel(callbacks, is_read)
    script = EnvironmentScript(dataclasses.replace(environment, reconnected=False), back)
    own = own_options(environment)
    outcome = bench.use(script, server=server_options(environment), own=own)
    what = "a receive for each callback"
    expect.true(not (back.lost and outcome.starved()), RECEIVES, what, outcome=outcome)
    stays(back, outcome, TAKEN)
    if back.not_testable_reason:
        bench.not_testable(back.not_testable_reason)
    expect.equal(back.result.status(), OK, TAKEN, "status of CB_COMPOUND", outcome=outcome)
    if environment.reconnected:
        survives(bench, outcome, SAME)
    else:
        completes(outcome, SAME)
