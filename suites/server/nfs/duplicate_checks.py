"""What the cases on repeated calls share: reconnections, the first answer, and what shows a second
execution."""

from steertag.suite import expect, kinds
from steertag.suite.cases.case_end import unprepared

ONCE = "RFC1813-4.5-1"
KEPT = "RFC1813-4.5-3"
AGAIN = "it is executed again"
PORTS = ("same-port", "other-port")


class Reconnections:
    """Connections of one client, one after the other: from one port, or from any."""

    def __init__(self, bench, port):
        self._bench = bench
        self._local_port = bench.local_port() if port == "same-port" else 0

    def next(self):
        return self._bench.connect(local_port=self._local_port)


def first_outcome(bench, conn, call):
    """The Outcome of the call that the case repeats. The case ends unless it succeeds."""
    outcome = conn.exchange(call)
    if outcome.kind == "nfs:NFS3ERR_NOTSUPP":
        bench.unsupported("the target does not support the procedure")
    if outcome.kind != kinds.REPLY:
        raise unprepared(conn.owed, "the first call", outcome.kind, outcome.trace())
    return outcome


def lose_in_flight(conn, call):
    """Sends the call and loses the connection, so that nothing shows whether it was executed."""
    conn.send(call)
    conn.work()
    conn.abort()


def expect_first_status(again, first, executed_again, once=ONCE):
    """A repeated call has the status of the first. These kinds show a second execution."""
    warn = {kind: AGAIN for kind in executed_again if kind != first.kind}
    expect(again, once, must=[first.kind], warn=warn)


def expect_held(holds, sentence, again, first, once=ONCE):
    """What other clients did meanwhile still holds. A server that returns the kept reply and
    executes the call all the same misleads its client."""
    kept = again.whole == first.whole
    expect.true(holds, KEPT if kept else once, sentence, outcome=again)
