"""A READ or WRITE at a data server that is under way: our side does not answer its RDMA Reads yet."""

from steertag.suite import expect, kinds
from steertag.suite.nfs_client.nfs4_client import putfh, read, write
from .layout_checks import NFS4

SLOT = 1  # Those beside it use slot 0.
LOOKS = 2  # READs beside it. The server has seen the call before it sees the second one.
# The call leaves in a turn of our provider. A fast server's RDMA Read may come within the same turn, and is answered. So
# the chunk has many segments, and the server may have one RDMA Read at a time.
SEGMENTS = 16
ATTEMPTS = 16


class HeldIo:
    """The I/O of one part by a connection of its own to the data server, in the user's session there. A WRITE has its
    data in a read chunk, and a READ is a long call. So the server cannot execute it before it is let go. `content` is
    what the file has, and WRITE changes each octet of the part."""

    def __init__(self, bench, user, part, io, content, requirement_id):
        self.requirement_id, self.offer = requirement_id, None
        session = user.data_server(part.server)
        if session.slots <= SLOT:
            bench.not_testable("the session at the data server has one slot")
        ways = user.device.servers[part.server]
        self.conn, _ = bench.connect_data_server(ways, alone=True, ird=1)
        expect(session.bind(self.conn), requirement_id, must=[kinds.REPLY])
        make = self._read if io == "read" else self._write
        for _ in range(ATTEMPTS):
            self.call = make(user, session, part, content)
            before = self._count_answers()
            self.conn.send(self.call)
            self.conn.work()
            if self._count_answers() < before + SEGMENTS:
                break
            expect(self.conn.await_outcome(self.call), requirement_id, must=[kinds.REPLY])
            expect(user.write_part(part, content), requirement_id, must=[kinds.REPLY])
        else:
            bench.not_testable("the target reads chunks faster than they can be held back")
        for _ in range(LOOKS):  # the layout is good
            expect(user.read_part(part), requirement_id, must=[kinds.REPLY])

    def _read(self, user, session, part, _content):
        wanted = read(part.length, part.offset, user.for_io)
        call = session.call(putfh(part.handle), wanted, conn=self.conn, slot=SLOT)
        self.offer = self.conn.write_chunk(call, part.length)
        self.conn.long_call(call, _sizes(len(call.payload)))
        return call

    def _write(self, user, session, part, content):
        octets = content[part.start : part.start + part.length]
        data = bytes(each ^ 0xFF for each in octets)
        wanted = write(data, part.offset, user.for_io, NFS4.StableHow.FILE_SYNC4)
        call = session.call(putfh(part.handle), wanted, conn=self.conn, slot=SLOT)
        self.conn.reduce_all(call, _sizes(len(data)))
        return call

    def _count_answers(self):
        return sum(event.kind == "rdma_read_response" for event in self.conn.recorder)

    def let_go(self):
        """Answers the RDMA Reads. The Outcome of the operation."""
        return self.conn.await_outcome(self.call)

    def expect_untouched(self, outcome):
        """Of a READ: nothing was written into its write chunk."""
        if self.offer is not None:
            untouched = self.offer.bytes() == self.offer.filled
            what = "the memory of the write chunk is untouched"
            expect.true(untouched, self.requirement_id, what, outcome=outcome)


def _sizes(length):
    """Of the segments of a read chunk."""
    size = length // SEGMENTS
    return [size] * (SEGMENTS - 1) + [length - size * (SEGMENTS - 1)]
