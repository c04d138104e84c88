"""Messages of InfiniBand's connection management that the server repeats, or sends out of place."""

import pytest

from steertag import fabric, trace
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import is_read
from steertag.suite.rdma import roce_packets as roce
from ..call_kinds import SPOILER
from ..client_verdicts import survives
from ..memory_use import target
from .roce_script import expect_going_on, PacketScript

AGAIN, ORDER, ENDED, FOREIGN = "IBA-12-1", "IBA-12-3", "IBA-12-4", "IBA-12-5"
REPAIRED = "IBA-12-7"
NEEDS = ["server-bent-packets"]
REPETITIONS = 3
# Linux repeats its REQ after 6.4 s: twice its packet lifetime, and the 4.3 s that it gives the server to answer.
PATIENCE_MS = 20_000
ANSWER_TIMES = 2
MISPLACED = {"rtu": roce.RTU, "mra": roce.MRA, "drep": roce.DREP}
# Other numbers in place of the client's queue pair.
PAIRS = {"other": lambda own: own ^ 1, "zero": lambda own: 0, "largest": lambda own: 0xFFFFFF}


def count(packets, message):
    """How many messages of connection management of this kind there are among packets."""
    return sum(each.message == message for each in packets)


class RepeatedAcceptance(PacketScript):
    """Repeats the REP of an established connection several times, each after the answer to the one before."""

    def __init__(self):
        super().__init__(is_read, self._begin, self._all_came)
        self._octets = b""
        self._left = 0

    def _begin(self, _script):
        own = (each for each in self.before() if each.is_of_server)
        self._octets = next(each for each in own if each.message == roce.REP).octets
        self._repeat()

    def _repeat(self):
        self.reply.raw.send_raw(self._octets)
        self._left += 1

    def ready(self):
        """How many RTUs have answered."""
        return count(self.answers(), roce.RTU)

    def _all_came(self, _script):
        if self.ready() < self._left:
            return False
        if self._left == REPETITIONS:
            return True
        self._repeat()
        return False


@case("client.roce.acceptance-repeated", requirements=[AGAIN], needs=NEEDS, hostile=True)
def test_repeated_acceptance(bench):
    """The REP of an established connection is repeated, as if its RTU was lost. The client answers each one by an RTU,
    and uses the connection further."""
    script = RepeatedAcceptance()
    outcome = expect(bench.use(script), AGAIN, must=[kinds.COMPLETED])
    what = "RTUs for repeated REPs"
    expect.equal(script.ready(), REPETITIONS, AGAIN, what, outcome=outcome)
    expect_going_on(script, outcome, AGAIN)


@case("client.roce.misplaced.{name}", requirements=[ORDER], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", MISPLACED)
def test_misplaced(bench, name):
    """A message of connection management that does not fit an established connection. The client uses the connection
    further."""

    def act(script):
        found = roce.needed_numbers(bench, script.reply.conn)
        ids = found.transaction, found.server_id, found.client_id
        for _ in range(REPETITIONS):
            script.reply.raw.send_raw(roce.management(MISPLACED[name], *ids))

    script = PacketScript(is_read, act)
    outcome = expect(bench.use(script), ORDER, must=[kinds.COMPLETED])
    expect_going_on(script, outcome, ORDER)


@case("client.roce.acceptance-lost", requirements=[REPAIRED], needs=NEEDS)
def test_lost_acceptance(bench):
    """The first REP of each connection is lost, and the server repeats it only when the client asks again. The client
    repeats its REQ, and its user gets the right data."""

    def request(step):
        step.bent_startup = fabric.BentPacket(copies=0)
        step.repairs_startup = False
        step.startup_timeout_ms = PATIENCE_MS

    outcome = bench.use(request=request)
    sent = [each for conn in bench.connections for each in roce.of_client(conn)]
    asked = [each for each in sent if each.message == roce.REQ]
    if len(asked) == 1 and outcome.seconds < ANSWER_TIMES * roce.response_s(asked[0]):
        bench.not_testable("the client's user gave up before a REQ had to be repeated")
    expect(outcome, REPAIRED, must=[kinds.COMPLETED])


class Disconnection(PacketScript):
    """A DREQ in place of the reply to a READ, once `under_way(script)` says that data is. The connection ends when the
    client has answered."""

    def __init__(self, act, under_way):
        super().__init__(is_read, act, self._ends)
        self._under_way = under_way
        self._asked = False

    def _ends(self, _script):
        if not self._asked and self._under_way(self):
            self._asked = True
            found = roce.needed_numbers(self.bench, self.reply.conn)
            self.reply.raw.send_raw(roce.disconnect_request(found, trace.Role.server))
        return self._asked and self.answered()

    def answered(self):
        """Whether a DREP has answered the DREQ."""
        return count(self.answers(), roce.DREP) > 0

    def release(self):
        self.reply.raw.abort()


def _begin_write(script):
    """An RDMA Write into the client's memory that never ends: its second packet is always lost."""
    segment = target(script.reply)
    lost = roce.bent(index=1, copies=0, every_time=True)
    octets = SPOILER * segment.length
    script.reply.raw.write(octets, segment.handle, segment.offset, fault=lost)


def _write_begun(script):
    return any(each.opcode == roce.WRITE_FIRST for each in script.packets())


# name: (what is posted, when the DREQ follows)
DISCONNECTIONS = {
    "call-waits": (lambda script: None, lambda script: True),
    "write-under-way": (_begin_write, _write_begun),
}


@case("client.roce.disconnect.{name}", requirements=[ENDED], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", DISCONNECTIONS)
def test_disconnect(bench, name):
    """A DREQ while the client waits for the reply to a READ, or has half of an RDMA Write. A DREP answers it. The
    client makes its call again on another connection, or tells its user."""

    act, under_way = DISCONNECTIONS[name]
    script = Disconnection(act, under_way)
    outcome = bench.use(script)
    expect.true(script.answered(), ENDED, "a DREP answers the DREQ", outcome=outcome)
    survives(bench, outcome, ENDED)


@case("client.roce.disconnect-foreign.{name}", requirements=[FOREIGN], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", PAIRS)
def test_foreign_disconnect(bench, name):
    """A DREQ that names another queue pair than the client's. The client uses the connection further."""

    def act(script):
        found = roce.needed_numbers(bench, script.reply.conn)
        pair = PAIRS[name](found.client_pair)
        script.reply.raw.send_raw(roce.disconnect_request(found, trace.Role.server, pair))

    script = PacketScript(is_read, act)
    outcome = expect(bench.use(script), FOREIGN, must=[kinds.COMPLETED])
    expect_going_on(script, outcome, FOREIGN)
