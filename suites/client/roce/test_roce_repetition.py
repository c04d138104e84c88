"""Sends that InfiniBand's transport repeats: those of the server, and the client's own that find no receive."""

import pytest

from steertag import wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import is_read, Script
from steertag.suite.rdma import roce_packets as roce
from ..call_kinds import denial
from .roce_script import expect_going_on, PacketScript

ONCE, PATIENCE = "IBA-9.7-3", "IBA-9.7-8"
NEEDS = ["server-bent-packets"]
REPETITIONS = 3
RECEIVES = 32  # that it posts late
RNR_REPETITIONS = 6  # that the server asks for


class RepeatedReply(PacketScript):
    """The reply to a READ leaves in two equal packets. In place of the next reply, `repeated(script)` leaves several
    times: octets of a packet with the PSN of the first one. The client acknowledges each before the next.
    """

    def __init__(self, repeated):
        super().__init__(self._is_next, lambda script: None, self._all_came)
        self._repeated = repeated
        self._octets = b""
        self._left = 0  # repetitions that have left
        self._first = None  # the Reply that leaves twice

    def _is_next(self, reply):
        return self._first is not None and reply.kind == "reply" and reply.conn is self._first.conn

    def on_departure(self, reply):
        if self._first is not None or not is_read(reply):
            return super().on_departure(reply)
        self._first = reply
        reply.push()
        reply.conn.answered.add(reply.xid)
        reply.raw.send(reply.message, invalidate=reply.invalidate, fault=roce.bent(copies=2))
        return True

    def first_send(self):
        """The packet in which the first reply left; None before that."""
        xid = self._first.xid.to_bytes(4, "big")
        own = (each for each in roce.of_server(self.reply.conn) if each.is_send)
        return next((each for each in own if each.sent.startswith(xid)), None)

    def acknowledgements(self):
        """How many the client has sent since the first repetition."""
        return sum(each.opcode == roce.ACKNOWLEDGE for each in self.answers())

    def _all_came(self, _script):
        if self._left == 0:
            if self.first_send() is None:
                return False
            self.mark()
            self._octets = self._repeated(self)
        elif self.acknowledgements() < self._left:
            return False
        if self._left == REPETITIONS:
            return True
        self.reply.raw.send_raw(self._octets)
        self._left += 1
        return False


def _same(script):
    return script.first_send().octets


def _denial(script):
    """The packet of the first reply with another message in it: RPC denies the call that waits."""
    first = script.first_send().octets
    message = wire.encode(denial(script.reply))
    without_pad = first[roce.PAD_AT] & ~roce.PAD_BITS
    head = bytes([roce.SEND_ONLY, without_pad]) + first[roce.PARTITION_AT : roce.BASE_BYTES]
    return head + message


REPEATED = {"reply": _same, "other-message": _denial}


@case("client.roce.repeated.{name}", requirements=[ONCE], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", REPEATED)
def test_repeated_reply(bench, name):
    """The packet of a reply leaves twice, and again before the next reply: as it was, or with another message under
    its PSN. The client takes it once, as its count of messages (MSN) shows, and acknowledges each.
    """
    script = RepeatedReply(REPEATED[name])
    outcome = expect(bench.use(script), ONCE, must=[kinds.COMPLETED])
    what = "acknowledgements since the first repetition"
    expect.at_least(script.acknowledgements(), REPETITIONS, ONCE, what, outcome=outcome)
    surplus = roce.counted_too_often(roce.packets(script.reply.conn))
    what = "messages that the client has counted beyond those that were sent"
    expect.equal(surplus, 0, ONCE, what, outcome=outcome)
    expect_going_on(script, outcome, ONCE)


class LateReceives(Script):
    """Posts the receives of the first connection after the client's first Send has found none."""

    def __init__(self):
        self._conn = None
        self.refused = False  # by an RNR NAK

    @property
    def waits(self):
        """No Send came before there were receives."""
        return not self.refused

    def on_request(self, step):
        if self._conn is None:
            step.receives = 0
            step.most_rnr_repetitions = RNR_REPETITIONS

    def on_accepted(self, conn):
        self._conn = self._conn or conn

    def sends(self):
        """The PSNs of the client's Sends on that connection, repetitions too."""
        return [each.psn for each in roce.of_client(self._conn) if each.is_send]

    def on_poll(self):
        if self.refused or self._conn is None:
            return
        self.refused = any(each.is_rnr for each in roce.of_server(self._conn))
        if self.refused:
            self._conn.raw.add_receives(RECEIVES)


@case("client.roce.receive-late", requirements=[PATIENCE], needs=NEEDS, hostile=True)
def test_late_receive(bench):
    """The server posts its receives only after the client's first Send has found none. The client sends it again, on
    the same connection."""
    script = LateReceives()
    outcome = expect(bench.use(script), PATIENCE, must=[kinds.COMPLETED])
    sends = script.sends()
    what = "packets of the client's first Send"
    expect.at_least(sends.count(sends[0]), 2, PATIENCE, what, outcome=outcome)
    later = len(set(sends))
    expect.at_least(later, 2, PATIENCE, "Sends of the client on this connection", outcome=outcome)
