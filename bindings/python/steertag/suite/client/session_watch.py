"""A script that notes how a client of NFS version 4.1 uses its session (RFC 8881 2.10).

Also replies whose SEQUENCE says something else.
"""

import dataclasses

from ... import nfs, peer, rpc, wire
from ..nfs_client.compound import read_compound
from .script import operations_of, Script, SEQUENCE

NFS4 = nfs.nfs4
# In SEQUENCE4resok, behind sr_sessionid, sr_sequenceid and sr_slotid.
_HIGHEST_AT, _TARGET_AT, _FLAGS_AT, _RESULT_OCTETS = 24, 28, 32, 36


@dataclasses.dataclass(frozen=True)
class Step:
    """A COMPOUND that the server has answered."""

    conn: object  # client_connection.ClientConnection
    operations: tuple  # (nfs4.Opnum, arguments), in order
    reply: object  # compound.CompoundReply; None if it does not decode

    @property
    def names(self):
        return tuple(number.name for number, _ in self.operations)

    def __contains__(self, name):
        return name in self.names

    def __getitem__(self, name):
        """The arguments of the first operation of this name; KeyError if there is none."""
        for number, arguments in self.operations:
            if number.name == name:
                return arguments
        raise KeyError(name)

    @property
    def session(self):
        """The id of the session that it is about; None if it is about none."""
        if "CREATE_SESSION" in self:
            return bytes(self.made.csr_sessionid) if self.made else None
        for name, field in (
            ("SEQUENCE", "sa_sessionid"),
            ("BIND_CONN_TO_SESSION", "bctsa_sessid"),
            ("DESTROY_SESSION", "dsa_sessionid"),
        ):
            if name in self:
                return bytes(getattr(self[name], field))
        return None

    def result(self, name):
        """The result of the first operation of this name if that was executed well; else None."""
        if self.reply is None or name not in self.reply:
            return None
        result = self.reply[name]
        return result.resok4 if int(result.status) == 0 else None

    @property
    def made(self):
        """nfs4.CreateSessionOk of a CREATE_SESSION that made a session; else None."""
        return self.result("CREATE_SESSION") if "CREATE_SESSION" in self else None

    @property
    def asks_for_callbacks(self):
        """Whether it is to make its connection part of a backchannel (RFC 8881 18.34.3, 18.36.3)."""
        if "CREATE_SESSION" in self:
            flags = self["CREATE_SESSION"].csa_flags
            return bool(flags & NFS4.CREATE_SESSION4_FLAG_CONN_BACK_CHAN)
        if "BIND_CONN_TO_SESSION" in self:
            fore = NFS4.ChannelDirFromClient.CDFC4_FORE
            return self["BIND_CONN_TO_SESSION"].bctsa_dir != fore
        return False


class SessionWatch(Script):
    """Keeps every COMPOUND with its reply. Overriding scripts call `note` with each reply, or
    super().on_departure()."""

    def __init__(self):
        self.steps = []  # Step, in the order of the replies

    def note(self, reply):
        """The Step that the reply answers; None if it answers no COMPOUND of NFSv4.1."""
        operations = operations_of(reply.rpc_call) if reply.kind == "reply" else []
        if not operations:
            return None
        step = Step(reply.conn, tuple(operations), _read(reply))
        self.steps.append(step)
        return step

    def on_departure(self, reply):
        self.note(reply)
        return False

    def binds(self, session):
        """The steps that were to make a connection part of this session's backchannel."""
        return [
            step
            for step in self.steps
            if "BIND_CONN_TO_SESSION" in step
            and step.session == session
            and step.asks_for_callbacks
        ]

    def has_left(self, session):
        """Whether the client went on in a session that it has made later."""
        names = [step.session for step in self.steps if "CREATE_SESSION" in step]
        return session in names and names[-1] not in (session, None)


def _read(reply):
    try:
        _, body = rpc.Reply.decode(rpc_reply_of(reply))
        return read_compound(body)
    except wire.DecodeError:
        return None  # an RPC error, or an item that is in a write chunk


def rpc_reply_of(reply):
    """The RPC message of a Reply, without what goes into write chunks."""
    if reply.header.proc != wire.Procedure.NOMSG:
        return bytes(reply.payload)
    stags = {segment.handle for segment in reply.call.reply_chunk or []}
    return b"".join(bytes(write.octets) for write in reply.writes if write.stag in stags)


def _sequence_result_at(octets):
    """Where SEQUENCE4resok begins in an RPC reply; None if it does not begin with one."""
    try:
        header, body = rpc.Reply.decode(octets)
    except wire.DecodeError:
        return None
    if header.status != rpc.ReplyStatus.MSG_ACCEPTED:
        return None
    words = [int.from_bytes(body[at : at + 4], "big") for at in (0, 4)]
    tag_octets = -(-words[1] // 4) * 4
    # status, tag<>, count, resop, the status of SEQUENCE
    at = 8 + tag_octets
    first, status = (int.from_bytes(body[at + 4 + i : at + 8 + i], "big") for i in (0, 4))
    if len(body) < at + 12 + _RESULT_OCTETS or first != SEQUENCE or status != 0:
        return None
    return len(octets) - len(body) + at + 12


def conform_but(reply, target=None, flags=0, highest=None):
    """Posts a Reply in which SEQUENCE gives this sr_target_highest_slotid and sr_highest_slotid, and sets
    these sr_status_flags besides; whether there was such a result."""
    octets = bytearray(rpc_reply_of(reply))
    start = _sequence_result_at(bytes(octets))
    if start is None:
        reply.conform()
        return False
    for slot, at in ((highest, start + _HIGHEST_AT), (target, start + _TARGET_AT)):
        if slot is not None:
            octets[at : at + 4] = slot.to_bytes(4, "big")
    at = start + _FLAGS_AT
    flags |= int.from_bytes(octets[at : at + 4], "big")
    octets[at : at + 4] = flags.to_bytes(4, "big")
    conform_with(reply, bytes(octets))
    return True


def conform_with(reply, octets):
    """Posts a Reply with this RPC message, as long as its own if that is in the reply chunk."""
    writes, draft = reply.writes, reply.draft()
    if reply.header.proc == wire.Procedure.NOMSG:
        writes = _rewritten(reply, octets)
    else:
        draft.payload = octets
    reply.push(writes)
    reply.send(draft, invalidate=reply.invalidate)


def _rewritten(reply, octets):
    """The RDMA Writes of a long reply, with these octets in its reply chunk."""
    stags = {segment.handle for segment in reply.call.reply_chunk or []}
    made, at = [], 0
    for write in reply.writes:
        if write.stag in stags:
            length = len(write.octets)
            new = octets[at : at + length]
            write = peer.RemoteWrite(stag=write.stag, offset=write.offset, octets=new)
            at += length
        made.append(write)
    return made
