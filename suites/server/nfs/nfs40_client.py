"""A client of NFS version 4.0: its client ID, and an open-owner and lock-owner with their seqids
(RFC 7530 9.1.7). It works in a directory of the case."""

from steertag import nfs
from steertag.suite import kinds
from steertag.suite.cases.case_end import unprepared
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.nfs4_client import in_time, lookup, names_of, putfh

NFS4 = nfs.nfs4
READ = NFS4.OPEN4_SHARE_ACCESS_READ
BOTH = NFS4.OPEN4_SHARE_ACCESS_BOTH
RESULT_CONFIRM = 0x02  # of rflags: OPEN4_RESULT_CONFIRM (RFC 7530 16.16.2)
FILE = "file"
# Names of a file that another client makes, and of none.
THERE, MISSING = "there", "missing"
LOCK_OWNER = b"locker"
LOCKED = {"offset": 0, "length": 10}
# No host has this address (RFC 5737): the server cannot call back, and delegates nothing.
NO_CALLBACK = {"na_r_netid": "tcp", "na_r_addr": "192.0.2.1.200.1"}


def run_of_version_0(bench, conn, *operations):
    """The CompoundReply to a COMPOUND of minor version 0 that prepares the case."""
    name = names_of([each for each in operations if not isinstance(each, str)][-1:])
    outcome = in_time(
        conn, name, lambda: conn.exchange(conn.compound_call(*operations, minorversion=0))
    )
    if outcome.kind in ("nfs:NFS4ERR_MINOR_VERS_MISMATCH", "rpc:PROG_MISMATCH"):
        bench.unsupported("the target has no minor version 0")
    if outcome.kind != kinds.REPLY:
        what = f"{name} of minor version 0"
        raise unprepared(conn.owed, what, outcome.kind, outcome.trace())
    return outcome.result


class Nfs40Client:
    """The state that its requests need. `place` is the changed_directory.ChangedDirectory."""

    def __init__(self, bench, place):
        self._bench = bench
        self._path = bench.nfs4_files(None).path() + [lookup(place.name)]
        self._client = 0
        self._seqid = 0  # of the open-owner
        self._handle = None
        self._open = None  # its stateid
        self._lock = None

    # -- calls ---------------------------------------------------------------------------------

    def make(self, conn, operations, xid=None):
        """The call of a COMPOUND of minor version 0."""
        return conn.compound_call(*operations, minorversion=0, xid=xid)

    def run(self, conn, *operations):
        """The CompoundReply to a COMPOUND that prepares the case."""
        return run_of_version_0(self._bench, conn, *operations)

    def register(self, conn):
        """Gets a client ID, and confirms it."""
        owner = self._bench.name("client").encode() + self._bench.random.randbytes(8)
        asked = {
            "client": {"verifier": b"verifier", "id": owner},
            "callback": {"cb_program": 0x40000000, "cb_location": NO_CALLBACK},
        }
        given = self.run(conn, operation("SETCLIENTID", **asked))["SETCLIENTID"].resok4
        self._client = given.clientid
        word = {"setclientid_confirm": given.setclientid_confirm}
        self.run(conn, operation("SETCLIENTID_CONFIRM", clientid=given.clientid, **word))

    # -- requests with a seqid: the operations, whose last result `note` takes ------------------

    def open(self, name=FILE):
        """OPEN that makes a file."""
        attributes = {"createattrs": NFS4.fattr(mode=0o640)}
        return self._make_file(name, mode=NFS4.CreateMode.GUARDED4, **attributes)

    def exclusive(self):
        """OPEN that makes the file by a verifier, which is the same each time."""
        return self._make_file(FILE, mode=NFS4.CreateMode.EXCLUSIVE4, createverf=b"verified")

    def _make_file(self, name, **how):
        making = {"opentype": NFS4.OpenType.OPEN4_CREATE, "how": how}
        return [*self._path, self._open_operation(name, BOTH, openhow=making), "GETFH"]

    def open_again(self):
        """OPEN of the same file, which exists, for reading."""
        return [*self._path, self._open_operation(FILE, READ), "GETFH"]

    def _open_operation(self, name, access, **more):
        return operation(
            "OPEN",
            seqid=self._seqid,
            share_access=access,
            owner={"clientid": self._client, "owner": b"process"},
            claim={"claim": NFS4.ClaimType.CLAIM_NULL, "file": name},
            **more,
        )

    def confirm(self):
        return self._of_open("OPEN_CONFIRM")

    def downgrade(self):
        return self._of_open("OPEN_DOWNGRADE", share_access=READ)

    # -- requests that fail ----------------------------------------------------------------------

    def open_missing(self):
        """OPEN of a file that is not there."""
        return [*self._path, self._open_operation(MISSING, READ), "GETFH"]

    def open_made(self):
        """OPEN that makes a file of a name that is there."""
        return self.open(THERE)

    def lock_other(self):
        """LOCK of what `lock` has locked, by another lock-owner."""
        return self.lock(b"other locker")

    def count(self):
        """Counts the seqid of a request that failed."""
        self._seqid += 1

    def close(self):
        return self._of_open("CLOSE")

    def _of_open(self, name, **fields):
        own = {"seqid": self._seqid, "open_stateid": self._open}
        return [putfh(self._handle), operation(name, **own, **fields)]

    def lock(self, name=LOCK_OWNER):
        """LOCK by a new lock-owner, whose first seqid is 0."""
        owner = {
            "open_seqid": self._seqid,
            "open_stateid": self._open,
            "lock_seqid": 0,
            "lock_owner": {"clientid": self._client, "owner": name},
        }
        locker = {"new_lock_owner": True, "open_owner": owner}
        kind = {"locktype": NFS4.LockType.WRITE_LT, **LOCKED}
        return [putfh(self._handle), operation("LOCK", locker=locker, **kind)]

    def unlock(self):
        kind = {"locktype": NFS4.LockType.WRITE_LT, **LOCKED}
        own = {"seqid": 1, "lock_stateid": self._lock}
        return [putfh(self._handle), operation("LOCKU", **own, **kind)]

    def note(self, result):
        """Takes the stateids of the reply to such a request, and counts its seqid."""
        if "LOCKU" in result:
            return
        self._seqid += 1
        if "LOCK" in result:
            self._lock = result["LOCK"].resok4.lock_stateid
        elif "OPEN" in result:
            self._open = result["OPEN"].resok4.stateid
            self._handle = result["GETFH"].resok4.object
        else:
            self._open = result.results[-1][1].resok4.open_stateid

    # -- requests without ----------------------------------------------------------------------

    @property
    def handle(self):
        """The handle of the file, once it is open."""
        return self._handle

    @property
    def stateid(self):
        """The stateid of the open."""
        return self._open

    def renew(self):
        return [operation("RENEW", clientid=self._client)]

    def test_lock(self):
        """LOCKT by another owner than that of `lock`, of octets that are not locked."""
        beyond = {"offset": LOCKED["length"], "length": LOCKED["length"]}
        owner = {"clientid": self._client, "owner": b"tester"}
        kind = {"locktype": NFS4.LockType.READ_LT, **beyond}
        return [putfh(self._handle), operation("LOCKT", owner=owner, **kind)]

    def release_lock_owner(self):
        owner = {"clientid": self._client, "owner": LOCK_OWNER}
        return [operation("RELEASE_LOCKOWNER", lock_owner=owner)]

    def in_directory(self, *operations):
        """Operations on names in the directory."""
        return [*self._path, *operations]
