"""A script that breaks rules of InfiniBand's transport once, and what the packets show of the answer."""

import time

from steertag.suite import expect
from steertag.suite.client.script import Script
from steertag.suite.rdma import roce_packets as roce

# How long a reply waits for packets of the client. Only a client that breaks a rule makes it wait so long.
MOST_WAIT_S = 5.0


def psns(first, count):
    """[PSN]: so many from the first one on."""
    return [(first + i) & roce.PSN_MASK for i in range(count)]


class PacketScript(Script):
    """Acts once, in place of a reply for which `when` holds. The reply follows when `awaited` holds.

    act(script)       posts packets on `script.reply.raw`.
    awaited(script)   whether the client has answered them, by `script.answers()`; it is asked until it says so.
                      None: the reply follows at once.
    """

    def __init__(self, when, act, awaited=None):
        self._when, self._act, self._awaited = when, act, awaited
        self._limit = None  # time.monotonic(), while the reply waits
        self.reply = None
        self._start = 0  # packets before the act
        self._calls = 0  # of the client, before the act

    @property
    def waits(self):
        """No reply came for which `when` holds."""
        return self.reply is None

    def mark(self):
        """What is behind the act begins here."""
        conn = self.reply.conn
        self._start, self._calls = len(roce.packets(conn)), len(conn.calls)

    def packets(self):
        """The packets of the connection behind the act, of both sides."""
        return roce.packets(self.reply.conn)[self._start :]

    def before(self):
        """The packets of the connection before the act, of both sides."""
        return roce.packets(self.reply.conn)[: self._start]

    def answers(self):
        """The packets of the client behind the act."""
        return [each for each in self.packets() if not each.is_of_server]

    def naks(self, syndrome):
        """How many NAKs of this syndrome the client has sent behind the act."""
        return len(roce.naks(self.answers(), syndrome))

    def goes_on(self):
        """Whether the client has made calls on the connection behind the act."""
        return len(self.reply.conn.calls) > self._calls

    def on_departure(self, reply):
        if self.reply is not None or reply.kind == "callback" or not self._when(reply):
            return False
        self.reply = reply
        self.mark()
        self._act(self)
        if self._awaited is None:
            reply.conform()
        else:
            self._limit = time.monotonic() + MOST_WAIT_S
        return True

    def on_poll(self):
        if self._limit is None:
            return
        over = not self.reply.raw.up or time.monotonic() > self._limit
        if over or self._awaited(self):
            self._limit = None
            self.release()

    def release(self):
        """What was awaited is there, or is late."""
        self.reply.conform_late()


def expect_going_on(script, outcome, requirement_id):
    """What the script did has not ended the connection: the client uses it further."""
    what = "the client makes its next call on the same connection"
    expect.true(script.goes_on(), requirement_id, what, outcome=outcome)
