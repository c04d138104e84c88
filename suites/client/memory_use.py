"""Uses of the client's memory that come late."""

from steertag.suite.client.script import ERR_CHUNK, Script
from .call_kinds import shows_end


class MemoryUse(Script):
    """Uses the client's memory once, in place of the reply that closes it, or after it is closed.

    `answer` sends the reply that closes the memory. The use follows at once if the client is known
    to close it first. Otherwise it waits for a later call which shows that the user has the answer.
    What is posted behind an answer may reach an adapter before its host has looked at the answer.
    """

    def __init__(self, when, act, answer=None):
        self._when, self._act, self._answer = when, act, answer
        self._held = None  # a reply that waits for what an RDMA Read gives
        self.offer = None  # the reply to the call whose memory is used
        self.used = False
        self.read = []

    @property
    def waits(self):
        return self.offer is None

    def on_departure(self, reply):
        if reply.kind == "callback":
            return False
        if self.offer is None:
            return self._when(reply) and self._begin(reply)
        late = not self.used and reply.conn is self.offer.conn
        if not late or self.offer.offered_again or not shows_end(self.offer, reply):
            return False
        self._held = reply
        self._use()
        return True

    def _begin(self, reply):
        self.offer = reply
        if self._answer is None:
            self._held = reply
            self._use()
        else:
            self._answer(reply)
            if self.bench.client.closes_at_once:
                self._use()
        return True

    def _use(self):
        """What is held leaves when the use has had its effect: behind an RDMA Write in any case."""
        self.used = True
        if not self._act(self.offer):
            self._release()

    def _release(self):
        held, self._held = self._held, None
        if held is not None and held.raw.up:
            held.conform()

    def on_read(self, conn, number, octets):
        self.read.append(octets)
        self._release()

    def on_quiet(self):
        self._release()


def error(reply):
    """Ends the call by an RDMA_ERROR."""
    reply.send_mutated(ERR_CHUNK)


def target(reply):
    """The first segment for what the call is to read."""
    return [segment for chunk in reply.call.write_list for segment in chunk][0]


def source(reply):
    """The read chunk of what the call writes."""
    return next(entry.target for entry in reply.call.read_list if entry.position)
