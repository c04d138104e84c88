"""What came of one use of the client: its kind as a stable word, and everything that was seen."""

import dataclasses

from ... import fabric

# How verbs tells it (RFC 5040 has Terminate messages); a Send that meets no receive is repeated until
# its time is out.
_STARVED = fabric.ErrorCode.timed_out
_BROKEN = (_STARVED, fabric.ErrorCode.peer_terminated)
# RFC 5041 8.2, untagged buffer errors: no buffer available for the MSN; MSN out of range.
_DDP, _UNTAGGED, _NO_BUFFER = 1, 2, (2, 3)
# Connections whose trace a failure shows: the last ones.
MOST_TRACES = 2
# Octets of the copy that are looked at: a client may make a file of any size.
MOST_COPY = 1 << 20


@dataclasses.dataclass
class ClientOutcome:
    """The outcome of one run of the client command."""

    kind: str
    connections: list  # client_connection.ClientConnection, in the order of their requests
    copy: bytes | None  # the content of the file `copy`
    seconds: float
    pause_seconds: float  # the longest from one sign of the client to its next
    output: str = ""
    detail: str = ""  # one sentence for the reader, values allowed
    tells_ends: bool = True  # whether the provider tells who broke a connection

    @property
    def calls(self):
        """[(connection, Sent)]: all calls, in their order on each connection."""
        return [(conn, sent) for conn in self.connections for sent in conn.calls]

    def sends_of(self, xid):
        """How often a call with this XID was sent, on all connections together."""
        return sum(sent.xid == xid for _, sent in self.calls)

    def sends_on_one(self, xid):
        """How often at most a call with this XID was sent on one connection. On another it may be made
        again, if the first one ended before the client had its answer."""
        counts = (sum(sent.xid == xid for sent in conn.calls) for conn in self.connections)
        return max(counts, default=0)

    def lost_one(self):
        """Whether the client's provider broke a connection: for want of a receive, or because memory was
        not open."""
        return any(each.terminate_from_peer or each.code in _BROKEN for each in self._ends())

    def starved(self):
        """Whether a connection ended for want of a receive of the client."""
        return any(map(_is_starved, self._ends()))

    def may_have_starved(self):
        """The same, also where the provider does not tell."""
        return self.starved() or not self.tells_ends

    def asked_too_much(self):
        """Whether the suite's provider ended a connection, because of what the client asked of it."""
        return any(each.code == fabric.ErrorCode.protocol_error for each in self._ends())

    def _ends(self):
        return [conn.reason for conn in self.connections if conn.reason is not None]

    def trace(self, _requirement_id=""):
        """The end of each connection's trace, decoded; the last connections. No message alone is judged."""
        return "\n".join(conn.journal_text() for conn in self.connections[-MOST_TRACES:])


def _is_starved(reason):
    sent = reason.terminate
    if not reason.terminate_from_peer or sent is None:
        return reason.code == _STARVED
    return (sent.layer, sent.type) == (_DDP, _UNTAGGED) and sent.code in _NO_BUFFER


def copy_fault(source, copy, completed):
    """What is wrong with the octets of the copy, in one sentence, or None.

    Before the client has said that it is done, any part of the source may be missing. Then the file
    is shorter, or has a hole. The source has no zero octets.
    """
    if completed:
        if copy is None:
            return "the client said that it is done, and there is no copy"
        if len(copy) != len(source):
            return f"the copy has {_octets(copy)}, the source {len(source)}"
    if copy is None or copy == source[: len(copy)]:
        return None
    if len(copy) > len(source):
        return f"the copy has {_octets(copy)}, the source only {len(source)}"
    for place, (wrong, right) in enumerate(zip(copy, source)):
        if wrong != right and (completed or wrong != 0):
            return f"octet {place} of the copy is {wrong:#04x}, of the source {right:#04x}"
    return None


def _octets(copy):
    return f"{len(copy)} octets{' or more' if len(copy) == MOST_COPY else ''}"
