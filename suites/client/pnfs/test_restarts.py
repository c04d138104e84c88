"""Data servers that restart under a client, or put it off (RFC 8881 2.10.13.1.4)."""

import pytest

from steertag.suite import ANY, case, client_kinds as kinds, expect
from ..create_sequence import expect_numbered, NEXT_SESSION
from .striped_server import IO, NEEDS, NFS4, StripedServer, use_striped

SESSION = "RFC8881-2.10.13.1.4-3"
# The data server that restarts.
VICTIM = 1
# READs and WRITEs that a data server puts off, one after the other.
DELAYS = 3


class Restarting(StripedServer):
    """A data server that has lost its sessions when it has answered a READ, or a WRITE.

    SEQUENCE in one of them gets `status`. With `forgets_client` CREATE_SESSION gets NFS4ERR_STALE_CLIENTID before
    EXCHANGE_ID comes.
    """

    def __init__(self, status, forgets_client=False):
        super().__init__(
            elsewhere={
                "SEQUENCE": self._refuse,
                "CREATE_SESSION": self._refuse_client,
                "EXCHANGE_ID": self._know,
            }
        )
        self._status, self._forgets_client = NFS4.Status[status], forgets_client
        self._sessions = set()  # that the data server has had
        self.lost = {}  # session: when
        self.is_stranger = False

    def _refuse(self, call, result):
        session = bytes(call["SEQUENCE"].sa_sessionid)
        if call.server != VICTIM:
            return None
        if session in self.lost:
            return type(result)(status=self._status)
        if not self.lost and int(result.status) == 0 and any(name in call for name in IO):
            self.lost[session] = self._tick()
            self.is_stranger = self._forgets_client
        return None

    def _refuse_client(self, call, result):
        if call.server == VICTIM and self.is_stranger:
            return type(result)(status=NFS4.Status.NFS4ERR_STALE_CLIENTID)
        return None

    def _know(self, call, _result):
        if call.server == VICTIM:
            self.is_stranger = False

    @property
    def made_again(self):
        """The first CREATE_SESSION that has given the client another session; None: there is none."""
        lost_at = min(self.lost.values())
        for call in self.at_data_servers("CREATE_SESSION"):
            if call.server == VICTIM and call.at > lost_at and call.succeeded("CREATE_SESSION"):
                return call
        return None

    @property
    def used_lost(self):
        """Calls in a lost session behind the request for another one, on the same connection. That keeps the order of
        calls; between connections there is none."""
        made = self.made_again
        return [
            call
            for call in self.at_data_servers("SEQUENCE")
            if bytes(call["SEQUENCE"].sa_sessionid) in self.lost
            and call.conn is made.conn
            and call.at > made.at
        ]


def _goes_on(script):
    """READs and WRITEs that the data server has executed behind the loss."""
    lost_at = min(script.lost.values())
    return [
        call
        for call in script.data_io
        if call.server == VICTIM
        and call.at > lost_at
        and any(call.succeeded(name) for name in IO if name in call)
    ]


RESTARTS = {
    "bad-session": ("NFS4ERR_BADSESSION", False),
    "dead-session": ("NFS4ERR_DEADSESSION", False),
    "stale-client": ("NFS4ERR_BADSESSION", True),
}


@case("client.pnfs.restarted.{name}", requirements=[SESSION, NEXT_SESSION], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("name", RESTARTS)
def test_restarted(bench, name):
    """A data server has restarted, and its sessions are lost; of a client that is stale, its client ID too. The client
    makes another session, or does without the data server. Ours goes on there."""
    script = Restarting(*RESTARTS[name])
    outcome = use_striped(bench, script)
    expect_numbered(script, outcome)
    expect(outcome, SESSION, must=[kinds.COMPLETED])
    if not script.lost:
        bench.not_testable("the client does not use that data server")
    if script.made_again is not None:
        what = "calls in the lost session behind CREATE_SESSION of another one"
        expect.equal(len(script.used_lost), 0, SESSION, what, outcome=outcome)
    if bench.client.ours:
        what = "READ and WRITE go on at the data server in another session"
        expect.true(bool(_goes_on(script)), SESSION, what, outcome=outcome)
    elif script.made_again is None:
        bench.latitude(SESSION, "it does without the data server")


DELAY = "RFC8881-12.7.6-1"


@case("client.pnfs.restarted.delay", requirements=[DELAY], needs=NEEDS, over=ANY)
def test_delay(bench):
    """A data server that has restarted puts off READs and WRITEs with NFS4ERR_DELAY. The file is copied; by ours, at
    the data server."""
    delayed = []

    def put_off(call, result):
        if call.server != VICTIM or len(delayed) >= DELAYS:
            return None
        delayed.append(call)
        return type(result)(status=NFS4.Status.NFS4ERR_DELAY)

    script = StripedServer(elsewhere=dict.fromkeys(IO, put_off))
    outcome = use_striped(bench, script)
    expect(outcome, DELAY, must=[kinds.COMPLETED])
    if not delayed:
        bench.not_testable("the client does not use that data server")
    later = [call for call in script.data_io if call.server == VICTIM and call.at > delayed[-1].at]
    if bench.client.ours:
        what = "READ and WRITE go on at the data server"
        expect.true(bool(later), DELAY, what, outcome=outcome)
