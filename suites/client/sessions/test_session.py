"""Sessions of NFS version 4.1: a client's slots over late replies and lost connections.

RFC 8881 2.10.6.
"""

import pytest

from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.client_connection import sent_from
from steertag.suite.client.script import Script, sequence_of
from steertag.suite.client.session_watch import SessionWatch
from ..call_kinds import CALL_KINDS
from ..client_verdicts import survives

SIZES, DEPTH = "RFC8881-18.36.3-9", "RFC8881-18.36.3-7"


def _requests(outcome):
    """[(connection, Sequence)] of all requests whose SEQUENCE is in the Send, in order."""
    found = [(conn, sequence_of(sent.payload)) for conn, sent in outcome.calls]
    return [(conn, sequence) for conn, sequence in found if sequence is not None]


@pytest.mark.parametrize("granted", [1, 32])
@case(
    "client.session.sequence-ids-with-{granted}-credits",
    requirements=["RFC8881-2.10.6.1-1"],
    needs=["client-nfs4.1"],
)
def test_sequence_ids(bench, granted):
    """The first request of each slot has the sequence id 1, and each later one the next."""
    slots = {}  # {(session, slot): its sequence ids in order}, each retry once

    def note(reply):
        sequence = reply.sequence
        if sequence is not None:
            numbers = slots.setdefault((sequence.session, sequence.slot), [])
            numbers += [sequence.number] if numbers[-1:] != [sequence.number] else []
        reply.conform()

    outcome = bench.use(reply=note, times=None, server={"credits": granted})
    expect(outcome, "RFC8881-2.10.6.1-1", must=[kinds.COMPLETED])
    expect.true(bool(slots), "RFC8881-2.10.6.1-1", "requests have a slot", outcome=outcome)
    what = "the sequence ids of a slot begin with 1 and grow by one"
    for numbers in slots.values():
        count_up = numbers == list(range(1, len(numbers) + 1))
        expect.true(count_up, "RFC8881-2.10.6.1-1", what, outcome=outcome)


class Held(Script):
    """Keeps one reply back until the client has nothing more to say, and counts what it says meanwhile."""

    def __init__(self, when):
        self._when = when
        self._held = None
        self.waits = True
        self.meanwhile = []  # Sequence of each request that came while the reply was held
        self.sequence = None  # of the request whose reply is held
        self.up = False  # the connection when the reply was sent

    def on_arrival(self, conn, message):
        if self._held is not None:
            sequence = sequence_of(sent_from(message).payload)
            if sequence is not None:
                self.meanwhile.append(sequence)
        return False

    def on_departure(self, reply):
        if not self.waits or reply.kind == "callback" or reply.sequence is None:
            return False
        if not self._when(reply):
            return False
        self.waits = False
        self.sequence, self._held = reply.sequence, reply
        return True

    def on_down(self, conn, reason):
        if self._held is not None and self._held.conn is conn:
            self._held = None  # what is made again now is so on another connection

    def on_quiet(self):
        held, self._held = self._held, None
        if held is not None and held.raw.up:
            self.up = True
            held.conform()


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case(
    "client.session.waits-for-reply.{call_kind}",
    requirements=["RFC8881-2.10.6.2-2", "RFC8881-2.9.2-8", "RFC8881-2.9.2-2"],
    needs=["client-nfs4.1"],
)
def test_waits(bench, call_kind):
    """A reply comes late. Until then the client does not use its slot, neither for another request
    nor for a retry. It takes the reply when it comes."""
    script = Held(CALL_KINDS[call_kind])
    outcome = bench.use(script)
    own = [each for each in script.meanwhile if each.same_slot(script.sequence)]
    again = [each for each in own if each.number == script.sequence.number]
    what = "times that the request was made again on a connection that lives"
    expect.equal(len(again), 0, "RFC8881-2.9.2-2", what, outcome=outcome)
    what = "requests in a slot whose reply is due"
    expect.equal(len(own), 0, "RFC8881-2.10.6.2-2", what, outcome=outcome)
    what = "the client keeps its connection until it is quiet, and the reply comes"
    expect.true(script.up, "RFC8881-2.9.2-8", what, outcome=outcome)
    expect(outcome, "RFC8881-2.9.2-8", must=[kinds.COMPLETED])


class Lost(Script):
    """Ends the connection in place of one reply."""

    def __init__(self, when):
        self._when = when
        self.lost = None
        self.answered = set()  # requests whose replies left before

    @property
    def waits(self):
        return self.lost is None

    def on_departure(self, reply):
        if self.lost is not None or reply.kind == "callback" or reply.sequence is None:
            return False
        if not self._when(reply):
            self.answered.add(reply.sequence)
            return False
        self.lost = reply
        reply.raw.abort()
        return True


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case(
    "client.session.retries-after-loss.{call_kind}",
    requirements=["RFC8881-2.10.13.1.2-1", "RFC8881-2.10.6.2-1"],
    needs=["client-nfs4.1"],
)
def test_retries(bench, call_kind):
    """A connection ends with requests in flight. A retry goes over another connection. A client
    that keeps the session retries all of them, with slot and sequence id."""
    script = Lost(CALL_KINDS[call_kind])
    outcome = bench.use(script)
    conn, session = script.lost.conn, script.lost.sequence.session
    requests = _requests(outcome)
    first = [each for one, each in requests if one is conn]
    twice = len(first) - len(set(first))
    what = "requests that were made again on the connection that was lost"
    expect.equal(twice, 0, "RFC8881-2.10.6.2-1", what, outcome=outcome)
    later = {each for one, each in requests if one is not conn and each.session == session}
    if later:
        made = set(first) - script.answered <= later
        what = "each request without a reply is made again"
        expect.true(made, "RFC8881-2.10.13.1.2-1", what, outcome=outcome)
    else:
        bench.latitude("RFC8881-2.10.13.1.2-1", "it leaves the session with the connection")
    survives(bench, outcome, "RFC8881-2.10.13.1.2-1")


class Sizes(SessionWatch):
    """Notes how long the longest request is, items in chunks included."""

    def __init__(self):
        super().__init__()
        self.longest = 0

    def on_departure(self, reply):
        if reply.sequence is not None:
            self.longest = max(self.longest, len(reply.rpc_call))
        self.note(reply)
        return False


@case(
    "client.session.sizes",
    requirements=[SIZES, DEPTH],
    needs=["client-nfs4.1"],
    unfailed={
        "client.session.sizes": "The server's first session has more room than a request of ours takes."
    },
)
def test_sizes(bench):
    """CREATE_SESSION decodes, so that it has one depth of RDMA Reads or none. Requests are within
    the size that the session has, counted as XDR, whatever carries their octets."""
    script = Sizes()
    outcome = bench.use(script)
    steps = [step.made for step in script.steps if step.made is not None]
    expect.true(bool(steps), DEPTH, "CREATE_SESSION decodes", outcome=outcome)
    most = max(made.csr_fore_chan_attrs.ca_maxrequestsize for made in steps)
    expect.at_most(script.longest, most, SIZES, "octets of a request", outcome)
    expect(outcome, SIZES, must=[kinds.COMPLETED])
