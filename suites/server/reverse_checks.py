"""What the cases on the reverse direction share: a delegation, the conflict that recalls it, the recall."""

from steertag.suite import expect, kinds
from steertag.suite.deadline import Limit
from steertag.suite.nfs4_client import putfh

from nfs4_checks import NFS4, READ, WANT_READ, WRITE, status

# NFS4ERR_DELAY of a conflicting open while a delegation is out (RFC 8881 10.4).
WAITING = status("NFS4ERR_DELAY")


class Recall:
    """A delegation that a session holds, and another client who wants to write the file."""

    def __init__(self, bench, session=None, count=1, slot=0, **settings):
        self.bench = bench
        self.session = session or bench.nfs4_session(back=True, **settings)
        self.files = bench.nfs4_files(self.session)
        self.writer = None
        self.names, self.handles, self.stateids = [], [], []
        for _ in range(count):
            self._hold(slot)

    @property
    def conn(self):
        return self.session.conn

    @property
    def callbacks(self):
        return self.session.conn.callbacks

    def _hold(self, slot):
        name = self.bench.name("delegated")
        self.bench.file(b"content", name)
        access = READ | WANT_READ
        owner = f"process {len(self.names)}".encode()
        opened, handle = self.session.open(self.files.directory, name, access, owner, slot=slot)
        granted = opened.delegation
        if granted.delegation_type != NFS4.DelegationType.OPEN_DELEGATE_READ:
            self.bench.unsupported(
                f"an OPEN that wants a read delegation gets {granted.delegation_type.name}"
            )
        self.names.append(name)
        self.handles.append(handle)
        self.stateids.append(granted.read.stateid)

    def provoke(self, number=0):
        """Another client opens the file for writing; the Outcome of its OPEN."""
        if self.writer is None:
            self.writer = self.bench.nfs4_session()
            self._base = self.bench.nfs4_files(self.writer).directory
        opening = self.writer.open_operation(self.names[number], WRITE, b"writer")
        return self.writer.exchange(putfh(self._base), opening, "GETFH")

    def expect_recall(self, requirement_id, number=0):
        """The CB_COMPOUND that recalls the delegation; the case fails without one."""
        self.provoke(number)
        return self.wait(requirement_id)

    def wait(self, requirement_id):
        """The next callback that waits for an answer."""
        callback = self.callbacks.wait()
        expect.true(callback is not None, requirement_id, "the delegation is recalled")
        return callback

    def give_back(self, number=0, conn=None):
        """DELEGRETURN; its Outcome."""
        returned = self.session.return_delegation
        if conn is None:
            return returned(self.handles[number], self.stateids[number])
        self.session.conn, before = conn, self.session.conn
        outcome = returned(self.handles[number], self.stateids[number])
        self.session.conn = before
        return outcome

    def expect_open(self, requirement_id, number=0):
        """The writer may open the file, at the latest when the time of an answer has passed: what
        releases it may still be under way (RFC 8881 15.1.1.3)."""
        limit = Limit(self.conn.deadlines.answer_ms)
        opened = self.provoke(number)
        while opened.kind == WAITING and not limit.passed:
            calls = self.writer.conn.callbacks
            calls.wait_seen(calls.count + 1, self.conn.deadlines.patience_ms)
            opened = self.provoke(number)
        expect(opened, requirement_id, must=[kinds.REPLY])

    def expect_done(self, requirement_id, number=0):
        """The delegation goes back, and then the writer may open the file."""
        expect(self.give_back(number), requirement_id, must=[kinds.REPLY])
        self.expect_open(requirement_id, number)


def expect_quiet(conn, requirement_id, what, before=None):
    """No callback has come since there were `before` (now): replies to two later calls came first (the
    transport keeps order)."""
    before = conn.callbacks.count if before is None else before
    for _ in range(2):
        expect(conn.probe(), requirement_id, must=[kinds.REPLY])
    expect.equal(conn.callbacks.count, before, requirement_id, what)


def with_grant(bench, grant, **fields):
    """A session with a backchannel whose first call was answered with this grant of reverse credits.
    `fields` are of CREATE_SESSION. The case is not testable where that call would be a recall."""
    session = bench.nfs4_session(back=True, answers_null=False, **fields)
    callbacks = session.conn.callbacks
    callbacks.credits = grant
    null = callbacks.wait()
    if null is None:
        bench.not_testable("the server makes no call before a recall that could tell our grant")
    callbacks.answer(null)
    callbacks.answers_null = True
    return session
