"""RDMA operations of the server on memory that is not open to it, and what the client's packets say to them."""

import pytest

from steertag.suite import case, expect
from steertag.suite.client.script import is_read, is_write
from steertag.suite.rdma import roce_packets as roce
from steertag.suite.rdma.roce_alterations import KEYS
from ..call_kinds import SPOILER
from ..client_verdicts import survives
from ..memory_use import MemoryUse, source, target
from .roce_script import PacketScript

WRITE_CHECKED, READ_CHECKED, INVALIDATION = "IBA-10.6-1", "IBA-10.6-2", "IBA-10.6-3"
NEEDS = ["server-bent-packets"]
OCTETS = 64
UNSURE = "nothing that the client did shows that its user had the answer"


def _reply(reply):
    """Without invalidation: it is for the client to close the memory."""
    reply.push()
    reply.send()


def _foreign(segment_of, key):
    return lambda reply: (key, segment_of(reply).offset, OCTETS)


def _place(segment_of, at=lambda segment: 0, length=lambda segment: OCTETS):
    """(R_Key, address, octets) of a use of the client's memory."""

    def found(reply):
        segment = segment_of(reply)
        address = (segment.offset + at(segment)) % (1 << 64)
        return segment.handle, address, length(segment)

    return found


def _end(segment):
    return segment.length


def _across(segment):
    return segment.length - OCTETS // 2


def _beyond(segment):
    return segment.length + OCTETS


# name: (which reply, the answer behind which it comes or None, what is used)
WRITES = {
    **{f"key-{name}": (is_read, None, _foreign(target, key)) for name, key in KEYS.items()},
    "behind-chunk": (is_read, None, _place(target, at=_end)),
    "across-end": (is_read, None, _place(target, at=_across)),
    "beyond-end": (is_read, None, _place(target, length=_beyond)),
    "read-chunk": (is_write, None, _place(source)),
    "after-reply": (is_read, _reply, _place(target)),
}
READS = {
    **{f"key-{name}": (is_write, None, _foreign(source, key)) for name, key in KEYS.items()},
    "behind-chunk": (is_write, None, _place(source, at=_end)),
    "across-end": (is_write, None, _place(source, at=_across)),
    "beyond-end": (is_write, None, _place(source, length=_beyond)),
    "write-chunk": (is_read, None, _place(target)),
    "after-reply": (is_write, _reply, _place(source)),
}


def refuses(conn, answers, outcome):
    """Whether the client refuses what came before these packets of it: by a NAK, or by the end of the connection. Then
    it goes on over another one. The end may overtake the NAK."""
    return bool(roce.naks(answers, roce.ACCESS)) or outcome.connections[-1] is not conn


class Watched(MemoryUse):
    """A use of memory, and the client's packets behind it."""

    def __init__(self, when, act, answer):
        super().__init__(when, self._watch, answer)
        self._posts = act
        self._start = 0

    def _watch(self, reply):
        self._start = len(roce.packets(reply.conn))
        return self._posts(reply)

    def answers(self):
        """The client's packets behind the use."""
        return roce.of_client(self.offer.conn, self._start)

    def responses(self, key, address):
        """READ responses to the use, an RDMA Read of this memory."""
        own = roce.of_server(self.offer.conn, self._start)
        reads = (each for each in own if each.opcode == roce.READ_REQUEST)
        asked = {each.psn for each in reads if each.rdma[:2] == (address, key)}
        return [each for each in self.answers() if each.is_read_response and each.psn in asked]


def _use(bench, when, answer, act):
    """(Watched, ClientOutcome) of a run in which memory was used that is certainly not open."""
    use = Watched(when, act, answer)
    outcome = bench.use(use)
    if not use.used:
        bench.not_testable(UNSURE)
    return use, outcome


def _expect_refusal(bench, use, outcome, requirement_id):
    what = "the client refuses it (NAK, remote access error), or ends the connection"
    refused = refuses(use.offer.conn, use.answers(), outcome)
    expect.true(refused, requirement_id, what, outcome=outcome)
    survives(bench, outcome, requirement_id, either_ends=True)


@case("client.roce.write.{name}", requirements=[WRITE_CHECKED], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", WRITES)
def test_write(bench, name):
    """An RDMA Write to memory that is not open for it. The client refuses it and ends the connection. Its user gets the
    right data on another one."""
    when, answer, place = WRITES[name]

    def act(reply):
        key, address, length = place(reply)
        reply.raw.write(SPOILER * length, key, address)
        return False

    use, outcome = _use(bench, when, answer, act)
    _expect_refusal(bench, use, outcome, WRITE_CHECKED)


@case("client.roce.read.{name}", requirements=[READ_CHECKED], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", READS)
def test_read(bench, name):
    """An RDMA Read of memory that is not open for it. The client refuses it, returns nothing, and ends the
    connection."""
    when, answer, place = READS[name]

    def act(reply):
        key, address, length = place(reply)
        reply.raw.read(key, address, length)
        return True

    use, outcome = _use(bench, when, answer, act)
    key, address, _ = place(use.offer)
    responses = len(use.responses(key, address))
    expect.equal(responses, 0, READ_CHECKED, "READ responses", outcome=outcome)
    _expect_refusal(bench, use, outcome, READ_CHECKED)


def _expect_reply_refused(bench, conn, answers, outcome):
    refused = refuses(conn, answers, outcome)
    expect.true(refused, INVALIDATION, "the client refuses the reply", outcome=outcome)
    survives(bench, outcome, INVALIDATION, either_ends=True)


class ForeignInvalidation(PacketScript):
    """The only reply to a READ invalidates an R_Key that the client has not offered."""

    def __init__(self, key):
        super().__init__(is_read, self._answer, lambda script: True)
        self._key = key

    def _answer(self, _script):
        self.reply.push()
        self.reply.raw.send(self.reply.message, invalidate=self._key)

    def release(self):
        """No other reply follows."""


@case("client.roce.invalidate.{name}", requirements=[INVALIDATION], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", KEYS)
def test_invalidation(bench, name):
    """The reply to a READ in a Send with Invalidate of an R_Key that the client has not offered. The client does not
    take it: it ends the connection, and makes its call again on another."""
    script = ForeignInvalidation(KEYS[name])
    outcome = bench.use(script)
    _expect_reply_refused(bench, script.reply.conn, script.answers(), outcome)


@case("client.roce.invalidate.earlier", requirements=[INVALIDATION], needs=NEEDS, hostile=True)
def test_invalidation_of_earlier(bench):
    """A second reply to an earlier READ, in a Send with Invalidate of the R_Key that it had offered. The client does not
    take it: it ends the connection, and makes its call again on another."""

    def act(reply):
        reply.push([])
        reply.raw.send(reply.message, invalidate=reply.stags[0])
        return False

    use, outcome = _use(bench, is_read, _reply, act)
    _expect_reply_refused(bench, use.offer.conn, use.answers(), outcome)
