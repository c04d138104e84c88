"""Each kind of event in each environment: what a client takes alone it has to take with what else is negotiated.

`steertag coverage --pairs` lists the pairs."""

import pytest

from steertag import wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.cases.environments import ENVIRONMENTS
from steertag.suite.client.script import (
    ERR_CHUNK,
    ERR_VERS,
    has_reply_chunk,
    is_read,
    is_write,
    NFS,
    operations_of,
    ReplyInterposer,
)
from ..call_kinds import deny_then_conform
from ..client_verdicts import completes, done_otherwise, expect_no_resend, RETRIED, survives
from ..environment_script import (
    EnvironmentScript,
    own_options,
    server_options,
    UsedEnvironment,
)
from ..long_replies import fits_reply_chunk, long_form
from ..short_read import try_later

SAME = "RFC8166-1-1"
LONG, UNUSED = "RFC8166-4.3.3-6", "RFC8166-4.3.3-7"
DISCARDED, UNDECODABLE = "RFC8166-4.5-3", "RFC8166-4.5-9"
UNKNOWN = "RFC8167-2.4-1"
AGAIN = "RFC8166-4.5.5-1"
ENDS, NOT_AGAIN = "RFC8166-4.5-8", "RFC8267-6.4.2-8"
# Procedures of NFSv3.
VERSION_3 = {"READ": 6, "WRITE": 7}
NEVER = "it does not try again what fails for now"


def is_long_call(reply):
    """Its call is in a position-zero chunk."""
    return reply.kind == "reply" and reply.call.proc == wire.Procedure.NOMSG


def asks_for(reply, operation):
    """Whether the call has this operation of NFS, by its name."""
    if reply.kind != "reply":
        return False
    in_compound = (number.name == operation for number, _ in operations_of(reply.rpc_call))
    return reply.procedure == (NFS, 3, VERSION_3[operation]) or any(in_compound)


def is_long_transfer(reply):
    """Likewise, of a READ or a WRITE. Calls before it may wait for their replies too."""
    return is_long_call(reply) and any(asks_for(reply, each) for each in VERSION_3)


def may_fail_for_now(reply):
    """Its call is a READ that may be told to try later."""
    return is_read(reply) and try_later(reply) is not None


def conform(reply):
    reply.conform()


def in_reply_chunk(reply):
    """The reply is in the reply chunk, even if it fits inline."""
    if fits_reply_chunk(reply):
        reply.push()
        reply.send(long_form(reply), invalidate=reply.invalidate)
    else:
        reply.conform()


def leaves_reply_chunk(reply):
    """Its call offers a reply chunk, and the reply is inline."""
    return has_reply_chunk(reply) and len(reply.payload) > 0


def before_conforming(*mutations):
    """A function that sends the reply after these mutations, and then as it should be."""

    def interpose(reply):
        reply.send_mutated(*mutations)
        reply.conform()

    return interpose


def sent_twice(reply):
    reply.conform()
    reply.send()


def lost_with_data(reply):
    """The data are placed, and the reply is lost with its connection."""
    reply.push()
    reply.raw.abort()


def fails_for_now(reply):
    """The READ is to be tried later, and its write chunk comes back unused."""
    reply.send(try_later(reply), invalidate=reply.invalidate)


# What happens, at which reply, and the requirement by which the client completes.
EVENTS = {
    "read": (conform, is_read, SAME),
    "write": (conform, is_write, SAME),
    "long-reply": (in_reply_chunk, has_reply_chunk, LONG),
    "unused-reply-chunk": (conform, leaves_reply_chunk, UNUSED),
    "long-call": (conform, is_long_call, SAME),
    "read-for-now-failed": (fails_for_now, may_fail_for_now, SAME),
    "read-behind-bad-version": (deny_then_conform("version.2"), is_read, DISCARDED),
    "write-behind-bad-version": (deny_then_conform("version.2"), is_write, DISCARDED),
    "long-call-behind-bad-version": (deny_then_conform("version.2"), is_long_call, DISCARDED),
    "read-behind-bad-list": (deny_then_conform("write-list.end-presence-2"), is_read, DISCARDED),
    "read-behind-bad-error": (before_conforming(ERR_CHUNK, "error.code-3"), is_read, UNDECODABLE),
    "read-behind-unknown-error": (before_conforming(ERR_CHUNK, "xids.unknown"), is_read, ENDS),
    "read-behind-unknown-xid": (before_conforming("xids.unknown"), is_read, UNKNOWN),
    "write-behind-unknown-xid": (before_conforming("xids.unknown"), is_write, UNKNOWN),
    "read-answered-twice": (sent_twice, is_read, UNKNOWN),
    "read-lost": (lost_with_data, is_read, AGAIN),
    "write-lost": (lost_with_data, is_write, AGAIN),
    "long-call-lost": (lost_with_data, is_long_call, AGAIN),
}
# Options of our own client, for calls that it does not make by itself.
OWN = {
    has_reply_chunk: "--reply-chunks",
    leaves_reply_chunk: "--reply-chunks",
    is_long_call: "--long-calls",
    is_long_transfer: "--long-calls",
}


def use(bench, environment, interpose, when):
    """(EnvironmentScript, ClientOutcome, UsedEnvironment) of a use in which this replaces the first such reply."""
    script = EnvironmentScript(environment, ReplyInterposer(interpose, when))
    own = own_options(environment) + ([OWN[when]] if when in OWN else [])
    outcome = bench.use(script, server=server_options(environment), own=own)
    return script, outcome, UsedEnvironment(environment, outcome)


def gave_up_before(script, outcome):
    """Whether a client may have failed at the loss of its first connection, and not at the event. Then the READ that
    was lost there is not made again."""
    return script.lost is not None and outcome.sends_of(script.lost) == 1


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=str)
@pytest.mark.parametrize("event", EVENTS)
@case(
    "client.combination.{event}.{environment}",
    requirements=[SAME, LONG, UNUSED, DISCARDED, UNDECODABLE, UNKNOWN, ENDS, AGAIN],
    hostile=True,
)
def test_event(bench, event, environment):
    """What the server does otherwise ends no call, and the data are right."""
    interpose, when, requirement_id = EVENTS[event]
    script, outcome, used = use(bench, environment, interpose, when)
    if requirement_id == AGAIN or gave_up_before(script, outcome):
        survives(bench, outcome, requirement_id)
    elif interpose is fails_for_now and not bench.client.ours:
        latitude = {kinds.REFUSED: NEVER}
        expect(outcome, requirement_id, must=[kinds.COMPLETED], latitude=latitude)
    else:
        completes(outcome, requirement_id)
    used.expect_met()


class InlineTransfers(ReplyInterposer):
    """A short file, whose READs and WRITEs fit inline. It waits for a reply for which `when` holds."""

    def __init__(self, when, transfer):
        super().__init__(conform, when)
        self._transfer = transfer

    def source(self, octets):
        return octets[: TRANSFERS * self._transfer]


def reads_inline(reply):
    return asks_for(reply, "READ") and not reply.call.write_list and len(reply.payload) > 0


def writes_inline(reply):
    return (
        asks_for(reply, "WRITE")
        and reply.call.proc == wire.Procedure.MSG
        and not reply.call.read_list
    )


INLINE = {"inline-read": reads_inline, "inline-write": writes_inline}
# Octets of what is beside the data in a Send, at most; of the largest transfer; and transfers of a file.
BESIDE, LARGEST, TRANSFERS = 512, 32768, 3


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=str)
@pytest.mark.parametrize("event", INLINE)
@case("client.combination.{event}.{environment}", requirements=[SAME])
def test_inline(bench, event, environment):
    """Data go inline, in Sends of nearly the threshold's length where that is below 32 KiB. The copy is right."""
    transfer = min(environment.inline - BESIDE, LARGEST)
    inner = InlineTransfers(INLINE[event], transfer)
    script = EnvironmentScript(environment, inner, loses_at=reads_inline)
    options = {**server_options(environment), "transfer_bytes": transfer}
    own = own_options(environment, chunks=False)
    outcome = bench.use(script, server=options, own=own)
    used = UsedEnvironment(environment, outcome)
    if environment.reconnected:
        survives(bench, outcome, SAME)
    else:
        completes(outcome, SAME)
    used.expect_met()


# Mutations that make an error of a reply, and at which reply.
ERRORS = {
    "read-refused": ([ERR_CHUNK], is_read),
    "write-refused": ([ERR_CHUNK], is_write),
    "long-call-refused": ([ERR_CHUNK], is_long_transfer),
    "read-of-other-versions": ([ERR_VERS, "error.versions-2-3"], is_read),
}


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=str)
@pytest.mark.parametrize("error", ERRORS)
@case(
    "client.combination.{error}.{environment}",
    requirements=[ENDS, NOT_AGAIN],
    hostile=True,
)
def test_error(bench, error, environment):
    """RDMA_ERROR in place of a reply ends the call: the client reports it, and does not send the XID again on that
    connection."""
    mutations, when = ERRORS[error]
    refused = []

    def interpose(reply):
        refused.append(reply.xid)
        reply.send_mutated(*mutations)

    script, outcome, used = use(bench, environment, interpose, when)
    expect(outcome, ENDS, must=[kinds.REFUSED], latitude=done_otherwise(RETRIED))
    before = 2 if refused[0] == script.lost else 1
    expect_no_resend(bench, outcome, refused[0], mutations[0], before)
    used.expect_met()
