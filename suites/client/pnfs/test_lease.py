"""A client whose lease may be over (RFC 8881 12.7.2)."""

import time

from steertag.suite import case, client_kinds as kinds, expect
from .striped_server import NEEDS, NFS4, StripedServer, use_striped

IN_DOUBT = "RFC8881-12.7.2-1"
LEASE_S = 2
# From a reply's turn at a data server to its departure: the file has to last for longer than the lease.
PACE_S = 0.25
# For what was sent in time, and the time behind it in which nothing may come.
SLACK_S, WATCH_S = 2.0, 0.75


class Unrenewed(StripedServer):
    """A metadata server with a short lease. From the first READ or WRITE at a data server on, it puts every SEQUENCE
    off, so that no lease is renewed. When the lease is over, and a while has passed, it takes them again.
    """

    def __init__(self):
        super().__init__(results={"SEQUENCE": self._put_off, "GETATTR": self._shorten})
        self.is_short = False  # the client has asked for the lease, and got the short one
        self.began = None  # when it began to put off, time.monotonic()
        self.ended = False
        self.late = []  # READs and WRITEs at data servers in the watch.
        self._over_at = None  # When the lease was seen to be over.
        self._watched_from = None  # When the watch began.
        self._took = False  # A READ or WRITE has come since the last poll.
        self._paced = []  # (when it is due, reply)

    def _put_off(self, _call, result):
        if self.began is None or self.ended:
            return None
        return type(result)(status=NFS4.Status.NFS4ERR_DELAY)

    def _shorten(self, _call, result):
        if int(result.status) != 0:
            return None
        values = NFS4.attributes(result.resok4.obj_attributes)
        if "lease_time" not in values:
            return None
        result.resok4.obj_attributes = NFS4.fattr(**{**values, "lease_time": LEASE_S})
        self.is_short = True
        return result

    def on_call(self, conn, call):
        before = len(self.calls)
        octets = super().on_call(conn, call)
        for made in self.calls[before:]:
            if made.server is None or made.io is None:
                continue
            self._took = True
            self.began = self.began or time.monotonic()
            if self._watched_from is not None and not self.ended:
                self.late.append(made)
        return octets

    def post(self, reply):
        if reply.conn.server is None or self.began is None or self.ended:
            return False
        self._paced.append((time.monotonic() + PACE_S, reply))
        return True

    def on_poll(self):
        super().on_poll()
        if self.began is None or self.ended:
            return
        now = time.monotonic()
        self._watch(now)
        due = [reply for at, reply in self._paced if at <= now or self.ended]
        self._paced = [(at, reply) for at, reply in self._paced if at > now and not self.ended]
        for reply in due:
            reply.conform_late()

    def _watch(self, now):
        """Goes on from the lease to the slack, and to the watch. The watch begins at a poll that brings nothing, so
        that all that had arrived is taken."""
        took, self._took = self._took, False
        if self._over_at is None:
            self._over_at = now if now > self.began + LEASE_S else None
        elif self._watched_from is None:
            self._watched_from = now if now > self._over_at + SLACK_S and not took else None
        else:
            self.ended = now > self._watched_from + WATCH_S


@case("client.pnfs.lease.in-doubt", requirements=[IN_DOUBT], needs=NEEDS)
def test_in_doubt(bench):
    """The metadata server puts off what would renew the lease, until it is over. Then no READ or WRITE goes to data
    servers. When the metadata server answers again, the client goes on."""
    script = Unrenewed()
    outcome = use_striped(bench, script, own=["--in-flight", "1"])
    expect(outcome, IN_DOUBT, must=[kinds.COMPLETED])
    if script.began is not None and not script.is_short:
        bench.not_testable("the client does not ask for the lease, so that it has no short one")
    if not script.ended:
        bench.not_testable("the client was done with the data servers before its lease was over")
    what = "READs and WRITEs at data servers while the lease is in doubt"
    expect.equal(len(script.late), 0, IN_DOUBT, what, outcome=outcome)
