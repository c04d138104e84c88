"""The connection of a session's backchannel, and slots that the server takes back.

RFC 8881 2.10, 18.34, 20.8.
"""

import pytest

from steertag import nfs
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.backchannel import Backchannel, OK
from steertag.suite.client.client_connection import sent_from
from steertag.suite.client.script import is_read, operations_of, sequence_of
from steertag.suite.client.session_watch import conform_but, SessionWatch
from ..call_kinds import CALL_KINDS
from ..client_verdicts import stays, survives

NFS4 = nfs.nfs4
DOWN = "RFC8881-2.10.6.2-6"
KEPT, MAINTAINED = "RFC8881-2.10.11.2-1", "RFC8167-5.4-2"
BOUND, ALONE = "RFC8881-2.10.13.1.2-2", "RFC8881-18.34.3-1"
RECALL = "RFC8881-20.8.3-1"
FAULT = "RFC8881-18.46.3-6"
NEEDS = ["client-nfs4.1", "client-backchannel"]
NEW_SESSION = "it goes on in another session"
# Of the SEQUENCEs that say so, the first: before, the client may still be making its session.
FIRST_TOLD = 3


def judge_bind(step, outcome):
    """BIND_CONN_TO_SESSION as it was sent."""
    what = "operations of the COMPOUND with BIND_CONN_TO_SESSION"
    expect.equal(step.names, ("BIND_CONN_TO_SESSION",), ALONE, what, outcome=outcome)


class PathDown(SessionWatch):
    """Says in SEQUENCE that it cannot reach the client, until that binds a connection or destroys the
    session. One reply waits until the client has nothing more to say, which gives it time to do so.
    """

    def __init__(self, flag):
        super().__init__()
        self._flag = flag
        self.session = None  # of the SEQUENCEs that said so
        self.at = 0  # steps before the first of them
        self._heeded = False
        self._sequences = 0
        self._held = None
        self._was_held = False

    @property
    def waits(self):
        return self.session is None

    def on_departure(self, reply):
        if reply.kind == "callback":
            return False
        step = self.note(reply)
        if step is None or self._heeded:
            return False
        if "SEQUENCE" not in step or "DESTROY_SESSION" in step:
            told = self.session is not None and step.session == self.session
            self._heeded = told and (step.asks_for_callbacks or "DESTROY_SESSION" in step)
            return False
        self._sequences += 1
        if self._sequences < FIRST_TOLD:
            return False
        if self.session is None:
            self.session, self.at = step.session, len(self.steps)
        if is_read(reply) and not self._was_held:
            self._held, self._was_held = reply, True
        else:
            conform_but(reply, flags=self._flag)
        return True

    def on_quiet(self):
        held, self._held = self._held, None
        if held is not None and held.raw.up:
            conform_but(held, flags=self._flag)


FLAGS = {
    "path-down": NFS4.SEQ4_STATUS_CB_PATH_DOWN,
    "session-path-down": NFS4.SEQ4_STATUS_CB_PATH_DOWN_SESSION,
}


@pytest.mark.parametrize("flag", FLAGS)
@case("client.backchannel.{flag}", requirements=[DOWN, ALONE], needs=NEEDS)
def test_path_down(bench, flag):
    """The server says in SEQUENCE that it cannot reach the client. The client binds a connection to
    the backchannel by a COMPOUND of its own, or goes on in another session."""
    script = PathDown(FLAGS[flag])
    outcome = bench.use(script)
    binds = script.binds(script.session)
    if binds:
        judge_bind(binds[0], outcome)
    elif script.has_left(script.session):
        bench.latitude(DOWN, NEW_SESSION)
    else:
        what = "the client binds a connection to the backchannel, or destroys the session"
        expect.true(False, DOWN, what, outcome=outcome)
    expect(outcome, DOWN, must=kinds.DONE)  # a connection that it binds may be another


class Fault(SessionWatch):
    """Says in SEQUENCE that the backchannel of the session is beyond repair, until that is destroyed."""

    def __init__(self):
        super().__init__()
        self.session = None  # of the SEQUENCEs that said so
        self.destroyed = False
        self._sequences = 0

    @property
    def waits(self):
        return self.session is None

    def on_departure(self, reply):
        step = self.note(reply) if reply.kind == "reply" else None
        if step is None:
            return False
        if "DESTROY_SESSION" in step:
            mine = bytes(step["DESTROY_SESSION"].dsa_sessionid) == self.session
            self.destroyed = self.destroyed or mine
            return False
        self._sequences += "SEQUENCE" in step
        if "SEQUENCE" not in step or self._sequences < FIRST_TOLD:
            return False
        self.session = self.session or step.session
        if step.session != self.session:
            return False
        conform_but(reply, flags=NFS4.SEQ4_STATUS_BACKCHANNEL_FAULT)
        return True


@case("client.backchannel.fault", requirements=[FAULT], needs=NEEDS)
def test_fault(bench):
    """The server says in SEQUENCE that the backchannel has a fault beyond recovery. The client
    destroys the session and goes on in another one. The server cannot know which requests were in
    flight before the client saw that."""
    script = Fault()
    outcome = bench.use(script)
    left = script.has_left(script.session) or outcome.kind == kinds.REFUSED
    what = "the client ends a session whose backchannel has a fault, before it is done"
    expect.true(left, FAULT, what, outcome=outcome)
    expect.true(script.destroyed, FAULT, "it destroys that session", outcome=outcome)
    latitude = {kinds.REFUSED: "it tells its user"}
    expect(outcome, FAULT, must=kinds.DONE, latitude=latitude)


class Lost(SessionWatch):
    """Ends the connection in place of one reply."""

    def __init__(self, when):
        super().__init__()
        self._when = when
        self.conn = None
        self.session = None

    @property
    def waits(self):
        return self.conn is None

    def on_departure(self, reply):
        if reply.kind == "callback":
            return False
        self.note(reply)
        if self.conn is not None or reply.sequence is None or not self._when(reply):
            return False
        self.conn, self.session = reply.conn, reply.sequence.session
        reply.raw.abort()
        return True


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case("client.backchannel.bound-after-loss.{call_kind}", requirements=[BOUND, ALONE], needs=NEEDS)
def test_bound_after_loss(bench, call_kind):
    """The only connection ends. A client that keeps its session binds the next connection to the
    backchannel, by a COMPOUND of its own. SEQUENCE alone restores only the fore channel, as the
    server says."""
    script = Lost(CALL_KINDS[call_kind])
    outcome = bench.use(script)
    later = [step for step in script.steps if step.conn is not script.conn]
    binds = [step for step in later if step in script.binds(script.session)]
    if binds:
        judge_bind(binds[0], outcome)
    elif script.has_left(script.session):
        bench.latitude(BOUND, NEW_SESSION)
    elif any(step.session == script.session for step in later):
        what = "the connection is bound to the backchannel of the session that goes on"
        expect.true(False, BOUND, what, outcome=outcome)
    survives(bench, outcome, BOUND)


class Kept(SessionWatch):
    """Notes which connections of a backchannel have ended while their sessions went on."""

    def __init__(self):
        super().__init__()
        self._conns = {}  # session: connections of its backchannel that are up
        self._ended = set()  # sessions that have none left
        self.missed = []  # (session, connection): requests of these
        self._held = None
        self._was_held = False

    @property
    def waits(self):
        return not self._conns

    def on_departure(self, reply):
        if reply.kind == "callback":
            return False
        step = self.note(reply)
        if step is not None and step.asks_for_callbacks and step.session is not None:
            self._conns.setdefault(step.session, set()).add(step.conn.number)
        if is_read(reply) and not self._was_held:
            self._held, self._was_held = reply, True
            return True
        return False

    def on_quiet(self):
        held, self._held = self._held, None
        if held is not None:
            held.conform_late()

    def on_down(self, conn, reason):
        for session, conns in self._conns.items():
            if conn.number in conns:
                conns.remove(conn.number)
                self._ended |= set() if conns else {session}

    def on_arrival(self, conn, message):
        sequence = sequence_of(sent_from(message).payload)
        if sequence is not None and sequence.session in self._ended:
            self.missed.append((sequence.session, conn))
            self._ended.remove(sequence.session)
        return False


@case("client.backchannel.kept", requirements=[KEPT, MAINTAINED], needs=NEEDS)
def test_kept(bench):
    """The client is idle between its calls, once until the server counts it as quiet. The
    connection of the backchannel stays up while the session is in use."""
    script = Kept()
    outcome = bench.use(script)
    what = "times that a session went on without the last connection of its backchannel"
    expect.equal(len(script.missed), 0, KEPT, what, outcome=outcome)
    expect.equal(len(script.missed), 0, MAINTAINED, what, outcome=outcome)
    expect(outcome, KEPT, must=[kinds.COMPLETED])


def is_open(reply):
    """It answers an OPEN, behind which a client reads or writes in many slots."""
    return any(number.name == "OPEN" for number, _ in operations_of(reply.rpc_call))


class Recalled(Backchannel):
    """Takes slots back, and says the same in each SEQUENCE from then on."""

    def __init__(self, target):
        super().__init__(self._recall, is_open)
        self.target = target
        self.later = []  # Sequence of each request of a client that has read one of these SEQUENCEs
        self._told = set()  # slots of the requests whose replies have these

    def _recall(self, _):
        arguments = NFS4.CbRecallSlotArgs(rsa_target_highest_slotid=self.target(self.slots))
        return (yield self.call(("CB_RECALL_SLOT", arguments), number=1))

    @property
    def slots(self):
        """As many as the session has."""
        return self.granted.csr_fore_chan_attrs.ca_maxrequests

    @property
    def highest(self):
        """The highest slot that the client is to use."""
        return min(self.target(self.slots), self.slots - 1)

    def post(self, reply):
        if not self.not_testable_reason and self.result is not None:
            conform_but(reply, target=self.highest)
            self._told |= {reply.sequence.slot} if reply.sequence is not None else set()
            return True
        return False

    def on_arrival(self, conn, message):
        if super().on_arrival(conn, message):
            return True
        sequence = sequence_of(sent_from(message).payload)
        if sequence is not None and sequence.session == self.session:
            # Who uses a slot again has read the reply to its last request.
            if self.later or sequence.slot in self._told:
                self.later.append(sequence)
        return False


TARGETS = {"zero": lambda slots: 0, "one": lambda slots: 1, "above": lambda slots: slots + 8}


@pytest.mark.parametrize("target", TARGETS)
@case("client.backchannel.recall-slot.{target}", requirements=[RECALL], needs=NEEDS)
def test_recall_slot(bench, target):
    """CB_RECALL_SLOT comes before the reply to an OPEN, while the client has little else in flight.
    That reply states the same target. Once the client has read it, slots and sa_highest_slotid of
    its requests stay within the target. A target above the session's slots changes nothing."""
    script = Recalled(TARGETS[target])
    outcome = bench.use(script)
    stays(script, outcome, RECALL)
    if script.not_testable_reason:
        bench.not_testable(script.not_testable_reason)
    if script.result.status() != OK:
        bench.not_testable("the client does not take the callback")
    allowed = [OK] + (["NFS4ERR_BAD_HIGH_SLOT"] if target == "above" else [])
    status = script.result.status("CB_RECALL_SLOT")
    expect.one_of(status, allowed, RECALL, "status of CB_RECALL_SLOT", outcome=outcome)
    if not script.later:
        bench.not_testable("the client makes no request behind the callback")
    above = [each for each in script.later if max(each.slot, each.highest) > script.highest]
    what = "requests above the highest slot that the server wants"
    expect.equal(len(above), 0, RECALL, what, outcome=outcome)
    expect(outcome, RECALL, must=[kinds.COMPLETED])
