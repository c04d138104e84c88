"""A user of direct access: its RPC connection, its optimistic connection, and what it reads there."""

from steertag import fabric
from steertag.nfs import direct
from steertag.suite import expect, kinds
from steertag.suite.cases.case_end import unprepared

LIVES = "ODAFS-30"
# References whose reply fits any inline threshold: 1024 octets.
MOST_INLINE = 28
MOST_BLOCK = 65536  # octets


class OptimisticConnection:
    """A connection that takes RDMA Reads alone. It may break every rule. Cases that break one say so by hostile=True."""

    def __init__(self, bench, private_data, **settings):
        self.conn = bench.connect_optimistic(private_data, **settings)
        # Whether both sides know recoverable refusals.
        self.recovers = direct.is_recoverable(private_data) and direct.is_recoverable(
            bytes(self.conn.raw.private_data)
        )
        if self.recovers and self.open:
            self.conn.raw.recover_read_faults()

    @property
    def open(self):
        return self.conn.open

    def start(self, stag, offset, length, fault=None):
        """Starts an RDMA Read of these octets; returns what `finish` takes."""
        if fault is not None:
            self.conn.stop_judging()
        sink = self.conn.raw.domain.allocate(length, fabric.Rights())
        return sink, self.conn.raw.rdma_read(sink, 0, length, stag, offset % (1 << 64), fault=fault)

    def finish(self, started):
        """The octets of a Read that was started, or None if none came."""
        sink, work = started
        if work is None:
            return None
        self.conn.wait_until(lambda: work in self.conn.completed | self.conn.refused_reads)
        return bytes(sink.bytes()) if work in self.conn.completed else None

    def read(self, stag, offset, length):
        """The octets of this memory of the server, or None."""
        return self.finish(self.start(stag, offset, length))

    def start_frame(self, reference):
        """Starts a Read of the whole frame of a reference."""
        length = min(reference.length, MOST_BLOCK) + direct.FRAME_OCTETS
        return self.start(reference.stag, reference.base, length)

    def frame(self, reference):
        """The octets of the frame of a reference, or None."""
        return self.finish(self.start_frame(reference))

    def is_over(self):
        """Waits for the end of the connection; False if it lives on."""
        return not self.open or self.conn.wait_closed()


class DirectUser:
    """Said HELLO on a connection of its own, and has an optimistic connection; not with `says_hello` or `opens`
    False. `credential` is an rpc.OpaqueAuth in place of that of the suite."""

    def __init__(self, bench, opens=True, says_hello=True, credential=None, clientid=0, **settings):
        self._bench = bench
        self.conn = bench.connect()
        self.credential = credential or self.conn.credential
        self._clientid = clientid  # of NFS version 4
        self.terms = None  # direct.HelloOk
        self.optimistic = None
        if says_hello:
            self.hello()
        if opens and says_hello:
            self.open(**settings)

    # -- calls ---------------------------------------------------------------------------------

    def call(self, procedure, arguments=None):
        """A legal call of the program."""
        number = direct.Procedure[procedure]
        body = direct.encode_args(procedure, arguments)
        asked = direct.PROGRAM, direct.VERSION, int(number)
        return self.conn.rpc_call(*asked, body, self.credential)

    def exchange(self, procedure, arguments=None):
        return self.conn.exchange(self.call(procedure, arguments))

    def result(self, procedure, arguments=None):
        """The results of a legal call, which ends the case unless it succeeds."""
        outcome = self.exchange(procedure, arguments)
        if outcome.kind != kinds.REPLY:
            raise unprepared(self.conn.owed, procedure, outcome.kind, outcome.trace())
        return outcome.result

    def hello(self):
        """Says HELLO, which voids all references of before."""
        verifier = self._bench.random.randbytes(8)
        asked = direct.HelloArgs(verifier=verifier, clientid=self._clientid)
        self.terms = self.result("HELLO", asked).resok4
        if not 0 < self.terms.block_bytes <= MOST_BLOCK:
            detail = f"blocks of {self.terms.block_bytes} octets"
            raise unprepared(self.conn.owed, "HELLO", kinds.GARBAGE, detail)

    def open(self, **settings):
        """Opens the optimistic connection, or ends the case."""
        self.optimistic = self.try_ticket(self.terms.ticket, **settings)
        if not self.optimistic.open:
            detail = f"HELLO's ticket: {self.optimistic.conn.refusal}"
            raise unprepared(self.conn.owed, "an optimistic connection", kinds.DISCONNECT, detail)

    def try_ticket(self, ticket, recoverable=False, **settings):
        """An OptimisticConnection by this ticket; it may be refused. `recoverable`: the client knows recoverable
        refusals."""
        return OptimisticConnection(
            self._bench, direct.private_data(ticket, recoverable=recoverable), **settings
        )

    def refs_args(self, handle, want_refs=MOST_INLINE, offset=0):
        """Arguments of REFS from an offset to the end of the file."""
        span = {"offset": offset, "count": (1 << 64) - 1}
        return direct.RefsArgs(file=handle, want_refs=want_refs, **span)

    def references(self, handle, want_refs=MOST_INLINE, offset=0):
        """The references that REFS gives."""
        return self.result("REFS", self.refs_args(handle, want_refs, offset)).resok4.refs

    def reference(self, handle, offset=0):
        """The reference to one block; the case ends without one."""
        found = self.references(handle, 1, offset)
        if not found:
            detail = "no reference to a block of a new file"
            raise unprepared(self.conn.owed, "REFS", kinds.GARBAGE, detail)
        return found[0]

    def counters(self):
        """direct.CountersResult"""
        return self.result("COUNTERS")

    # -- judgements ----------------------------------------------------------------------------

    def expect_frame(self, reference, requirement_id):
        """The octets of a frame. Its Read completes, whether the frame is valid or not."""
        frame = self.optimistic.frame(reference)
        expect.true(frame is not None, requirement_id, "the RDMA Read of a frame completes")
        return frame

    def expect_block(self, reference, content, requirement_id):
        """The frame of the reference is valid, and has this content."""
        data = direct.open_frame(self.expect_frame(reference, requirement_id), reference.generation)
        expect.true(data is not None, requirement_id, "the frame of a new reference is valid")
        expect.data(data, content, requirement_id, "data of the frame")

    def expect_refused(self, octets, requirement_id, what):
        """An RDMA operation gave no octets, and has ended the optimistic connection."""
        expect.true(octets is None, requirement_id, f"{what} gives no octets")
        expect.true(self.optimistic.is_over(), requirement_id, f"{what} ends the connection")

    def expect_alive(self, requirement_id=LIVES):
        """The RPC connection answers."""
        expect(self.conn.probe(), requirement_id, must=[kinds.REPLY])


def expect_nothing_of(content, frame, requirement_id):
    """The octets of a frame, if any came, have no eight of this content in a row."""
    pieces = {content[at : at + 8] for at in range(0, len(content), 8)}
    seen = frame is not None and any(
        frame[at : at + 8] in pieces for at in range(direct.FRAME_HEAD_OCTETS, len(frame), 8)
    )
    expect.true(not seen, requirement_id, "an old reference shows no octets of another file")
