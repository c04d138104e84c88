"""What a case for clients can need, and whether the client has it.

The use of the unaltered server at the start of the session shows that.
"""

import dataclasses

from ... import nfs
from ..cases.case_end import NotTestable
from .script import (
    has_reply_chunk,
    is_plain,
    is_read,
    is_write,
    MOUNT,
    NFS,
    operations_of,
    procedure_of,
)

CLIENT_NEEDS = {
    "client-nfs3": "the client mounts with NFS version 3",
    "client-nfs4.1": "the client uses sessions of NFS version 4.1",
    "client-write-chunks": "the client offers write chunks for what it reads",
    "client-read-chunks": "the client sends what it writes in read chunks",
    "client-plain-calls": "the client makes calls without chunks",
    "client-reply-chunks": "the client offers reply chunks",
    "client-invalidation": "the client announces remote invalidation",
    "client-pipelining": "the client has several calls under way at a time",
    "client-private-data": "the client sends private data",
    "client-large-sends": "the client has Sends above 1024 octets where the server has room for 4096",
    "client-backchannel": "the client answers calls of the server on its own connection",
    "server-fault-hooks": "the provider can bend octets below the message level",
    "server-bent-packets": "the provider can bend packets of InfiniBand's transport",
    "server-exact-private-data": "the client gets private data as they were sent, and no zeros behind them",
}
# Needs of the provider, and the capability that it has.
_OF_PROVIDER = {
    "server-fault-hooks": "fault_hooks",
    "server-bent-packets": "bent_packets",
    "server-exact-private-data": "exact_private_data",
}
DEFAULT_INLINE_BYTES = 1024  # RFC 8166 3.3.3: what goes without private data
# Those that mean something over TCP. There a client counts as one with a backchannel that asks for it.
ANY_NEEDS = ("client-nfs3", "client-nfs4.1", "client-backchannel")
EXCHANGE_ID, CREATE_SESSION = 42, 43  # RFC 8881 16.2.1: nfs_opnum4
BACK_CHANNEL = nfs.nfs4.CREATE_SESSION4_FLAG_CONN_BACK_CHAN
# Of what can be declared only by the use itself.
_BY_USE = "the client never did so with an unaltered server"

# How long a client is silent before a script counts it as quiet. The unit is the longest pause of a
# run with an unaltered server. The time has a floor and a ceiling. It is below the time after which
# clients send a call again: a mount with timeo=20 waits two seconds. So a reply that is held until
# then is not taken for lost. A slower client counts as quiet too early: it may still do later what
# a case looks for. A case does not fail for what it has not seen.
QUIET_PAUSES = 2
QUIET_FLOOR_MS = 100
QUIET_CEILING_MS = 1000


@dataclasses.dataclass
class Habits:
    """How the client uses a server that conforms."""

    versions: set = dataclasses.field(default_factory=set)  # of NFS
    has: set = dataclasses.field(default_factory=set)  # needs
    connections: int | None = None  # those with calls of one run; None: not known
    seconds: float = 0.0  # one run
    pause_seconds: float = 0.0  # the longest in it in which nothing came from the client

    @property
    def quiet_ms(self):
        """How long the client says nothing until it has no more to say."""
        pauses_ms = QUIET_PAUSES * self.pause_seconds * 1000
        return min(max(QUIET_FLOOR_MS, pauses_ms), QUIET_CEILING_MS)

    def note(self, reply):
        """A reply of the server, for the call that it answers."""
        procedure = reply.procedure
        if procedure and procedure[0] == NFS and procedure[2]:
            self.versions.add(procedure[1])
            if procedure[1] == 3:
                self.has.add("client-nfs3")
        if procedure and procedure[0] == MOUNT:
            self.has.add("client-nfs3")
        for need, holds in (
            ("client-write-chunks", is_read),
            ("client-read-chunks", is_write),
            ("client-plain-calls", is_plain),
            ("client-reply-chunks", has_reply_chunk),
        ):
            if holds(reply):
                self.has.add(need)
        if is_exchange_id(reply):
            self.has.add("client-nfs4.1")

    def note_call(self, call):
        """An RPC call over TCP."""
        procedure = procedure_of(call)
        if procedure and procedure[0] == NFS and procedure[2]:
            self.versions.add(procedure[1])
            if procedure[1] == 3:
                self.has.add("client-nfs3")
        for number, arguments in operations_of(call):
            if number == EXCHANGE_ID:
                self.has.add("client-nfs4.1")
            if number == CREATE_SESSION and arguments.csa_flags & BACK_CHANNEL:
                self.has.add("client-backchannel")

    def note_connection(self, conn):
        if any(len(sent.octets) > DEFAULT_INLINE_BYTES for sent in conn.sent):
            self.has.add("client-large-sends")
        if conn.client_data:
            self.has.add("client-private-data")
        if conn.announced is not None and conn.announced.remote_invalidation:
            self.has.add("client-invalidation")


def is_exchange_id(reply):
    """Whether the call is the COMPOUND of NFSv4.1 with which a client makes itself known (RFC 8881
    18.35)."""
    return (reply.operation or (None,))[0] == EXCHANGE_ID


def check_client_need(need, habits, capabilities):
    """Raises NotTestable unless the client, or the provider, has it."""
    if need in _OF_PROVIDER:
        if not getattr(capabilities, _OF_PROVIDER[need]):
            raise NotTestable(f"needs {need}: {CLIENT_NEEDS[need]}")
    elif need not in habits.has:
        raise NotTestable(f"needs {need}: {CLIENT_NEEDS[need]}; {_BY_USE}")
