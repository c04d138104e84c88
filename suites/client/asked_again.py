"""Whether a client that had a bad reply has asked for the same again."""

from steertag.suite import client_kinds as kinds
from steertag.suite.client.script import ReplyInterposer, SEQUENCE

# sa_sessionid, sa_sequenceid, sa_slotid, sa_highest_slotid, sa_cachethis (RFC 8881 18.46.1).
SEQUENCE_OCTETS = 32
AGAIN = "a later call asked for the same"
ONCE = "no later call asked for the same"


class AskedAgain(ReplyInterposer):
    """Gives one reply to `reply`, and notes whether a later call asks for the same: `again`."""

    def __init__(self, reply, when):
        super().__init__(reply, when)
        self._wanted = None
        self.again = False

    def on_departure(self, reply):
        taken = super().on_departure(reply)
        if taken:
            self._wanted = asked_by(reply)
        elif self._wanted is not None and reply.kind == "reply":
            self.again |= asked_by(reply) == self._wanted
        return taken

    def completed(self):
        """Latitude for a client that completes, by what it sent later."""
        return {kinds.COMPLETED: AGAIN if self.again else ONCE}


def asked_by(reply):
    """What the call asks for: all of it but its XID, and but its place in the session."""
    number, rest = reply.operation or (None, b"")
    if number == SEQUENCE:
        return rest[SEQUENCE_OCTETS:]
    return bytes(reply.rpc_call[4:])
