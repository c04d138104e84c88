"""The sizes that CREATE_SESSION gives, of the first session and of one that takes its place (RFC 8881 18.36.3)."""

import pytest

from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import sequence_of
from ..restarted_server import RestartedServer

SIZES = "RFC8881-18.36.3-9"
NEEDS = ["client-nfs4.1"]
# ca_maxrequestsize: below what any client sends in a WRITE, and no multiple of a page.
ROOM_OCTETS = 20000
# The operation at which the server forgets the first session; None: the first session has the room.
SESSIONS = {"first": None, "next-reading": "READ", "next-writing": "WRITE"}


class SmallSessions(RestartedServer):
    """Gives sessions little room for requests: each, or those behind the first. Notes how long each request is in such
    a session, items in chunks included."""

    def __init__(self, forgets_at):
        super().__init__(results={"CREATE_SESSION": self._give_room})
        self._forgets_at = forgets_at
        self.small = set()  # sessions
        self.lengths = []  # of requests in these

    def begins(self, call):
        return self._forgets_at is not None and self._forgets_at in call

    def _give_room(self, call, result):
        refused = self._forget_client(call, result)
        if refused is not None or int(result.status) != 0:
            return refused
        if self._forgets_at is not None and self.known_at is None:
            return None
        attrs = result.resok4.csr_fore_chan_attrs
        attrs.ca_maxrequestsize = min(attrs.ca_maxrequestsize, ROOM_OCTETS)
        self.small.add(bytes(result.resok4.csr_sessionid))
        return result

    def on_call(self, conn, call):
        sequence = sequence_of(call)
        if sequence is not None and bytes(sequence.session) in self.small:
            self.lengths.append(len(call))
        return super().on_call(conn, call)


@pytest.mark.parametrize("name", SESSIONS)
@case("client.session.request-size.{name}", requirements=[SIZES], needs=NEEDS)
def test_request_size(bench, name):
    """A session has room for requests of 20000 octets. It is the first one, or takes the place of one that the server
    has forgotten and that had more room. No request in it is longer."""
    script = SmallSessions(SESSIONS[name])
    outcome = bench.use(script)
    if not script.lengths:
        bench.not_testable("the client makes no session in the place of the one that is forgotten")
    expect.at_most(max(script.lengths), ROOM_OCTETS, SIZES, "octets of a request", outcome)
    expect(outcome, SIZES, must=[kinds.COMPLETED])
