"""RDMA Reads of the server that are repeated, or are more at a time than the client takes."""

import pytest

from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import is_write
from steertag.suite.rdma import roce_packets as roce
from ..client_verdicts import survives
from ..memory_use import source
from .roce_script import expect_going_on, PacketScript, psns

READ_AGAIN, DEPTH, MISPLACED = "IBA-9.7-4", "IBA-9.7-7", "IBA-9.7-9"
NEEDS = ["server-bent-packets", "client-read-chunks"]
REPETITIONS = 3
READS_BEYOND = 8
READ_BYTES = 4


class ReadAgain(PacketScript):
    """Repeats the RDMA Read of a read chunk several times before the reply, from one of its packets on."""

    def __init__(self, beginning):
        super().__init__(is_write, self._begin, self._all_came)
        self._beginning = beginning
        self._request = b""  # what is repeated
        self._wanted = []  # PSNs of its responses

        # How many packets there were before each repetition.
        self._rounds = []
        self.packets_before = 0  # of the first response, which are not asked for again
        self.first = b""  # what the first response brought

        # What the others have to bring.
        self.expected = b""

    def _begin(self, _script):
        request = self._longest_read()
        path_mtu = len(self._response(request.psn).read)
        count = -(-request.rdma[2] // path_mtu)
        wanted = psns(request.psn, count)
        self.first = b"".join(self._response(psn).read for psn in wanted)
        self.packets_before = self._beginning(count)
        skipped = self.packets_before * path_mtu
        self.expected, self._wanted = self.first[skipped:], wanted[self.packets_before :]
        self._request = roce.read_later(request, self.packets_before, skipped)
        self._repeat()

    def _longest_read(self):
        """The RDMA Read of the read chunk with the most octets."""
        key = source(self.reply).handle
        reads = [each for each in self.before() if each.opcode == roce.READ_REQUEST]
        return max((each for each in reads if each.rdma[1] == key), key=lambda each: each.rdma[2])

    def _response(self, psn):
        found = (each for each in self.before() if each.is_read_response)
        return next(each for each in found if each.psn == psn)

    def _repeat(self):
        self._rounds.append(len(self.packets()))
        self.reply.raw.send_raw(self._request)

    def responses(self):
        """[octets]: what each repetition brought, without what is missing."""
        ends = [*self._rounds[1:], None]
        return [self._read_between(*each) for each in zip(self._rounds, ends)]

    def _read_between(self, start, end):
        found = [each for each in self.packets()[start:end] if not each.is_of_server]
        octets = {each.psn: each.read for each in found if each.is_read_response}
        return b"".join(octets.get(psn, b"") for psn in self._wanted)

    def _all_came(self, _script):
        if len(self.responses()[-1]) < len(self.expected):
            return False
        if len(self._rounds) == REPETITIONS:
            return True
        self._repeat()
        return False


@case("client.roce.read-again.{name}", requirements=[READ_AGAIN], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", roce.BEGINNINGS)
def test_read_again(bench, name):
    """The RDMA Read of a read chunk is repeated before the reply, whole or from a later packet of its response on.
    Each repetition brings the right octets."""
    script = ReadAgain(roce.BEGINNINGS[name])
    outcome = bench.use(script)
    if name != "whole" and script.packets_before == 0:
        bench.not_testable("no RDMA Read of the client's memory takes more than one packet")
    expect.true(script.first in script.reply.rpc_call, READ_AGAIN, "the first response is right")
    for number, octets in enumerate(script.responses(), 1):
        what = f"response to repetition {number} of the RDMA Read"
        expect.data(octets, script.expected, READ_AGAIN, what, outcome=outcome)
    expect.equal(len(script.responses()), REPETITIONS, READ_AGAIN, "repetitions")
    expect(outcome, READ_AGAIN, must=[kinds.COMPLETED])
    expect_going_on(script, outcome, READ_AGAIN)


class MisplacedRead(PacketScript):
    """Before the reply, an RDMA Read of the read chunk that has the PSN of an earlier Send; then a right one."""

    def __init__(self):
        super().__init__(is_write, self._begin, lambda script: script.came())
        self.sent = None  # the earlier Send

    def _begin(self, _script):
        chunk = source(self.reply)
        self.sent = next(
            (each for each in self.before() if each.is_of_server and each.is_send), None
        )
        if self.sent is None:
            return
        read = next(each for each in self.before() if each.opcode == roce.READ_REQUEST)
        octets = bytearray(read.octets)
        octets[roce.PSN_AT : roce.PSN_AT + 3] = self.sent.psn.to_bytes(3, "big")
        self.reply.raw.send_raw(bytes(octets))
        self.reply.raw.read(chunk.handle, chunk.offset, READ_BYTES)

    def came(self):
        """Whether the right RDMA Read was answered."""
        found = (each for each in self.answers() if each.is_read_response)
        return self.sent is None or any(each.psn != self.sent.psn for each in found)

    def wrong(self):
        """READ responses with the PSN of the Send."""
        return [e for e in self.answers() if e.is_read_response and e.psn == self.sent.psn]


@case("client.roce.misplaced-read", requirements=[MISPLACED], needs=NEEDS, hostile=True)
def test_misplaced_read(bench):
    """An RDMA Read request of a read chunk has the PSN of an earlier Send of the server. It has no response, and the
    client answers the next one."""
    script = MisplacedRead()
    outcome = bench.use(script)
    if script.sent is None:
        bench.not_testable("the server has sent nothing on this connection before")
    expect.equal(len(script.wrong()), 0, MISPLACED, "READ responses", outcome=outcome)
    expect.true(script.came(), MISPLACED, "the next RDMA Read is answered", outcome=outcome)
    expect(outcome, MISPLACED, must=[kinds.COMPLETED])


class ManyReads(PacketScript):
    """Reads a read chunk in more RDMA Reads at a time than the client takes."""

    def __init__(self):
        super().__init__(is_write, self._begin, lambda script: script.all_came() or script.refused)
        self.reads = 0

    def _begin(self, _script):
        chunk = source(self.reply)
        self.reads = roce.reads_taken(self.reply.conn) + READS_BEYOND
        for _ in range(self.reads):
            beyond = roce.bent(beyond_depth=True)
            self.reply.raw.read(chunk.handle, chunk.offset, READ_BYTES, fault=beyond)

    @property
    def refused(self):
        """Whether the client has refused one of them."""
        return bool(self.naks(roce.INVALID))

    def all_came(self):
        """Whether the client has answered them all."""
        chunk = source(self.reply)
        wanted = chunk.offset, chunk.handle, READ_BYTES
        own = (each for each in self.packets() if each.is_of_server)
        asked = {
            each.psn for each in own if each.opcode == roce.READ_REQUEST and each.rdma == wanted
        }
        found = {each.psn for each in self.answers() if each.is_read_response}
        return len(asked & found) == self.reads


@case("client.roce.reads-beyond-depth", requirements=[DEPTH], needs=NEEDS, hostile=True)
def test_reads_beyond_depth(bench):
    """More RDMA Reads of a read chunk at a time than the client's REQ allows. The client answers them all, or refuses
    one and ends the connection."""
    script = ManyReads()
    outcome = bench.use(script)
    answered = script.all_came() or script.refused
    expect.true(answered, DEPTH, "all RDMA Reads are answered, or one is refused", outcome=outcome)
    survives(bench, outcome, DEPTH, either_ends=True)
