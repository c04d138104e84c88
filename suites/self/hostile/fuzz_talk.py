"""The connections of a client of the suite to the fuzzed server, and calls that have to succeed."""

from steertag import nfs
from steertag.suite import kinds
from steertag.suite.exchange.callbacks import Callbacks
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.nfs4_client import Nfs4Client
from steertag.suite.rdma.rdma_link import RdmaLink
from steertag.suite.run.profile import Profile
from steertag.suite.tcp.record_link import RecordLink

MOUNT, NFS4 = nfs.mount3, nfs.nfs4
EXPORT = "export"
# From the request of a connection until it is up.
CONNECT_LIMIT_MS = 1000
# Between two attempts where the server asks for a retry.
PAUSE_MS = 50
# Octets of a reply with names or attributes: more than fits inline.
LISTING_OCTETS = 8192


class Ended(RuntimeError):
    """The server did not do what the use needs."""


class Limits:
    """The deadlines of a client that waits so long for each answer."""

    patience_ms = PAUSE_MS

    def __init__(self, limit_s):
        self.answer_ms = int(limit_s * 1000)


class Talk:
    """Connections to one server; `conn` is the first."""

    def __init__(self, url, limit_s):
        link = RecordLink if url.startswith("tcp:") else RdmaLink
        self._link = link(url, Profile())
        self._limits = Limits(limit_s)
        self._connections = []
        self.conn = self.connect()

    def connect(self):
        """Another connection, which answers calls of the server."""
        conn = self._link.helper(self._limits, CONNECT_LIMIT_MS)
        Callbacks(conn)
        self._connections.append(conn)
        return conn

    def close(self):
        """Ends all connections in good order."""
        for conn in self._connections:
            conn.close()

    # -- calls ---------------------------------------------------------------------------------

    def ask(self, call, conn=None):
        """The result of a call that has to succeed."""
        return result_of((conn or self.conn).exchange(call))

    def call3(self, procedure, result_octets=0, **fields):
        """The result of a call of NFS version 3. `result_octets`: of the data that it asks for."""
        call = self.conn.nfs_call(procedure, **fields)
        self.conn.make_fit(call)
        if result_octets:
            self.conn.carry_result(call, result_octets)
        return self.ask(call)

    def listing3(self, procedure, **fields):
        """The same with room for a long reply."""
        call = self.conn.nfs_call(procedure, **fields)
        self.conn.make_room(call, LISTING_OCTETS)
        return self.ask(call)

    def mount(self):
        """The handle of the export's root, by MOUNT over the same connection."""
        asked = (MOUNT.PROGRAM, MOUNT.VERSION, int(MOUNT.Procedure["MNT"]))
        arguments = MOUNT.encode_args("MNT", MOUNT.DirPath(path=f"/{EXPORT}"))
        credential = self.conn.credential
        return self.ask(self.conn.rpc_call(*asked, arguments, credential)).fhandle

    def session(self, conn, owner, **fields):
        """A session of NFS version 4.1 of a new client. `fields` are of CREATE_SESSION."""
        client = Nfs4Client(conn, owner)
        result_of(client.exchange_id())
        result_of(client.create_session(**fields))
        client.sessions[0].reclaim_complete()
        return client.sessions[0]

    def end(self, session):
        """Ends the session and its client."""
        result_of(session.destroy())
        gone = operation("DESTROY_CLIENTID", dca_clientid=session.client.id)
        self.ask(session.conn.compound_call(gone), session.conn)


def result_of(outcome):
    """The result of a call that has to succeed."""
    if outcome.kind != kinds.REPLY:
        raise Ended(f"{outcome.call.asked if outcome.call else 'a message'}: {outcome.kind}")
    return outcome.result


def where(directory, name):
    """diropargs3"""
    return {"dir": directory, "name": name}
