"""COMPOUNDs of minor version 0 or 1 with one operation on a file, between others that show where they were found."""

from steertag.suite import expect, kinds
from steertag.suite.nfs_client.nfs4_client import getattr_of, lookup, putfh
from .nfs40_client import run_of_version_0
from ..nfs4_checks import NFS4

VERSIONS = ("4.0", "4.1")


class Compounds:
    """A connection for COMPOUNDs of a version, and a new file with this content."""

    def __init__(self, bench, version, content=b"", **settings):
        """`settings` are of the connection."""
        self._bench = bench
        name = bench.name("file")
        self._plain = bench.file(content, name)  # its handle where content is looked at
        if version == "4.1":
            bench.need("nfs41")
            self._session = bench.nfs4_session(settings=settings)
            self.conn = self._session.conn
            self.handle = bench.nfs4_files(self._session).handle(name)
        else:
            self._session = None
            self.conn = bench.connect(**settings)
            path = bench.nfs4_files(None).path()
            found = run_of_version_0(bench, self.conn, *path, lookup(name), "GETFH")
            self.handle = found["GETFH"].resok4.object

    def call(self, *tried):
        """A call with these operations on the file, behind two others and before two others."""
        before = [putfh(self.handle), getattr_of("type")]
        operations = [*before, *tried, getattr_of("size"), "GETFH"]
        if self._session is not None:
            return self._session.call(*operations)
        return self.conn.compound_call(*operations, minorversion=0)

    def exchange(self, call, is_long, requirement_id):
        """The Outcome of the call, which has to be a reply. It may be made a long one."""
        if is_long:
            if call.read_list:
                self._bench.need("multiple-read-chunks")
            self.conn.long_call(call)
        return expect(self.conn.exchange(call), requirement_id, must=[kinds.REPLY])

    def expect_behind(self, outcome, size, requirement_id):
        """The operations behind were executed with their own arguments, and their results are found."""
        found = outcome.result.all("GETATTR")[-1].resok4
        what = "size that GETATTR gives behind the operation"
        size_now = NFS4.attributes(found.obj_attributes)["size"]
        expect.equal(size_now, size, requirement_id, what, outcome=outcome)
        is_same = bytes(outcome.result["GETFH"].resok4.object) == bytes(self.handle)
        what = "GETFH gives the handle of the file"
        expect.true(is_same, requirement_id, what, outcome=outcome)

    def content(self):
        """What the file holds, read over another connection."""
        return self._bench.read_back(self._plain)
