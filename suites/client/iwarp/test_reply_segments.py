"""Segments of the server that break MPA, DDP or RDMAP: the client takes nothing from them (RFC 5040, 5041, 5044)."""

import pytest

from steertag import fabric
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import is_read, Script
from ..call_kinds import CALL_KINDS, spoilt
from ..client_verdicts import GIVES_UP

NOT_DELIVERED, CHECKED, CONTROL = "RFC5044-8-1", "RFC5041-7.1-1", "RFC5040-4.1-1"
EMPTY = "RFC5041-5.2-1"
NEEDS = ["server-fault-hooks"]
SOLICITED = 5  # RFC 5040 4.3: Send with Solicited Event
# Fault of a Send, and the requirement that it tests.
SENDS = {
    "crc": (dict(bad_crc=True), NOT_DELIVERED),
    "msn-zero": (dict(msn=0), CHECKED),
    "msn-repeated": (dict(msn=1), CHECKED),
    "msn-skipped": (dict(msn=0x1000), CHECKED),
    "msn-largest": (dict(msn=0xFFFFFFFF), CHECKED),
    "mo-four": (dict(mo=4), CHECKED),
    "mo-largest": (dict(mo=0xFFFFFFFF), CHECKED),
    "queue-three": (dict(qn=3), CHECKED),
    "queue-largest": (dict(qn=0xFFFFFFFF), CHECKED),
    "send-on-read-queue": (dict(qn=1), CHECKED),
    "send-on-terminate-queue": (dict(qn=2), CHECKED),
    "opcode-write": (dict(opcode=0), CONTROL),
    "opcode-read-response": (dict(opcode=2), CONTROL),
    "opcode-eight": (dict(opcode=8), CONTROL),
    "opcode-fifteen": (dict(opcode=15), CONTROL),
    "ddp-version-zero": (dict(ddp_version=0), CHECKED),
    "ddp-version-two": (dict(ddp_version=2), CHECKED),
    "rdmap-version-zero": (dict(rdmap_version=0), CONTROL),
    "rdmap-version-two": (dict(rdmap_version=2), CONTROL),
}
# Of an RDMA Write in front of a good Send.
WRITES = {
    "crc": (dict(bad_crc=True), NOT_DELIVERED),
    "opcode-fifteen": (dict(opcode=15), CONTROL),
    "ddp-version-two": (dict(ddp_version=2), CHECKED),
    "rdmap-version-two": (dict(rdmap_version=2), CONTROL),
}
# In place of the right ULPDU_Length. Enough octets follow to complete every length.
LENGTHS = {"zero": 0, "header-less-one": 17, "bare-header": 18, "short": 60, "largest": 0xFFFF}
OCTETS_BEHIND = 1 << 17


class Bent(Script):
    """The reply to one READ brings octets that the file does not have, and breaks a rule below them. When the client
    is quiet, the connection ends: a client may wait for the rest of a message, or drop a TCP segment.
    """

    def __init__(self, post):
        self._post = post
        self._bent = None

    @property
    def waits(self):
        return self._bent is None

    def on_departure(self, reply):
        if self._bent is not None or not is_read(reply):
            return False
        self._bent = reply
        self._post(reply)
        return True

    def on_quiet(self):
        if self._bent is not None and self._bent.raw.up:
            self._bent.raw.abort()


def _unharmed(bench, requirement_id, post):
    """The READ is made again on another connection, and the copy has the octets of the file."""
    outcome = bench.use(Bent(post))
    latitude = None if bench.client.ours else {kinds.REFUSED: GIVES_UP}
    expect(outcome, requirement_id, must=[kinds.COMPLETED, kinds.LEFT], latitude=latitude)


@pytest.mark.parametrize("name", SENDS)
@case(
    "client.iwarp.send.{name}",
    requirements=[NOT_DELIVERED, CHECKED, CONTROL],
    needs=NEEDS,
    hostile=True,
)
def test_send(bench, name):
    """The Send of the reply breaks one rule. It is not delivered."""
    fault, requirement_id = SENDS[name]

    def post(reply):
        reply.push(spoilt(reply.writes))
        reply.send(reply.message, fault=fabric.Fault(**fault))

    _unharmed(bench, requirement_id, post)


@pytest.mark.parametrize("name", WRITES)
@case(
    "client.iwarp.write.{name}",
    requirements=[NOT_DELIVERED, CHECKED, CONTROL],
    needs=NEEDS,
    hostile=True,
)
def test_write(bench, name):
    """An RDMA Write of the data breaks one rule, and the good Send of the reply follows. Nothing is
    delivered after the error."""
    fault, requirement_id = WRITES[name]

    def post(reply):
        reply.push(spoilt(reply.writes), fabric.Fault(**fault))
        reply.send(reply.message)

    _unharmed(bench, requirement_id, post)


@case("client.iwarp.behind-bad-crc", requirements=[NOT_DELIVERED], needs=NEEDS, hostile=True)
def test_behind_bad_crc(bench):
    """An empty Send with a wrong CRC, and a good reply behind it. Nothing is delivered after the error."""

    def post(reply):
        reply.push(spoilt(reply.writes))
        reply.send(b"", fault=fabric.Fault(bad_crc=True))
        reply.send(reply.message)

    _unharmed(bench, NOT_DELIVERED, post)


@pytest.mark.parametrize("name", LENGTHS)
@case("client.iwarp.length.{name}", requirements=[NOT_DELIVERED], needs=NEEDS, hostile=True)
def test_length(bench, name):
    """ULPDU_Length of the reply is wrong, and zeros complete the longest FPDU. Nothing is delivered."""

    def post(reply):
        reply.push(spoilt(reply.writes))
        reply.send(reply.message, fault=fabric.Fault(ulpdu_length=LENGTHS[name]))
        reply.raw.send_raw(bytes(OCTETS_BEHIND))

    _unharmed(bench, NOT_DELIVERED, post)


def _stays(bench, requirement_id, post, when):
    """What is posted in place of a reply does not cost the connection: no other one takes its place."""
    posted, ended, in_place = [], [], []

    def interpose(reply):
        posted.append(reply.conn)
        post(reply)

    def down(conn, reason):
        if conn in posted:
            ended.append(conn)

    def request(step):
        if ended:
            in_place.append(step)

    outcome = bench.use(reply=interpose, when=when, down=down, request=request)
    expect(outcome, requirement_id, must=[kinds.COMPLETED])
    what = "connections in place of the one that had it"
    expect.equal(len(in_place), 0, requirement_id, what, outcome=outcome)


@pytest.mark.parametrize("call_kind", ["read", "write"])
@case("client.iwarp.solicited.{call_kind}", requirements=["RFC5040-5.3-1"], needs=NEEDS)
def test_solicited(bench, call_kind):
    """Send with Solicited Event carries a reply like Send."""

    def post(reply):
        reply.push()
        reply.send(fault=fabric.Fault(opcode=SOLICITED))

    _stays(bench, "RFC5040-5.3-1", post, CALL_KINDS[call_kind])


NOWHERE = {"zero": 0, "one": 1, "largest": 0xFFFFFFFF}  # STags of no memory


@pytest.mark.parametrize("name", NOWHERE)
@case("client.iwarp.empty-write.{name}", requirements=[EMPTY], needs=NEEDS)
def test_empty_write(bench, name):
    """STag and offset of an RDMA Write without octets are not checked: the reply behind it completes the call."""

    def post(reply):
        reply.raw.write(b"", NOWHERE[name], 0)
        reply.conform()

    _stays(bench, EMPTY, post, is_read)
