"""Another client's OPEN for writing of a file that is delegated."""

from steertag.suite.nfs_client.nfs4_client import TRY_AGAIN, putfh

from .nfs4_checks import WRITE


class ConflictingOpen:
    """The OPEN, on a connection where nothing else is under way. The server answers it with
    NFS4ERR_DELAY, or delays its answer until the delegation is back (RFC 8881 10.2)."""

    def __init__(self, bench, name):
        self.outcome = None  # of the last OPEN that has its reply
        self._session = bench.nfs4_session()
        self._directory = bench.nfs4_files(self._session).directory
        self._name = name
        self._call = None  # that has no reply yet

    @property
    def conn(self):
        return self._session.conn

    @property
    def pending(self):
        """Whether an OPEN has no reply yet."""
        return self._call is not None

    @property
    def put_off(self):
        """Whether the client was told to come again."""
        return not self.pending and self.outcome is not None and self.outcome.kind in TRY_AGAIN

    def send(self):
        """Sends the OPEN, again if it was answered before; not while it waits for its reply."""
        if not self.pending:
            opening = self._session.open_operation(self._name, WRITE, b"writer")
            self._call = self._session.call(putfh(self._directory), opening, "GETFH")
            self.conn.send(self._call)

    def look(self, timeout_ms):
        """Takes the reply if it comes in time."""
        if not self.pending:
            return
        outcome = self.conn.take_outcome(self._call, timeout_ms)
        if outcome is not None:
            self._over(outcome)
        elif not self.conn.open:
            self.conclude()

    def conclude(self):
        """The Outcome of the last OPEN, also if it is an end or silence."""
        if self.pending:
            self._over(self.conn.await_outcome(self._call))
        return self.outcome

    def _over(self, outcome):
        self._session.note(outcome)
        self._session.take_back(outcome)
        self.outcome, self._call = outcome, None
