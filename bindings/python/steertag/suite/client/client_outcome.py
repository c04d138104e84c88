"""What came of one use of the client: its kind as a stable word, and everything that was seen."""

import dataclasses

from ... import fabric

# How verbs tells it (RFC 5040 has Terminate messages); a Send that meets no receive is repeated until
# its time is out.
_STARVED = fabric.ErrorCode.timed_out
_BROKEN = (_STARVED, fabric.ErrorCode.peer_terminated)
# How a client ends a connection by itself.
_ENDS = (fabric.ErrorCode.peer_closed, fabric.ErrorCode.peer_reset)
# RFC 5041 8.2, untagged buffer errors: no buffer available for the MSN; MSN out of range.
_DDP, _UNTAGGED, _NO_BUFFER = 1, 2, (2, 3)
# Connections whose trace a failure shows: the last ones.
MOST_TRACES = 2
# Octets of the copy that are looked at: a client may make a file of any size.
MOST_COPY = 4 << 20


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
        return bool(self.starving())

    def may_have_starved(self):
        """The same, also where the provider does not tell."""
        return self.starved() or not self.tells_ends

    def starving(self):
        """The connections that ended for want of a receive of the client."""
        ended = (conn for conn in self.connections if conn.reason is not None)
        return [conn for conn in ended if _is_starved(conn.reason)]

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


def left_connection(connections, usual):
    """In one sentence, which connection the client has ended before it was done; or None.

    `usual` is the number of connections with calls in a use of the unaltered server; None: not known. The
    client has not given up a connection that this side has ended, or that a Terminate has. Another takes the place
    of each of those. How long it keeps those to data servers is its own affair.
    """
    used = [conn for conn in connections if conn.calls and conn.server is None]
    ended = [conn for conn in used if conn.reason is not None and conn.reason.code in _ENDS]
    for conn in ended:
        later = used[used.index(conn) + 1 :]
        again = {sent.xid for other in later for sent in other.calls} & conn.answered
        if again:
            return (
                f"the client has ended a connection ({conn.reason}), and made the call with XID"
                f" {min(again):#010x} again, to which the reply was sent"
            )
    if usual is not None and len(ended) > usual:
        return (
            f"the client has ended a connection ({ended[0].reason}) before it was done: it has ended"
            f" {len(ended)}, and {usual} with a server that conforms"
        )
    return None


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
