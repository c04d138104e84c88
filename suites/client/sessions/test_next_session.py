"""A client whose session is lost makes another one for its client ID (RFC 8881 18.36.4)."""

import pytest

from steertag.suite import ANY, case, client_kinds as kinds, expect
from ..client_verdicts import GIVES_UP
from ..create_sequence import expect_numbered, NEXT_SESSION
from ..pnfs.striped_server import NFS4, StripedServer

STATUSES = {"bad-session": "NFS4ERR_BADSESSION", "dead-session": "NFS4ERR_DEADSESSION"}
# Operations of the request over which a session is lost.
REQUESTS = {"read": "READ", "write": "WRITE"}


class LostSession(StripedServer):
    """Loses the session at the first request with this operation. It knows the client ID."""

    def __init__(self, name, status):
        super().__init__(results={"SEQUENCE": self._refuse})
        self._name, self._status = name, NFS4.Status[status]
        self.lost = None  # the session

    @property
    def waits(self):
        return self.lost is None

    def _refuse(self, call, result):
        session = bytes(call["SEQUENCE"].sa_sessionid)
        if self.lost is None and self._name in call:
            self.lost = session
        return type(result)(status=self._status) if session == self.lost else None


@pytest.mark.parametrize("request_name", REQUESTS)
@pytest.mark.parametrize("name", STATUSES)
@case(
    "client.session.lost-{name}.{request_name}",
    requirements=[NEXT_SESSION],
    needs=["client-nfs4.1"],
    over=ANY,
)
def test_next_session(bench, name, request_name):
    """A session is lost, and the client ID is not. CREATE_SESSION of the next session has the next csa_sequence. Under
    the last one it would be a retry, and get the lost session again."""
    script = LostSession(REQUESTS[request_name], STATUSES[name])
    outcome = bench.use(script)
    expect_numbered(script, outcome)
    latitude = None if bench.client.ours else {kinds.REFUSED: GIVES_UP}
    expect(outcome, NEXT_SESSION, must=[kinds.COMPLETED], latitude=latitude)
