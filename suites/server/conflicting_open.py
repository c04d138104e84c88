"""Another client's OPEN for writing, of a file that is delegated."""

from steertag.suite.nfs_client.nfs4_client import TRY_AGAIN, putfh

from .nfs4_checks import WRITE


class ConflictingOpen:
    """The OPEN, on an otherwise idle connection. The server answers it with NFS4ERR_DELAY, or
    delays its answer until the delegation is returned (RFC 8881 10.2)."""

    def __init__(self, bench, name):
        self.outcome = None  # of the last OPEN that was answered
        self._session = bench.nfs4_session()
        self._directory = bench.nfs4_files(self._session).directory
        self._name = name
        self._call = None  # the OPEN without a reply

    @property
    def conn(self):
        return self._session.conn

    @property
    def pending(self):
        """Whether an OPEN has no reply yet."""
        return self._call is not None

    @property
    def delayed(self):
        """Whether the last OPEN was answered with a status of TRY_AGAIN."""
        return not self.pending and self.outcome is not None and self.outcome.kind in TRY_AGAIN

    def send(self):
        """Sends the OPEN, again if it was answered before. Does nothing while one is pending."""
        if not self.pending:
            opening = self._session.open_operation(self._name, WRITE, b"writer")
            self._call = self._session.call(putfh(self._directory), opening, "GETFH")
            self.conn.send(self._call)

    def look(self, timeout_ms):
        """Takes the reply if it arrives in time."""
        if not self.pending:
            return
        outcome = self.conn.take_outcome(self._call, timeout_ms)
        if outcome is not None:
            self._over(outcome)
        elif not self.conn.open:
            self.conclude()

    def conclude(self):
        """The Outcome of the last OPEN, even if that is a close or silence."""
        if self.pending:
            self._over(self.conn.await_outcome(self._call))
        return self.outcome

    def _over(self, outcome):
        self._session.note(outcome)
        self._session.take_back(outcome)
        self.outcome, self._call = outcome, None
