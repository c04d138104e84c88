"""Scripts of the suite's own server: what it does otherwise than the reference server.

A script sees each connection request, each message that arrives, and each message that is about to
leave. A case gives functions for what it is interested in; the server conforms in everything else.
"""

import dataclasses

from ... import mutate, nfs, rpc, wire

NFS, MOUNT = 100003, 100005
SEQUENCE = 53  # RFC 8881 16.2.1: nfs_opnum4
SESSION_ID_OCTETS = 16
# Mutations that make an RDMA_ERROR of a reply.
ERR_CHUNK, ERR_VERS = "procedure.error-err-chunk", "procedure.error-err-vers"


@dataclasses.dataclass(frozen=True)
class Sequence:
    """What a request is to its session (RFC 8881 18.46.1)."""

    session: bytes
    slot: int
    number: int  # sa_sequenceid
    highest: int = dataclasses.field(default=0, compare=False)  # sa_highest_slotid

    def same_slot(self, other):
        return other is not None and (self.session, self.slot) == (other.session, other.slot)


class Script:
    """The methods are called from inside the server's poll; a case overrides what it needs. `bench`
    is the client_bench.ClientBench that runs it."""

    bench = None

    def on_request(self, step):
        """A connection request: `step` is a peer.AcceptStep, which may be changed."""

    def on_optimistic(self, conn, step):
        """A request for an optimistic connection: `step` is a peer.OptimisticStep, `conn` a
        client_connection.OptimisticConnection."""

    def source(self, octets):
        """The octets of the file `source`, in place of these."""
        return octets

    def on_data_request(self, server, step):
        """The same at the data server of this number. Its connections come to the methods below too, by their
        `server`."""

    def on_accepted(self, conn):
        """The request was accepted; `conn` is a client_connection.ClientConnection."""

    def on_arrival(self, conn, message):
        """True: the server does not look at these octets."""
        return False

    def on_call(self, conn, call):
        """A whole RPC call, before it is executed; the octets of another in its place, or None."""

    def on_reply(self, conn, call, reply):
        """A whole RPC reply to `call`, before its form is chosen; the octets of another in its place, or None.
        The other one has no item in a write chunk."""

    def on_departure(self, reply):
        """True: nothing of this Reply is posted but what the case posts."""
        return False

    def on_read(self, conn, number, octets):
        """The octets of an RDMA Read of ours."""

    def on_down(self, conn, reason):
        """A connection has ended; `reason` is a fabric.CloseReason."""

    def on_quiet(self):
        """Nothing has come from the client for a while."""

    def on_poll(self):
        """The server has looked for packets. Packets that are no message show in a capture only."""


class ReplyInterposer(Script):
    """A script made of functions.

    reply(reply)      gets the replies for which `when(reply)` holds, the first `times` of them
                      (None: all), and posts what it wants instead of them.
    request(step)     gets every connection request.
    accepted(conn), arrival(conn, message) -> taken, down(conn, reason), quiet()
    """

    def __init__(
        self,
        reply=None,
        when=None,
        times=1,
        request=None,
        accepted=None,
        arrival=None,
        down=None,
        read=None,
        quiet=None,
    ):
        self.fired = 0  # replies that `reply` got
        self._reply, self._when, self._times = reply, when or (lambda reply: True), times
        self._request, self._accepted, self._arrival = request, accepted, arrival
        self._down, self._read, self._quiet = down, read, quiet

    @property
    def waits(self):
        """No reply came for which `when` holds."""
        return self._reply is not None and self.fired == 0

    def on_request(self, step):
        if self._request:
            self._request(step)

    def on_accepted(self, conn):
        if self._accepted:
            self._accepted(conn)

    def on_arrival(self, conn, message):
        return bool(self._arrival and self._arrival(conn, message))

    def on_departure(self, reply):
        if self._reply is None or self._times is not None and self.fired >= self._times:
            return False
        if reply.kind == "callback" or not self._when(reply):
            return False
        self.fired += 1
        self._reply(reply)
        return True

    def on_read(self, conn, number, octets):
        if self._read:
            self._read(conn, number, octets)

    def on_down(self, conn, reason):
        if self._down:
            self._down(conn, reason)

    def on_quiet(self):
        if self._quiet:
            self._quiet()


class Reply:
    """A message that the reference server was about to send.

    `raw` is the peer.InterposedConnection on which a case posts other messages.
    """

    def __init__(self, conn, departure):
        self.conn = conn
        self.raw = conn.raw
        self.kind = departure.kind  # reply, error or callback
        self.call = departure.call  # wire.Header of the call
        self.rpc_call = departure.rpc_call
        self.message = departure.message
        self.writes = departure.writes
        self.invalidate = departure.invalidate

    # -- what it answers -----------------------------------------------------------------------

    @property
    def xid(self):
        return self.call.xid

    @property
    def procedure(self):
        """(program, version, procedure) of the call; None if it is none that decodes."""
        return procedure_of(self.rpc_call)

    @property
    def operation(self):
        """(number, octets behind it) of the first operation of a COMPOUND of NFSv4.1; None of any other
        call."""
        return operation_of(self.rpc_call)

    @property
    def sequence(self):
        """The Sequence of the call; None of one without."""
        return sequence_of(self.rpc_call)

    @property
    def stags(self):
        """The STags that the call offers, the write list's first."""
        return stags_of(self.call)

    @property
    def offered_again(self):
        """Whether another call on the connection has offered one of these STags: then its memory may be
        open for that one."""
        others = (each.header for each in self.conn.calls if each.xid != self.xid)
        return any(not set(self.stags).isdisjoint(stags_of(header)) for header in others)

    @property
    def header(self):
        return wire.decode(self.message)[0]

    @property
    def payload(self):
        return wire.decode(self.message)[1]

    # -- what to post --------------------------------------------------------------------------

    def draft(self):
        """The message as a new wire.Draft, which may be made illegal."""
        return wire.draft_of(self.message)

    def mutated(self, *mutations):
        """The message as a new wire.Draft, after these mutations of steertag.mutate."""
        return mutate.mutated(self.draft(), *mutations)

    def send_mutated(self, *mutations, invalidate=None):
        """Posts a Send of the message after these mutations."""
        self.send(self.mutated(*mutations), invalidate)

    def push(self, writes=None, fault=None):
        """Posts the RDMA Writes, each with a fabric.Fault if there is one."""
        for write in self.writes if writes is None else writes:
            self.raw.write(write.octets, write.stag, write.offset, fault)

    def send(self, message=None, invalidate=None, fault=None):
        """Posts a Send of a wire.Draft, or of octets; without any, of the reply as it was. A fabric.Fault bends it
        below its octets."""
        octets = self.message if message is None else message
        if message is None and self.kind == "reply":
            self.conn.answered.add(self.xid)
        if isinstance(octets, wire.Draft):
            octets = wire.encode(octets)
        self.raw.send(octets, invalidate=invalidate, fault=fault)

    def conform(self):
        """Posts everything as the reference server would have."""
        self.push()
        self.send(invalidate=self.invalidate)

    def conform_late(self):
        """The same, unless the connection has ended since."""
        if self.raw.up:
            self.conform()


def _word(octets, at):
    return int.from_bytes(octets[at : at + 4], "big")


def procedure_of(rpc_call):
    """(program, version, procedure) of the call; None if it is none that decodes."""
    if len(rpc_call) < 24:
        return None
    return tuple(_word(rpc_call, at) for at in (12, 16, 20))


def operation_of(rpc_call):
    """(number, octets behind it) of the first operation of a COMPOUND of NFSv4.1 (RFC 8881 16.2.1); None of
    any other call."""
    if procedure_of(rpc_call) != (NFS, 4, 1):
        return None
    try:
        _, arguments = rpc.Call.decode(rpc_call)
    except wire.DecodeError:
        return None
    # tag, minorversion, number of operations, the first one's number
    at = -(-_word(arguments, 0) // 4) * 4 + 4
    minor, count, number = (_word(arguments, at + 4 * i) for i in range(3))
    return (number, bytes(arguments[at + 12 :])) if minor == 1 and count > 0 else None


def operations_of(rpc_call):
    """[(nfs4.Opnum, arguments)] of a whole COMPOUND of NFSv4.1; [] of any other call."""
    if operation_of(rpc_call) is None:
        return []
    try:
        return nfs.nfs4.decode_args(rpc.Call.decode(rpc_call)[1])[1]
    except wire.DecodeError:
        return []


def sequence_of(rpc_call):
    """The Sequence of the call; None of one without."""
    number, rest = operation_of(rpc_call) or (None, b"")
    if number != SEQUENCE or len(rest) < SESSION_ID_OCTETS + 12:
        return None
    number, slot, highest = (_word(rest, SESSION_ID_OCTETS + at) for at in (0, 4, 8))
    return Sequence(session=rest[:SESSION_ID_OCTETS], slot=slot, number=number, highest=highest)


def stags_of(header):
    """The STags that a wire.Header names, the write list's first."""
    found = [segment.handle for chunk in header.write_list for segment in chunk]
    found += [entry.target.handle for entry in header.read_list]
    return found + [segment.handle for segment in header.reply_chunk or []]


# -- which reply: predicates for ReplyInterposer's `when` ---------------------------------------------------


def is_read(reply):
    """Its call offers a write chunk."""
    return reply.kind == "reply" and any(len(chunk) for chunk in reply.call.write_list)


def is_write(reply):
    """Its call brings data in a read chunk."""
    return reply.kind == "reply" and any(entry.position for entry in reply.call.read_list)


def has_reply_chunk(reply):
    """Its call offers a reply chunk."""
    return reply.kind == "reply" and bool(reply.call.reply_chunk)


def is_plain(reply):
    """Its call has no chunks at all."""
    call = reply.call
    return reply.kind == "reply" and not (call.write_list or call.read_list or call.reply_chunk)


def nth(number, when=lambda reply: True):
    """The reply with this number, from 1, among those for which `when` holds."""
    seen = []

    def matches(reply):
        if not when(reply):
            return False
        seen.append(1)
        return len(seen) == number

    return matches


def reverse_call(
    xid, program=0x40000000, version=1, procedure=0, credit=1, payload=b"", credential=None
):
    """A wire.Draft of an RPC call in the reverse direction (RFC 8167), with AUTH_NONE unless there is an
    rpc.OpaqueAuth."""
    header = rpc.Call(xid=xid, program=program, version=version, procedure=procedure)
    if credential is not None:
        header.credential = credential
    return wire.Draft(xid=xid, credit=credit, payload=header.encode(payload))
