"""The calls of NFS version 4.1 that make, read and remove files for cases, on a target without version 3."""

from ... import nfs
from ..cases import kinds
from ..cases.case_end import unprepared
from .compound import operation
from .mount import export_of
from .nfs4_client import Nfs4Client, getattr_of, lookup, putfh, read, write

NFS4 = nfs.nfs4
_OWNER = b"steertag"


class Nfs4FileCalls:
    """`helper()` gives an open connection, and `owner()` a new co_ownerid. A call without the reply
    that it needs ends the case."""

    def __init__(self, helper, owner):
        self._helper = helper
        self._owner = owner
        self._session = None

    @property
    def _live_session(self):
        """The session, on the connection that is open now."""
        conn = self._helper()
        if self._session is not None and self._session.conn is conn:
            return self._session
        client = Nfs4Client(conn, self._owner())
        for made in (client.exchange_id(), client.create_session()):
            if made.kind != kinds.REPLY:
                raise unprepared(conn.owed, "a session for files", made.kind, made.trace())
        self._session = client.sessions[0]
        self._session.reclaim_complete()
        return self._session

    def root(self, target, _deadlines):
        """The handle of the export's root."""
        words = [word for word in export_of(target).split("/") if word]
        return self._run("PUTROOTFH", *map(lookup, words), "GETFH")["GETFH"].resok4.object

    def make_file(self, parent, name, content, step):
        """The handle of a new file with this content, written `step` octets at a time."""
        handle, stateid = self._create(parent, name)
        for offset in range(0, len(content), step):
            part = bytes(content[offset : offset + step])
            self._run(putfh(handle), write(part, offset, stateid))
        self._close(handle, stateid)
        return handle

    def make_sparse_file(self, parent, name, length):
        """The handle of a new file of `length` octets, all zero."""
        handle, stateid = self._create(parent, name)
        size = operation("SETATTR", stateid=stateid, obj_attributes=NFS4.fattr(size=length))
        self._run(putfh(handle), size)
        self._close(handle, stateid)
        return handle

    def _create(self, parent, name):
        how = {"mode": NFS4.CreateMode.UNCHECKED4, "createattrs": NFS4.fattr(mode=0o666)}
        opened = operation(
            "OPEN",
            share_access=NFS4.OPEN4_SHARE_ACCESS_BOTH,
            share_deny=NFS4.OPEN4_SHARE_DENY_NONE,
            owner={"clientid": self._live_session.client.id, "owner": _OWNER},
            openhow={"opentype": NFS4.OpenType.OPEN4_CREATE, "how": how},
            claim={"claim": NFS4.ClaimType.CLAIM_NULL, "file": name},
        )
        made = self._run(putfh(parent), opened, "GETFH")
        return made["GETFH"].resok4.object, made["OPEN"].resok4.stateid

    def _close(self, handle, stateid):
        self._run(putfh(handle), operation("CLOSE", open_stateid=stateid))

    def make_symlink(self, parent, name, text):
        """The handle of a new symbolic link."""
        text = text if isinstance(text, str) else bytes(text).decode()
        return self._make(parent, name, {"type": NFS4.FileType.NF4LNK, "linkdata": text})

    def make_directory(self, parent, name):
        """The handle of a new directory."""
        return self._make(parent, name, {"type": NFS4.FileType.NF4DIR})

    def _make(self, parent, name, kind):
        attributes = NFS4.fattr(mode=0o777)
        made = operation("CREATE", objtype=kind, objname=name, createattrs=attributes)
        return self._run(putfh(parent), made, "GETFH")["GETFH"].resok4.object

    def read(self, handle, offset, count):
        """(octets, whether the file ends behind them)"""
        result = self._run(putfh(handle), read(count, offset))["READ"].resok4
        return result.data, result.eof

    # -- what may fail -------------------------------------------------------------------------

    def look_up(self, parent, name):
        """The handle of this name, or None."""
        found = self._try(putfh(parent), lookup(name), "GETFH")
        return found["GETFH"].resok4.object if found is not None else None

    def names(self, directory, count):
        """The first names in a directory, in a listing of `count` octets."""
        listing = operation(
            "READDIR",
            dircount=count,
            maxcount=count,
            attr_request=NFS4.bitmap("fileid"),
        )
        listed = self._try(putfh(directory), listing)
        return [] if listed is None else [each.name for each in listed["READDIR"].resok4.entries]

    def remove(self, parent, name):
        """Whether a file, or an empty directory, is gone."""
        return self._try(putfh(parent), operation("REMOVE", target=name)) is not None

    remove_directory = remove

    def end(self):
        """Gives back what the target holds, if the connection is still there."""
        if self._session is not None and self._session.conn.open:
            self._session.client.discard(self._session.conn)
        self._session = None

    # -- calls ---------------------------------------------------------------------------------

    def _run(self, *operations):
        return self._live_session.run(*operations)

    def _try(self, *operations):
        outcome = self._live_session.exchange_in_time(*operations)
        return outcome.result if outcome.kind == kinds.REPLY else None
