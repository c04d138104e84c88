"""The calls of NFS version 3 that make, read and remove files for cases."""

from ..cases import kinds
from ..cases.case_end import unprepared
from .mount import mount

_FILE_SYNC = 2


class Nfs3FileCalls:
    """`helper()` gives an open connection. A call without the reply that it needs ends the case."""

    def __init__(self, helper):
        self._helper = helper

    def root(self, target, deadlines):
        """The handle of the export's root."""
        return mount(target, self._helper(), deadlines)

    def make_file(self, parent, name, content, step):
        """The handle of a new file with this content, written `step` octets at a time."""
        handle = self._create(parent, name)
        for offset in range(0, len(content), step):
            part = bytes(content[offset : offset + step])
            self._call(
                "WRITE", file=handle, offset=offset, count=len(part), stable=_FILE_SYNC, data=part
            )
        return handle

    def make_sparse_file(self, parent, name, length):
        """The handle of a new file of `length` octets, all zero."""
        handle = self._create(parent, name)
        size = {"new_attributes": {"size": length}, "guard": None}
        self._call("SETATTR", object=handle, **size)
        return handle

    def _create(self, parent, name):
        how = {"mode": 0, "obj_attributes": {"mode": 0o666}}
        made = self._call("CREATE", where=_where(parent, name), how=how)
        return self._handle_of(made, parent, name)

    def make_symlink(self, parent, name, text):
        """The handle of a new symbolic link."""
        link = {"symlink_attributes": {}, "symlink_data": text}
        made = self._call("SYMLINK", where=_where(parent, name), symlink=link)
        return self._handle_of(made, parent, name)

    def make_directory(self, parent, name):
        """The handle of a new directory."""
        made = self._call("MKDIR", where=_where(parent, name), attributes={"mode": 0o777})
        return self._handle_of(made, parent, name)

    def _handle_of(self, made, parent, name):
        if made.ok.obj:
            return made.ok.obj
        return self._call("LOOKUP", what=_where(parent, name)).ok.object

    def read(self, handle, offset, count):
        """(octets, whether the file ends behind them)"""
        result = self._call("READ", file=handle, offset=offset, count=count)
        return result.ok.data, result.ok.eof

    # -- what may fail -------------------------------------------------------------------------

    def look_up(self, parent, name):
        """The handle of this name, or None."""
        found = self._try("LOOKUP", what=_where(parent, name))
        return found.ok.object if found is not None else None

    def names(self, directory, count):
        """The first names in a directory, in a listing of `count` octets."""
        first = {"cookie": 0, "cookieverf": bytes(8), "count": count}
        listed = self._try("READDIR", dir=directory, **first)
        entries = listed.ok.entries if listed else ()
        return [entry.name for entry in entries if entry.name not in (".", "..")]

    def remove(self, parent, name):
        """Whether a file is gone."""
        return self._try("REMOVE", object=_where(parent, name)) is not None

    def remove_directory(self, parent, name):
        """Whether an empty directory is gone."""
        return self._try("RMDIR", object=_where(parent, name)) is not None

    def end(self):
        """The target holds no state."""

    # -- calls ---------------------------------------------------------------------------------

    def _outcome(self, procedure, fields):
        conn = self._helper()
        call = conn.nfs_call(procedure, **fields)
        conn.make_fit(call)
        return conn.exchange(call)

    def _call(self, procedure, **fields):
        outcome = self._outcome(procedure, fields)
        if outcome.kind != kinds.REPLY:
            detail = f"{outcome.detail}\n{outcome.trace()}"
            raise unprepared(outcome.conn.owed, procedure, outcome.kind, detail)
        return outcome.result

    def _try(self, procedure, **fields):
        outcome = self._outcome(procedure, fields)
        return outcome.result if outcome.kind == kinds.REPLY else None


def _where(directory, name):
    return {"dir": directory, "name": name}
