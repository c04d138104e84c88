"""READ and WRITE as data servers take them."""

from ... import nfs
from .nfs4_client import putfh, read, write

NFS4 = nfs.nfs4


class LayoutIo:
    """Of a client with an open file, whose `stateid` is that of the open."""

    stateid = None

    @property
    def for_io(self):
        """The stateid as data servers take it (RFC 8881 13.9.1)."""
        return NFS4.StateId(seqid=0, other=self.stateid.other)

    def read_at(self, session, handle, offset, count, stateid=None):
        """The Outcome of READ, over RDMA by a write chunk."""
        call = session.call(putfh(handle), read(count, offset, stateid or self.for_io))
        session.conn.carry_result(call, count)
        return session.conn.exchange(call)

    def write_at(self, session, handle, offset, data, stateid=None, stable="UNSTABLE4"):
        """The Outcome of WRITE, over RDMA by a read chunk."""
        how = NFS4.StableHow[stable]
        call = session.call(putfh(handle), write(data, offset, stateid or self.for_io, how))
        session.conn.carry_arguments(call)
        return session.conn.exchange(call)
