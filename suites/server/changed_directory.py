"""A directory of the case that another client looks at and changes, by NFS version 3."""

from steertag.suite import kinds
from steertag.suite.cases.case_end import unprepared

FILE_SYNC = 2
UNCHECKED = 0
# Of files that others make. The calls under test set other modes.
MODE = 0o666


class ChangedDirectory:
    """A new directory, and plain calls of another client over the helper connection."""

    def __init__(self, bench):
        self._files = bench.files
        self.name = bench.name("directory")
        self.handle = bench.directory(self.name)

    def where(self, name):
        """diropargs3 of this name."""
        return {"dir": self.handle, "name": name}

    def make_file(self, name, content=b""):
        """The handle of a file of this name, which may be there, with this content."""
        how = {"mode": UNCHECKED, "obj_attributes": {"mode": MODE}}
        self._run("CREATE", where=self.where(name), how=how)
        handle = self.find(name)
        if content:
            self.write(handle, content)
        return handle

    def make_directory(self, name):
        self._run("MKDIR", where=self.where(name), attributes={"mode": 0o777})

    def remove(self, name):
        self._run("REMOVE", object=self.where(name))

    def remove_directory(self, name):
        self._run("RMDIR", object=self.where(name))

    def write(self, handle, content):
        fields = {"file": handle, "offset": 0, "count": len(content), "stable": FILE_SYNC}
        self._run("WRITE", data=content, **fields)

    def cut_off(self, handle):
        """The file has no octets any more."""
        self._run("SETATTR", object=handle, new_attributes={"size": 0}, guard=None)

    def set_mode(self, handle, mode):
        self._run("SETATTR", object=handle, new_attributes={"mode": mode}, guard=None)

    def attributes(self, handle):
        """fattr3"""
        return self._run("GETATTR", object=handle).ok.obj_attributes

    def content(self, name):
        """The octets of the file of this name, or None."""
        handle = self.find(name)
        return None if handle is None else self._files.read(handle)

    def find(self, name):
        """The handle that the name leads to, or None."""
        found = self._exchange("LOOKUP", what=self.where(name))
        if found.kind == "nfs:NFS3ERR_NOENT":
            return None
        return self._result("LOOKUP", found).ok.object

    def has(self, name):
        return self.find(name) is not None

    def file_id(self, name):
        """The fileid of what the name leads to, or None."""
        handle = self.find(name)
        return None if handle is None else self.attributes(handle).fileid

    def _exchange(self, procedure, **fields):
        conn = self._files.conn
        call = conn.nfs_call(procedure, **fields)
        conn.make_fit(call)
        return conn.exchange(call)

    def _run(self, procedure, **fields):
        return self._result(procedure, self._exchange(procedure, **fields))

    def _result(self, procedure, outcome):
        if outcome.kind != kinds.REPLY:
            raise unprepared(outcome.conn.owed, procedure, outcome.kind, outcome.trace())
        return outcome.result
