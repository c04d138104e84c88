"""A connection of the client under test to the suite's server, as cases look at it."""

import dataclasses

from ... import rpc, trace, wire
from ..cases.finding import of_judge
from ..rdma.journal import journal_text, trace_lines


@dataclasses.dataclass(frozen=True)
class Sent:
    """A message of the client. `header` is None if it does not decode."""

    octets: bytes
    header: object
    payload: bytes

    @property
    def xid(self):
        return int.from_bytes(self.octets[:4], "big")

    @property
    def is_call(self):
        """An RPC call inside, or in a position-zero chunk."""
        if self.header is None or self.header.proc == wire.Procedure.ERROR:
            return False
        if self.header.proc == wire.Procedure.NOMSG:
            return True
        return rpc.direction(self.payload) == rpc.MessageType.CALL

    @property
    def is_reply(self):
        """An RPC reply inside: the answer to a call of ours."""
        if self.header is None or self.header.proc != wire.Procedure.MSG:
            return False
        return rpc.direction(self.payload) == rpc.MessageType.REPLY

    @property
    def is_error(self):
        return self.header is not None and self.header.proc == wire.Procedure.ERROR


class ClientConnection:
    """Made when the request is accepted. `raw` posts on it."""

    def __init__(self, watch, client_data):
        self.watch = watch
        self.client_data = client_data  # Private data of the request.
        self.raw = None  # The peer.InterposedConnection, once it is accepted.
        self.server = None  # The number of the data server, from 0; None: the metadata server.
        self.reason = None  # The fabric.CloseReason, once it has ended.
        self.posted = 0  # Messages that a case has posted by itself.
        # XIDs of the calls whose replies were sent as the server has them.
        self.answered = set()

    @property
    def number(self):
        return self.raw.number

    @property
    def announced(self):
        """The wire.PrivateData that the client announced, or None."""
        found = wire.find_private_data(self.client_data)
        return found.data if found is not None else None

    @property
    def sent(self):
        """[Sent]: everything that the client has sent so far."""
        return [
            sent_from(event.bytes)
            for event in self.watch.recorder.events()
            if event.kind == "send" and event.actor == trace.Role.client
        ]

    @property
    def calls(self):
        """[Sent]: its calls."""
        return [each for each in self.sent if each.is_call]

    def findings(self):
        """What the judge has against either side; the client is the target."""
        return [of_judge(one, trace.Role.client) for one in self.watch.judge.findings]

    def trace_lines(self):
        """[traces Line]: the end of the trace."""
        return trace_lines(self.watch.recorder, self.findings())

    def journal_text(self):
        return journal_text(self.watch.recorder, self.trace_lines())


class OptimisticConnection(ClientConnection):
    """An optimistic connection of direct access. It carries RDMA Reads, and no messages."""

    @property
    def number(self):
        return self.watch.number

    @property
    def reads(self):
        """[STag]: of the RDMA Reads that have come so far."""
        return [
            event.source_stag
            for event in self.watch.recorder.events()
            if event.kind == "rdma_read" and event.actor == trace.Role.client
        ]


@dataclasses.dataclass(frozen=True)
class StreamConnection:
    """A connection over TCP. Of its messages only RPC calls and replies are seen."""

    number: int
    server: int | None  # as in ClientConnection
    raw: object = None  # nothing else can be posted on it


def sent_from(octets):
    """The Sent that these octets are."""
    try:
        header, payload = wire.decode(octets)
    except wire.DecodeError:
        return Sent(bytes(octets), None, b"")
    return Sent(bytes(octets), header, payload)
