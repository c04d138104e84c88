"""What the cases on the reverse direction share: delegations, conflicts and recalls."""

from steertag import wire
from steertag.suite import expect, kinds
from steertag.suite.cases.case_end import unprepared
from steertag.suite.exchange.deadline import Limit
from steertag.suite.exchange.outcome import Outcome
from steertag.suite.nfs_client.nfs4_client import TRY_AGAIN

from .conflicting_open import ConflictingOpen
from .nfs4_checks import BACK, NFS4, READ, WANT_READ, status

# One wait on one of several connections. An event ends it earlier.
TURN_MS = 5
# RFC 8881 15.1.1.3 does not limit how long a server may answer NFS4ERR_DELAY.
STILL_WAITING = dict.fromkeys(
    TRY_AGAIN, "the OPEN is still told to wait after the delegation's return"
)
# The most files that a case opens to get one delegation. Linux delegates no file for a while if it
# resembles a recalled one (a Bloom filter over handles).
MOST_FILES = 8
# The limit for a retry of a callback that was lost with its connection. The RFCs set none. Linux
# notices the loss when the callback times out, after a tenth of its lease of 90 s.
AFTER_LOSS_MS = 30_000
# RFC 8166 4.5 does not say how a server ends the connection of a client that breaks the rules.
ENDS = dict.fromkeys(kinds.CLOSED, "the connection of a hostile client ends")
# A recall without a valid reply may revoke the delegation (RFC 8881 10.4.5).
REVOKED = dict.fromkeys(
    (status("NFS4ERR_DELEG_REVOKED"), status("NFS4ERR_BAD_STATEID")),
    "the delegation was revoked before it was given back",
)


def as_outcome(callback):
    """The callback as the message in which a case judges a value; None for none."""
    if callback is None:
        return None
    number = callback.message.number
    return Outcome(kinds.CALL, callback.conn, number=number, xid=callback.xid)


def error_for(callback):
    """An RDMA_ERROR in place of the reply to a callback."""
    draft = wire.Draft()
    draft.xid, draft.credit = callback.xid, callback.among.credits
    draft.proc, draft.error = wire.Procedure.ERROR, wire.ErrorCode.CHUNK
    return draft


def reply_with_chunk(callback):
    """The legal reply to a callback, but with a write chunk."""
    draft = callback.among.reply_to(callback)
    offer = callback.conn.offer(len(draft.payload), write=True)
    draft.write_list = [wire.DraftChunk(segments=[offer.segment()])]
    return draft


class Recall:
    """Delegations of a session, and for each another client that wants to write the file.
    `carriers` are the connections that may carry recalls: those of the session."""

    def __init__(self, bench, session=None, count=1, slot=0, **settings):
        self.bench = bench
        self.session = session or bench.nfs4_session(back=True, **settings)
        self.files = bench.nfs4_files(self.session)
        self.carriers = [self.session.conn]
        self.names, self.handles, self.stateids = [], [], []
        self._openings = {}  # {number of a delegation: ConflictingOpen}
        self._recalled = set()  # numbers of delegations whose recall the case has
        self._strange = False  # whether a recall named a stateid that the session does not hold
        for _ in range(count):
            self._hold(slot)

    @property
    def conn(self):
        return self.session.conn

    @property
    def callbacks(self):
        return self.session.conn.callbacks

    @property
    def due(self):
        """Whether a delegation is left without a recall."""
        return len(self._recalled) < len(self.names)

    def _hold(self, slot):
        for _ in range(MOST_FILES):
            name = self.bench.name("delegated")
            # No WRITE: a server may keep the file open for the writer, which would be a conflict.
            self.bench.file(name=name)
            access = READ | WANT_READ
            owner = f"process {len(self.names)}".encode()
            opened, handle = self.session.open(self.files.directory, name, access, owner, slot=slot)
            granted = opened.delegation
            if granted.delegation_type == NFS4.DelegationType.OPEN_DELEGATE_READ:
                self.names.append(name)
                self.handles.append(handle)
                self.stateids.append(granted.read.stateid)
                return
        kind = granted.delegation_type.name
        self.bench.unsupported(f"an OPEN that wants a read delegation gets {kind}")

    # -- the conflict --------------------------------------------------------------------------

    def provoke(self, number=0):
        """Another client opens the file for writing. Works until the OPEN has a reply, a recall
        arrives, or an answer is overdue. The recall is kept for `wait`. Returns the OPEN's Outcome,
        or None while the server delays its reply."""
        return self._provoke(number, self.carriers)

    def _provoke(self, number, carriers):
        if number not in self._openings:
            self._openings[number] = ConflictingOpen(self.bench, self.names[number])
        opening = self._openings[number]
        opening.send()
        limit = Limit(self.conn.deadlines.answer_ms)
        before = self._kept(carriers)
        while opening.pending and self._kept(carriers) == before and not limit.passed:
            self._turn(carriers)
        return None if opening.pending else opening.outcome

    def _kept(self, carriers):
        return sum(len(conn.callbacks.kept) for conn in carriers)

    def _turn(self, carriers):
        for conn in carriers:
            if conn.open:
                conn.callbacks.wait_seen(conn.callbacks.count + 1, TURN_MS)
        for opening in self._openings.values():
            opening.look(TURN_MS)

    def expect_waiting(self, requirement_id, number=0):
        """The server delays the other client's OPEN or its reply. It does not grant the OPEN before
        the delegation is returned (RFC 8881 10.2)."""
        early = number in self._openings and self._openings[number].pending
        opened = self._provoke(number, [])
        if early and opened is not None:
            opened = self._provoke(number, [])  # the first was sent before the recall arrived
        if opened is not None:
            expect(opened, requirement_id, must=TRY_AGAIN)

    # -- the recall ----------------------------------------------------------------------------

    def expect_recall(self, requirement_id, number=0):
        """The CB_COMPOUND that recalls the delegation. The case fails without one."""
        self.provoke(number)
        return self.wait(requirement_id, number)

    def wait(self, requirement_id, number=None, limit_ms=None):
        """The next callback that recalls this delegation, or any that is not recalled yet. The case
        fails without one. Repeats the other client's OPEN if that was answered with
        NFS4ERR_DELAY."""
        callback = self._next_recall(requirement_id, number, limit_ms)
        what = "the delegation is recalled"
        if self._strange:
            what += ", and no stateid that the session does not hold"
        expect.true(callback is not None, requirement_id, what)
        return callback

    def look(self, requirement_id, number=None, limit_ms=None):
        """Like wait, but None if none arrives in time."""
        return self._next_recall(requirement_id, number, limit_ms)

    def _next_recall(self, requirement_id, number, limit_ms):
        limit = Limit(limit_ms or self.conn.deadlines.answer_ms)
        again = Limit(self.conn.deadlines.patience_ms)
        while True:
            callback = self._sift(requirement_id, number)
            if callback is not None or limit.passed:
                return callback
            if not any(conn.open for conn in self.carriers):
                return None
            self._turn(self.carriers)
            if again.passed:
                again = Limit(self.conn.deadlines.patience_ms)
                self._ask_again()

    def _ask_again(self):
        for number, opening in self._openings.items():
            if opening.delayed and number not in self._recalled:
                opening.send()

    def _sift(self, requirement_id, number):
        """The first kept callback that recalls this delegation. Those before it are answered."""
        wanted = {number} if number is not None else set(range(len(self.names))) - self._recalled
        for conn in self.carriers:
            for _ in range(len(conn.callbacks.kept)):
                callback = conn.callbacks.wait(0)
                expect.true(callback.is_sound, requirement_id, "a callback decodes")
                named = self._numbers(callback)
                if wanted & named:
                    self._recalled |= named
                    return callback
                self._answer_other(callback, named)
        return None

    def _numbers(self, callback):
        held = [bytes(stateid.other) for stateid in self.stateids]
        return {held.index(other) for other in callback.recalled if other in held}

    def _answer_other(self, callback, named):
        statuses = {}
        if callback.recalled and not named:
            self._strange = True
            statuses["CB_RECALL"] = NFS4.Status.NFS4ERR_BAD_STATEID
        callback.conn.callbacks.answer(callback, statuses)

    # -- the return ----------------------------------------------------------------------------

    def give_back(self, number=0, conn=None):
        """The Outcome of DELEGRETURN."""
        kept, self.session.conn = self.session.conn, conn or self.session.conn
        handle, stateid = self.handles[number], self.stateids[number]
        outcome = self.session.return_delegation(handle, stateid)
        self.session.conn = kept
        return outcome

    def expect_open(self, requirement_id, number=0):
        """The other client's OPEN succeeds. The operation that releases the file may still be in
        flight, for the time of an answer. A server may have other reasons for NFS4ERR_DELAY (RFC
        8881 15.1.1.3)."""
        limit = Limit(self.conn.deadlines.answer_ms)
        self._provoke(number, [])
        opening = self._openings[number]
        while opening.delayed and not limit.passed:
            calls = opening.conn.callbacks
            calls.wait_seen(calls.count + 1, self.conn.deadlines.patience_ms)
            self._provoke(number, [])
        expect(opening.conclude(), requirement_id, must=[kinds.REPLY], latitude=STILL_WAITING)

    def expect_done(self, requirement_id, number=0):
        """Returns the delegation, and expects that the other client's OPEN succeeds."""
        expect(self.give_back(number), requirement_id, must=[kinds.REPLY])
        self.expect_open(requirement_id, number)


def other_slot(session):
    """A slot beside the usual one, or the usual one if the server grants no other."""
    return min(1, session.slots - 1)


def sequence_of(callback, requirement_id):
    """The arguments of the callback's CB_SEQUENCE. The case fails without one."""
    expect.true("CB_SEQUENCE" in callback, requirement_id, "the recall has a CB_SEQUENCE")
    return callback["CB_SEQUENCE"]


def due_sequence(callbacks, callback):
    """The sequence ID that a new callback must have. Every earlier callback in its slot has used
    one, even a test of the backchannel (RFC 8881 10.4)."""
    slot = callback["CB_SEQUENCE"].csa_slotid
    seen = callbacks.seen
    before = seen[: next(i for i, each in enumerate(seen) if each is callback)]
    used = [each for each in before if "CB_SEQUENCE" in each]
    return 1 + sum(each["CB_SEQUENCE"].csa_slotid == slot for each in used)


def stays_quiet(conn, requirement_id, before):
    """Whether no callback arrives before the replies to two more calls. The transport keeps
    order."""
    for _ in range(2):
        expect(conn.probe(), requirement_id, must=[kinds.REPLY])
    return conn.callbacks.count == before


def expect_quiet(conn, requirement_id, what, before=None):
    """No callback has arrived since there were `before` (now, if None)."""
    before = conn.callbacks.count if before is None else before
    stays_quiet(conn, requirement_id, before)
    expect.at_most(conn.callbacks.count, before, requirement_id, what)


def with_grant(bench, grant, **fields):
    """A session with a backchannel whose first call was answered with this grant of reverse
    credits. `fields` go to CREATE_SESSION. The case is not testable where that call would be a
    recall."""
    session = bench.nfs4_session(back=True, answers_null=False, **fields)
    callbacks = session.conn.callbacks
    callbacks.configure(credits=grant)
    first = callbacks.wait()
    if first is None:
        bench.not_testable("the server makes no call before a recall that could tell our grant")
    callbacks.answer(first)
    callbacks.configure(answers_null=True)
    return session


def one_of_two(bench, requirement_id):
    """(Recall, callback) of two delegations. The first one is recalled. The second recall is due,
    and has to wait for the only reverse credit."""
    recall = Recall(bench, with_grant(bench, 1), count=2)
    callback = recall.expect_recall(requirement_id)
    recall.provoke(1)
    return recall, callback


def known_client(bench, **settings):
    """A client known to the server, without a session. Its connection takes callbacks."""
    client = bench.nfs4_client(callbacks=True, **settings)
    known = client.exchange_id()
    if known.kind != kinds.REPLY:
        raise unprepared(client.conn.owed, "EXCHANGE_ID", known.kind, known.trace())
    return client


def unusual_session(bench, settings=None, **fields):
    """A session with a backchannel of unusual `fields`. The case is not testable where the server
    refuses it. RFC 8881 18.36.3 only RECOMMENDS that it accepts them."""
    bench.need("backchannel")
    client = known_client(bench, **(settings or {}))
    made = client.create_session(csa_flags=BACK, **fields)
    if made.kind.startswith("nfs:"):
        bench.not_testable(f"CREATE_SESSION with such a backchannel gives {made.kind}")
    if made.kind != kinds.REPLY:
        raise unprepared(client.conn.owed, "CREATE_SESSION", made.kind, made.trace())
    session = client.sessions[0]
    session.reclaim_complete()
    return session
