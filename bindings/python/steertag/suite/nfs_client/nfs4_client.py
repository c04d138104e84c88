"""The client of NFS version 4.1 for cases: client id, sessions with slots, opens, and cleanup."""

from ... import nfs, rpc
from ..cases import kinds
from ..cases.case_end import NotTestable, unprepared
from ..exchange.deadline import Limit
from .compound import operation
from .mount import export_of

NFS4 = nfs.nfs4
# Channel attributes that servers need not lower: a COMPOUND with 1 MiB of data and its headers.
LARGEST_MESSAGE = (1 << 20) + 4096
LARGEST_CACHED = 2048
MOST_OPERATIONS = 16
SLOTS = 16
# Of the backchannel: recalls are short.
LARGEST_CALLBACK = 4000
MOST_CALLBACK_OPERATIONS = 4
CALLBACK_SLOTS = 4
# The program of our backchannel. Any number will do (RFC 8881 18.36.3).
CALLBACK_PROGRAM = 0x40000123
ANONYMOUS = {"seqid": 0, "other": bytes(12)}  # RFC 8881 8.2.3
# Octets of an RPC message with one READ or WRITE, without the data: with SEQUENCE and GETATTR.
BESIDE_DATA = 512
# By these a server asks a client to retry (RFC 8881 15.1.1.3, 15.1.9.2).
DELAY = "nfs:NFS4ERR_DELAY"
GRACE = "nfs:NFS4ERR_GRACE"
TRY_AGAIN = (DELAY, GRACE)
# Limit of retries in a grace period. Linux has one of the longest leases, and a grace period of 90
# s.
GRACE_MS = 120000
# Between two attempts in a grace period.
GRACE_PAUSE_MS = 1000


def in_time(conn, what, attempt):
    """The Outcome of `attempt()`, with retries while the target asks for them. NFS4ERR_DELAY is
    retried for the time of an answer, and NFS4ERR_GRACE for GRACE_MS. After that the case is not
    testable."""
    limits = {DELAY: Limit(conn.deadlines.answer_ms), GRACE: Limit(GRACE_MS)}
    pauses = {DELAY: conn.deadlines.patience_ms, GRACE: GRACE_PAUSE_MS}
    outcome = attempt()
    while outcome.kind in limits and conn.open:
        if limits[outcome.kind].passed:
            raise NotTestable(f"preparing the case: {what} gave {outcome.kind} again and again")
        conn.wait_closed(pauses[outcome.kind])
        outcome = attempt()
    return outcome


def alone_in_time(conn, lone):
    """The Outcome of a COMPOUND of one operation without SEQUENCE; see in_time for retries."""
    return in_time(conn, lone[0], lambda: conn.exchange(conn.compound_call(lone)))


def granted(outcome, name):
    """The results of the operation of this name if it succeeded, else None. An unsolicited message
    can leave the reply to an earlier request here."""
    has_it = outcome.kind == kinds.REPLY and name in outcome.result
    return outcome.result[name].resok4 if has_it else None


def fore_channel(**changed):
    """nfs4.ChannelAttrs of the fore channel that the suite requests."""
    attrs = {
        "ca_maxrequestsize": LARGEST_MESSAGE,
        "ca_maxresponsesize": LARGEST_MESSAGE,
        "ca_maxresponsesize_cached": LARGEST_CACHED,
        "ca_maxoperations": MOST_OPERATIONS,
        "ca_maxrequests": SLOTS,
    }
    return NFS4.ChannelAttrs(**{**attrs, **changed})


def backchannel(**changed):
    """nfs4.ChannelAttrs of the backchannel that the suite offers."""
    attrs = {
        "ca_maxrequestsize": LARGEST_CALLBACK,
        "ca_maxresponsesize": LARGEST_CALLBACK,
        "ca_maxoperations": MOST_CALLBACK_OPERATIONS,
        "ca_maxrequests": CALLBACK_SLOTS,
    }
    return NFS4.ChannelAttrs(**{**attrs, **changed})


def sys_credential(uid=0, gid=0):
    """callback_sec_parms4 with AUTH_SYS."""
    return NFS4.CallbackSecParms(
        cb_secflavor=NFS4.CallbackFlavor.AUTH_SYS,
        cbsp_sys_cred=rpc.AuthSys(machine_name="steertag", uid=uid, gid=gid),
    )


NO_CREDENTIAL = NFS4.CallbackSecParms()  # AUTH_NONE


class Nfs4Client:
    """One client: an owner with a verifier, its client id and sessions."""

    def __init__(self, conn, owner, verifier=b"steertag"):
        self.conn = conn
        self.owner = owner.encode()
        self.verifier = verifier
        self.id = 0
        self.create_sequence = 0
        self.sessions = []
        self.opens = False  # an OPEN was sent, or may have been
        self.home = None  # link.Link to the data server that knows it; None: the target

    # -- operations ----------------------------------------------------------------------------

    def exchange_id(self, conn=None, **fields):
        """The Outcome of EXCHANGE_ID, which registers the client."""
        asked = {
            "eia_clientowner": {"co_verifier": self.verifier, "co_ownerid": self.owner},
            "eia_flags": 0,
        }
        outcome = alone_in_time(conn or self.conn, operation("EXCHANGE_ID", **{**asked, **fields}))
        known = granted(outcome, "EXCHANGE_ID")
        if known is not None:
            self.id, self.create_sequence = known.eir_clientid, known.eir_sequenceid
        return outcome

    def create_session_operation(self, sequence=None, **fields):
        """CREATE_SESSION; no backchannel unless `csa_flags` asks for it."""
        asked = {
            "csa_clientid": self.id,
            "csa_sequence": self.create_sequence if sequence is None else sequence,
            "csa_fore_chan_attrs": fore_channel(),
            "csa_back_chan_attrs": backchannel(),
            "csa_cb_program": CALLBACK_PROGRAM,
            "csa_sec_parms": [sys_credential(), NO_CREDENTIAL],
        }
        return operation("CREATE_SESSION", **{**asked, **fields})

    def create_session_call(self, conn=None, sequence=None, **fields):
        """A call with CREATE_SESSION only."""
        made = self.create_session_operation(sequence, **fields)
        return (conn or self.conn).compound_call(made)

    def create_session(self, conn=None, **fields):
        """The Outcome of CREATE_SESSION. The new session is the last of `sessions`."""
        conn = conn or self.conn
        outcome = alone_in_time(conn, self.create_session_operation(**fields))
        made = granted(outcome, "CREATE_SESSION")
        if made is not None:
            self.create_sequence = (self.create_sequence + 1) & 0xFFFFFFFF
            asked = fields.get("csa_fore_chan_attrs", fore_channel())
            self.sessions.append(Nfs4Session(self, conn, made, asked))
        return outcome

    # -- the end -------------------------------------------------------------------------------

    @property
    def holds_state(self):
        """Whether the target may hold state of this client beyond its name."""
        return bool(self.sessions) or self.opens

    def discard(self, conn):
        """Discards the client's state on the target, over any connection: a restarted client has no
        state (RFC 8881 8.4.2). After a failure here, the leases expire."""
        again = Nfs4Client(conn, self.owner.decode(), bytes(each ^ 0xFF for each in self.verifier))
        try:
            again.replace()
        except NotTestable:
            pass  # the case is over

    def replace(self):
        """Replaces an earlier client of this name, whose state ends with it. Then removes itself."""
        if self.exchange_id().kind != kinds.REPLY:
            return
        self.create_session()
        if self.sessions:
            self.sessions[0].destroy()
        gone = operation("DESTROY_CLIENTID", dca_clientid=self.id)
        self.conn.exchange(self.conn.compound_call(gone))


class Nfs4Session:
    """A session: tracks its slots, and adds SEQUENCE before the operations of its calls."""

    def __init__(self, client, conn, granted, asked=None):
        """`asked`: nfs4.ChannelAttrs of the fore channel that the client requested, if not the usual."""
        self.client = client
        self.conn = conn
        self.granted = granted  # nfs4.CreateSessionOk
        self.fore = _lower(granted.csr_fore_chan_attrs, asked or fore_channel())
        self.id = granted.csr_sessionid
        self.sequences = {}  # slot: sequence id of its last request
        self.status_flags = 0  # of the last decoded SEQUENCE

    # -- what was granted ----------------------------------------------------------------------

    @property
    def slots(self):
        return self.fore.ca_maxrequests

    def unused_slot(self):
        """The last slot, which no request has used. Without one the case is not testable."""
        last = self.slots - 1
        if last in self.sequences:
            raise NotTestable("the session has fewer slots than the case uses")
        return last

    @property
    def largest_read(self):
        """The most octets of one READ whose reply fits ca_maxresponsesize."""
        return _room(self.fore.ca_maxresponsesize)

    @property
    def largest_write(self):
        """The most octets of one WRITE whose request fits ca_maxrequestsize."""
        return _room(self.fore.ca_maxrequestsize)

    # -- calls ---------------------------------------------------------------------------------

    def sequence(
        self, slot=0, number=None, highest=None, cachethis=False, session_id=None, beyond=False
    ):
        """SEQUENCE in this slot. Without `number` it is the slot's next request. If the slot was
        not granted, the case is not testable, unless `beyond` is set."""
        if slot >= self.slots and not beyond:
            raise NotTestable("the session has fewer slots than the case uses")
        if number is None:
            number = (self.sequences.get(slot, 0) + 1) & 0xFFFFFFFF
            self.sequences[slot] = number
        return operation(
            "SEQUENCE",
            sa_sessionid=self.id if session_id is None else session_id,
            sa_sequenceid=number,
            sa_slotid=slot,
            sa_highest_slotid=max(slot, *self.sequences, 0) if highest is None else highest,
            sa_cachethis=cachethis,
        )

    def call(self, *operations, conn=None, tag="", **sequence):
        """A COMPOUND of SEQUENCE and these operations. The keyword arguments are those of
        `sequence`."""
        first = self.sequence(**sequence)
        return (conn or self.conn).compound_call(first, *operations, tag=tag)

    def exchange(self, *operations, conn=None, **sequence):
        """Sends such a call once. Returns its Outcome."""
        conn = conn or self.conn
        outcome = conn.exchange(self.call(*operations, conn=conn, **sequence))
        self.note(outcome)
        return outcome

    def note(self, outcome):
        """Records the SEQUENCE result of an Outcome."""
        result = outcome.result
        if result is not None and "SEQUENCE" in result and int(result["SEQUENCE"].status) == 0:
            self.status_flags = result["SEQUENCE"].resok4.sr_status_flags

    def run(self, *operations, conn=None, **sequence):
        """The CompoundReply of idempotent operations that prepare a case, with retries."""
        outcome = self.exchange_in_time(*operations, conn=conn, **sequence)
        if outcome.kind != kinds.REPLY:
            detail = f"{outcome.detail}\n{outcome.trace()}"
            raise unprepared(self.conn.owed, names_of(operations), outcome.kind, detail)
        return outcome.result

    def exchange_in_time(self, *operations, conn=None, **sequence):
        """The Outcome of such a call, with retries; see in_time. With `number` each retry has this
        sequence ID."""
        conn = conn or self.conn
        what = names_of(operations) or "SEQUENCE"
        return in_time(conn, what, lambda: self._attempt(conn, operations, sequence))

    def _attempt(self, conn, operations, sequence):
        outcome = self.exchange(*operations, conn=conn, **sequence)
        if sequence.get("number") is None:
            self.take_back(outcome, sequence.get("slot", 0))
        return outcome

    def take_back(self, outcome, slot=0):
        """Takes back the sequence ID of a failed request. A SEQUENCE with NFS4ERR_DELAY is retried
        with the same ID (RFC 8881 15.1.1.3)."""
        if outcome.kind != DELAY or "SEQUENCE" not in outcome.result:
            return
        if int(outcome.result["SEQUENCE"].status) != 0:
            self.sequences[slot] = (self.sequences[slot] - 1) & 0xFFFFFFFF

    def outlast_grace(self):
        """Waits for the end of a grace period by OPEN of a missing file. Its other results do not
        matter."""
        operations = ("PUTROOTFH", self.open_operation("steertag-is-not-here"))
        in_time(self.conn, "OPEN", lambda: self._attempt(self.conn, operations, {}))

    def reclaim_complete(self):
        """RECLAIM_COMPLETE, before which the target may refuse opens (RFC 8881 18.51.3)."""
        self.run(operation("RECLAIM_COMPLETE"))

    def bind(self, conn, direction=NFS4.ChannelDirFromClient.CDFC4_FORE, rdma_mode=False, **fields):
        """The Outcome of BIND_CONN_TO_SESSION on this connection."""
        asked = {
            "bctsa_sessid": self.id,
            "bctsa_dir": direction,
            "bctsa_use_conn_in_rdma_mode": rdma_mode,
        }
        return alone_in_time(conn, operation("BIND_CONN_TO_SESSION", **{**asked, **fields}))

    def destroy(self, conn=None):
        """The Outcome of DESTROY_SESSION."""
        gone = operation("DESTROY_SESSION", dsa_sessionid=self.id)
        return alone_in_time(conn or self.conn, gone)

    # -- files ---------------------------------------------------------------------------------

    def open(self, directory, name, access=NFS4.OPEN4_SHARE_ACCESS_READ, owner=b"process", **more):
        """OPEN of a file in the directory with this handle: nfs4.OpenOk and the file's handle."""
        result = self.run(
            putfh(directory), self.open_operation(name, access, owner), "GETFH", **more
        )
        return result["OPEN"].resok4, result["GETFH"].resok4.object

    def open_operation(self, name, access=NFS4.OPEN4_SHARE_ACCESS_READ, owner=b"process"):
        """OPEN that neither creates nor denies."""
        self.client.opens = True
        return operation(
            "OPEN",
            share_access=access,
            share_deny=NFS4.OPEN4_SHARE_DENY_NONE,
            owner={"clientid": self.client.id, "owner": owner},
            claim={"claim": NFS4.ClaimType.CLAIM_NULL, "file": name},
        )

    def close(self, handle, stateid):
        """Sends CLOSE; its result is not judged."""
        self.run(putfh(handle), operation("CLOSE", open_stateid=stateid))

    def return_delegation(self, handle, stateid):
        """The Outcome of DELEGRETURN."""
        operations = (putfh(handle), operation("DELEGRETURN", deleg_stateid=stateid))
        return in_time(self.conn, "DELEGRETURN", lambda: self._attempt(self.conn, operations, {}))


def names_of(operations):
    """The names of these operations, for a reason."""
    return " ".join(each if isinstance(each, str) else each[0] for each in operations)


def _lower(granted, asked):
    """The granted channel, with the sizes that a session uses. No server may raise them (RFC 8881
    18.36.3); of one that does the session uses what was asked for."""
    sizes = ("ca_maxrequestsize", "ca_maxresponsesize", "ca_maxresponsesize_cached")
    lowered = {name: min(getattr(granted, name), getattr(asked, name)) for name in sizes}
    others = {name: getattr(granted, name) for name in ("ca_maxoperations", "ca_maxrequests")}
    return fore_channel(**lowered, **others)


def _room(most):
    """The octets of data in a message of `most` octets, after headers and operations."""
    most = min(most, LARGEST_MESSAGE)
    if most <= BESIDE_DATA:
        raise NotTestable("the session has no room for the data of a READ or WRITE")
    return most - BESIDE_DATA


def putfh(handle):
    return operation("PUTFH", object=handle)


def lookup(name):
    return operation("LOOKUP", objname=name)


def read(count, offset=0, stateid=None):
    """READ, by the anonymous stateid unless another is given."""
    return operation("READ", stateid=stateid or ANONYMOUS, offset=offset, count=count)


def write(data, offset=0, stateid=None, stable=NFS4.StableHow.FILE_SYNC4):
    """WRITE, likewise."""
    return operation("WRITE", stateid=stateid or ANONYMOUS, offset=offset, stable=stable, data=data)


def getattr_of(*attributes):
    """GETATTR of these attributes, names or numbers."""
    return operation("GETATTR", attr_request=NFS4.bitmap(*attributes))


class Nfs4Files:
    """NFS version 4 handles and paths of the files that `bench` makes by NFS version 3."""

    def __init__(self, bench, session):
        self.bench = bench
        self.session = session
        self._directory = None

    def path(self):
        """Operations from the root to the case's directory."""
        words = [word for word in export_of(self.bench.target).split("/") if word]
        return ["PUTROOTFH", *map(lookup, words), lookup(self.bench.files.base_name)]

    @property
    def directory(self):
        """The handle of the case's directory."""
        if self._directory is None:
            result = self.session.run(*self.path(), "GETFH")
            self._directory = result["GETFH"].resok4.object
        return self._directory

    def handle(self, name):
        """The handle of this name in the case's directory."""
        result = self.session.run(putfh(self.directory), lookup(name), "GETFH")
        return result["GETFH"].resok4.object

    def file(self, content=b"", name=None):
        """The handle of a new file with this content."""
        name = name or self.bench.name("file")
        self.bench.file(content, name)
        return self.handle(name)

    def sparse_file(self, length):
        """The handle of a new file of `length` octets, all zero."""
        name = self.bench.name("sparse")
        self.bench.files.sparse_file(length, name)
        return self.handle(name)

    def symlink(self, text):
        """The handle of a new symbolic link with this text."""
        name = self.bench.name("link")
        self.bench.symlink(text, name)
        return self.handle(name)
