"""A client's session from the first request to the last (RFC 8881 2.10, 18.36, 18.37).

The position of SEQUENCE, the slots in use, and how the client makes and destroys a session.
"""

import pytest

from steertag import nfs
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.client_connection import sent_from
from steertag.suite.client.script import is_read, operations_of, Script, sequence_of
from steertag.suite.client.session_watch import conform_but, SessionWatch
from ..client_verdicts import GIVES_UP

NFS4 = nfs.nfs4
PLACE = "RFC8881-2.10.2.1-2"
GRANTED, HIGHEST = "RFC8881-2.10.6.1-6", "RFC8881-2.10.6.1-7"
HANDLE, HANDLE_NEXT = "RFC8881-2.10.6.4-4", "RFC8881-2.10.6.4-5"
SECURITY, NUMBERED = "RFC8881-2.10.11.3-1", "RFC8881-18.36.4-3"
LAST, ASSOCIATED = "RFC8881-18.37.3-1", "RFC8881-18.37.3-2"
NEEDS = ["client-nfs4.1"]
# RFC 8881 18.46.3, 18.50: what may stand first without SEQUENCE.
OUTSIDE = {
    "BIND_CONN_TO_SESSION",
    "EXCHANGE_ID",
    "CREATE_SESSION",
    "DESTROY_SESSION",
    "DESTROY_CLIENTID",
}
# As many as are granted where the client asks for more.
FEW_SLOTS = 2
# RFC 8881 18.16: claims by which OPEN finds its file under a name, and makes it the current filehandle.
BY_NAME = {"CLAIM_NULL", "CLAIM_DELEGATE_CUR", "CLAIM_DELEGATE_PREV"}


@case("client.session.sequence-first", requirements=[PLACE], needs=NEEDS)
def test_sequence_first(bench):
    """Each COMPOUND has SEQUENCE in the first place and nowhere else, or begins with an operation that needs
    no session."""
    script = SessionWatch()
    outcome = bench.use(script)
    wrong = 0
    for step in script.steps:
        first = step.names[0]
        again = "SEQUENCE" in step.names[1:]
        wrong += again or first != "SEQUENCE" and first not in OUTSIDE
    what = "COMPOUNDs with SEQUENCE in the wrong place, or without it"
    expect.equal(wrong, 0, PLACE, what, outcome=outcome)
    expect(outcome, PLACE, must=[kinds.COMPLETED])


class FewSlots(SessionWatch):
    """Grants fewer slots than the client asks for, and no more in any SEQUENCE: what that says later would
    count (RFC 8881 18.46.3)."""

    def __init__(self):
        super().__init__()
        self.granted = {}  # session: slots

    @property
    def waits(self):
        return not self.granted

    def on_departure(self, reply):
        return self.grant(reply) or self.post(reply)

    def grant(self, reply):
        """Posts the reply with which a session is made, and that grants too much; whether it is one."""
        step = self.note(reply) if reply.kind == "reply" else None
        if (
            step is None
            or not step.made
            or step.made.csr_fore_chan_attrs.ca_maxrequests <= FEW_SLOTS
        ):
            return False
        attrs = step.made.csr_fore_chan_attrs
        octets = bytes(attrs.encode())
        attrs.ca_maxrequests = FEW_SLOTS
        draft = reply.draft()
        changed = bytes(draft.payload).replace(octets, bytes(attrs.encode()), 1)
        if changed == bytes(draft.payload):
            return False  # it is in a reply chunk
        draft.payload = changed
        self.granted[step.session] = FEW_SLOTS
        reply.push()
        reply.send(draft, invalidate=reply.invalidate)
        return True

    def post(self, reply):
        """Posts a reply to a request in a session of few slots; whether it is one."""
        request = reply.sequence if reply.kind == "reply" else None
        if request is None or request.session not in self.granted:
            return False
        highest = self.granted[request.session] - 1
        conform_but(reply, target=highest, highest=highest)
        return True


@case("client.session.few-slots", requirements=[GRANTED], needs=NEEDS)
def test_few_slots(bench):
    """The server grants two slots to a client that asks for more: it uses no other."""
    script = FewSlots()
    outcome = bench.use(script)
    requests = [sequence_of(sent.payload) for _, sent in outcome.calls]
    above = [
        each
        for each in requests
        if each is not None and each.slot >= script.granted.get(each.session, each.slot + 1)
    ]
    what = "requests in slots that were not granted"
    expect.equal(len(above), 0, GRANTED, what, outcome=outcome)
    expect(outcome, GRANTED, must=[kinds.COMPLETED])


class UnderWay(FewSlots):
    """Compares the highest slot of each request with the slots that were certainly in use when it
    was formed.

    These are its own, and each whose request had come before the last reply in its own slot left.
    The reply to one READ waits until the client is quiet. Its slot is above others. They are few,
    so that the client uses them again meanwhile.
    """

    def __init__(self):
        super().__init__()
        self._held = None
        self._held_one = False
        self._came = {}  # (connection, session): {slot: number of the request that has no reply}
        self._left = {}  # the same: {slot: how many requests had come when its last reply left}
        self._count = 0
        self._seen = set()
        self.understated = 0

    @property
    def waits(self):
        return not self._held_one

    def on_arrival(self, conn, message):
        request = sequence_of(sent_from(message).payload)
        if request is None or request in self._seen:
            return False  # made again after a loss: as it was formed then
        self._seen.add(request)
        self._count += 1
        channel = (conn.number, request.session)
        came = self._came.setdefault(channel, {})
        known = self._left.get(channel, {}).get(request.slot, 0)
        outstanding = [slot for slot, number in came.items() if number <= known]
        self.understated += request.highest < max([request.slot, *outstanding])
        came[request.slot] = self._count
        return False

    def on_departure(self, reply):
        if self.grant(reply):
            return True
        request = reply.sequence if reply.kind == "reply" else None
        if request is None:
            return False
        if not self._held_one and is_read(reply) and request.slot > 0:
            self._held_one, self._held = True, reply
            return True
        self._leaves(reply)
        return self.post(reply)

    def _leaves(self, reply):
        channel = (reply.conn.number, reply.sequence.session)
        self._came.get(channel, {}).pop(reply.sequence.slot, None)
        self._left.setdefault(channel, {})[reply.sequence.slot] = self._count

    def on_quiet(self):
        held, self._held = self._held, None
        if held is not None:
            self._leaves(held)
            if held.raw.up and not self.post(held):
                held.conform()


@case("client.session.highest-slot", requirements=[HIGHEST], needs=[*NEEDS, "client-pipelining"])
def test_highest_slot(bench):
    """sa_highest_slotid of each request is no lower than its own slot. It is also no lower than
    that of every request in flight, one of them for long."""
    script = UnderWay()
    outcome = bench.use(script)
    what = "requests that name too low a highest slot"
    expect.equal(script.understated, 0, HIGHEST, what, outcome=outcome)
    expect(outcome, HIGHEST, must=[kinds.COMPLETED])


def makes_current(number, arguments):
    """Whether the operation is not idempotent and leaves another current filehandle."""
    if number.name == "OPEN":
        return arguments.claim.claim.name in BY_NAME
    return number.name == "CREATE"


@case("client.session.getfh", requirements=[HANDLE, HANDLE_NEXT], needs=NEEDS)
def test_getfh(bench):
    """OPEN or CREATE makes the file that is written, and GETFH follows it at once. If the reply
    becomes too large behind that, the client still has the filehandle."""
    script = SessionWatch()
    outcome = bench.use(script)
    behind = [
        step.names[at + 1 :]
        for step in script.steps
        for at, (number, arguments) in enumerate(step.operations)
        if makes_current(number, arguments)
    ]
    if not behind:
        bench.not_testable("the client opens and makes no file by its name")
    missing = sum("GETFH" not in names for names in behind)
    expect.equal(missing, 0, HANDLE, "OPENs and CREATEs without GETFH", outcome=outcome)
    late = sum(names[0] != "GETFH" for names in behind)
    expect.equal(late, 0, HANDLE_NEXT, "OPENs and CREATEs with GETFH not next", outcome=outcome)
    expect(outcome, HANDLE, must=[kinds.COMPLETED])


@case("client.session.callback-security", requirements=[SECURITY], needs=NEEDS)
def test_callback_security(bench):
    """A client that asks for a backchannel says under which security it takes callbacks."""
    script = SessionWatch()
    outcome = bench.use(script)
    asked = [step for step in script.steps if step.asks_for_callbacks and step.session is not None]
    if not asked:
        bench.not_testable("the client asks for no backchannel")
    told = {
        step.session
        for step in script.steps
        if "BACKCHANNEL_CTL" in step or "CREATE_SESSION" in step and _security_of(step)
    }
    untold = {step.session for step in asked} - told
    what = "sessions with a backchannel and no security for it"
    expect.equal(len(untold), 0, SECURITY, what, outcome=outcome)
    expect(outcome, SECURITY, must=[kinds.COMPLETED])


def _security_of(step):
    return len(step["CREATE_SESSION"].csa_sec_parms) > 0


# -- making a session ------------------------------------------------------------------------------


class CreateLost(SessionWatch):
    """Ends the connection in place of the first reply to CREATE_SESSION."""

    def __init__(self):
        super().__init__()
        self.lost = None  # nfs4.CreateSessionArgs of that call
        self._known_anew = False
        self.retry = None  # of its retry

    @property
    def waits(self):
        return self.lost is None

    def on_departure(self, reply):
        step = self.note(reply) if reply.kind == "reply" else None
        if step is None or self.retry is not None or self._known_anew:
            return False
        if self.lost is not None:
            self._known_anew = "EXCHANGE_ID" in step
            self.retry = step["CREATE_SESSION"] if "CREATE_SESSION" in step else None
            return False
        if not step.made:
            return False
        self.lost = step["CREATE_SESSION"]
        reply.raw.abort()
        return True


@case("client.session.create-retried", requirements=[NUMBERED], needs=NEEDS)
def test_create_retried(bench):
    """The connection ends in place of the reply to CREATE_SESSION. A retry has the same
    csa_sequence, so that it makes no second session. The client may also begin with EXCHANGE_ID."""
    script = CreateLost()
    outcome = bench.use(script)
    if script.retry is None:
        bench.latitude(NUMBERED, "it makes no such call again before EXCHANGE_ID")
    elif script.retry.csa_clientid == script.lost.csa_clientid:
        more = (script.retry.csa_sequence - script.lost.csa_sequence) & 0xFFFFFFFF
        what = "csa_sequence of the retry less that of the call"
        expect.equal(more, 0, NUMBERED, what, outcome=outcome)
    expect(outcome, NUMBERED, must=[kinds.COMPLETED], latitude={kinds.REFUSED: GIVES_UP})


# -- ending one ------------------------------------------------------------------------------------


class Ends(Script):
    """Keeps every COMPOUND as it comes; ends the connection of the first DESTROY_SESSION if `loses`."""

    def __init__(self, loses=False):
        self._loses = loses
        self.destroyed = []  # (operations' names, whether the connection belongs to the session)
        self._members = set()  # (connection, session)

    @property
    def waits(self):
        return not self.destroyed

    def on_arrival(self, conn, message):
        operations = operations_of(sent_from(message).payload)
        for number, arguments in operations:
            if number.name in ("SEQUENCE", "BIND_CONN_TO_SESSION"):
                field = "sa_sessionid" if number.name == "SEQUENCE" else "bctsa_sessid"
                self._members.add((conn.number, bytes(getattr(arguments, field))))
            if number.name == "DESTROY_SESSION":
                return self._note(conn, operations, bytes(arguments.dsa_sessionid))
        return False

    def _note(self, conn, operations, session):
        names = tuple(number.name for number, _ in operations)
        own = names[0] == "SEQUENCE" and bytes(operations[0][1].sa_sessionid) == session
        member = (conn.number, session) in self._members
        self.destroyed.append((names if own else (), member))
        if not self._loses or len(self.destroyed) > 1:
            return False
        conn.raw.abort()
        return True

    def on_departure(self, reply):
        if reply.kind != "reply":
            return False
        step = SessionWatch().note(reply)
        if step is not None and step.made:
            self._members.add((reply.conn.number, step.session))
        return False


@pytest.mark.parametrize("name", ["kept", "lost"])
@case("client.session.destroyed-connection-{name}", requirements=[LAST, ASSOCIATED], needs=NEEDS)
def test_destroyed(bench, name):
    """The client is done and destroys its session, over a connection of the session. If
    DESTROY_SESSION follows SEQUENCE of that session, it is the last operation. If the connection is
    lost before the reply, the client first makes the next one a connection of the session."""
    script = Ends(loses=name == "lost")
    outcome = bench.use(script)
    for names, _ in script.destroyed:
        behind = names[names.index("DESTROY_SESSION") + 1 :] if names else ()
        what = "operations behind DESTROY_SESSION of the session in use"
        expect.equal(len(behind), 0, LAST, what, outcome=outcome)
    strange = sum(not member for _, member in script.destroyed)
    what = "DESTROY_SESSIONs over a connection that does not belong to the session"
    expect.equal(strange, 0, ASSOCIATED, what, outcome=outcome)
    if name == "lost" and len(script.destroyed) == 1:
        bench.latitude(ASSOCIATED, "it leaves the session to the end of its lease")
    latitude = {kinds.REFUSED: GIVES_UP} if name == "lost" else None
    expect(outcome, ASSOCIATED, must=[kinds.COMPLETED], latitude=latitude)
