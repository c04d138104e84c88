"""A request that the server puts off has used no sequence id (RFC 8881 2.10.6.1, 18.46.3)."""

from steertag import wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.client_connection import sent_from
from steertag.suite.client.script import Script, SEQUENCE, sequence_of, stags_of
from ..call_kinds import words
from ..short_read import TRY_LATER

COUNTED = "RFC8881-2.10.6.1-1"
# The session is in use by then, and its first requests have their replies.
FIRST_DELAYED = 2
ACCEPTED = (1, 0, 0, 0, 0)  # REPLY, MSG_ACCEPTED, AUTH_NONE without octets, SUCCESS


def _delay(xid):
    """A draft of the reply whose SEQUENCE asks to try later. Its grant is one that any server may give."""
    results = (TRY_LATER, 0, 1, SEQUENCE, TRY_LATER)  # status, tag, one result
    return wire.Draft(xid=xid, credit=1, payload=words(xid, *ACCEPTED, *results))


class Delayed(Script):
    """Answers one request by itself, which the server does not see. Keeps what comes next in its slot."""

    def __init__(self):
        self.refused = None  # Sequence of the request
        self.later = []  # sequence ids of requests in its slot since

    @property
    def waits(self):
        return self.refused is None

    def on_arrival(self, conn, message):
        sent = sent_from(message)
        request = sequence_of(sent.payload) if sent.is_call else None
        if request is None:
            return False
        if self.refused is not None:
            if self.refused.same_slot(request):
                self.later.append(request.number)
            return False
        if request.number < FIRST_DELAYED or stags_of(sent.header):
            return False
        self.refused = request
        conn.raw.send(wire.encode(_delay(sent.xid)))
        return True


@case("client.session.delayed-sequence", requirements=[COUNTED], needs=["client-nfs4.1"])
def test_delayed_sequence(bench):
    """SEQUENCE of one request gets NFS4ERR_DELAY. An error leaves the slot as it was (RFC 8881 18.46.3), so that the
    next request in it has the same sequence id."""
    script = Delayed()
    outcome = bench.use(script)
    if not script.later:
        bench.not_testable("no other request came in the slot of the one that was put off")
    what = "the sequence id behind a request that was put off"
    expect.equal(script.later[0], script.refused.number, COUNTED, what, outcome=outcome)
    expect(outcome, COUNTED, must=[kinds.COMPLETED])
