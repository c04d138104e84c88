"""A decoded line: one message, RDMA operation or event of a connection, for text and for drawings."""

import dataclasses

# Begins the text of a line in which the target breaks a requirement.
MARK = ">"
TO_SERVER, TO_CLIENT, LOCAL = "->", "<-", "  "


@dataclasses.dataclass(frozen=True)
class ChunkReference:
    """A segment of a chunk, or the range of one that an RDMA Write or Read touches."""

    kind: str  # "read", "position-zero", "write" or "reply"
    xid: int  # rdma_xid of the call that offers it
    chunk: int  # from 1, among the chunks of its kind
    segment: int  # from 1
    handle: int
    offset: int  # octets; of a Write or Read, the address that it names
    length: int  # octets
    position: int | None = None  # of a read chunk

    @property
    def name(self):
        """ "write chunk 1", "reply chunk" """
        if self.kind == "read":
            return f"read chunk at position {self.position}"
        return f"{self.kind} chunk {self.chunk}" if self.kind == "write" else f"{self.kind} chunk"


@dataclasses.dataclass(frozen=True)
class Violation:
    """A requirement that is broken at an event."""

    event: int  # index of the event
    requirement: str  # id in the ledger
    text: str = ""  # one sentence with values
    by_target: bool = True  # False: our own side, as a hostile case does on purpose


@dataclasses.dataclass(frozen=True)
class Line:
    """One event in words."""

    number: int  # Of the event on its connection, from 0.
    connection: object  # Number from 1 in a capture, name ("c0") in a recording.
    time_s: float | None  # Since the first event; None: no time is known.
    direction: str  # TO_SERVER, TO_CLIENT, or LOCAL for what passes no wire.
    kind: str  # See event.py.
    text: str
    octets: bytes = b""  # Of a message, or the payload of an RDMA Write.
    chunks: tuple = ()  # Of ChunkReference: offered or returned by a header, or touched.
    violations: tuple = ()  # Of Violation.
    last: int = -1  # Number of the last event of merged RDMA operations; -1: `number`.
    operation: str = ""  # What the call asks for that it is of, as "NFSv3 READ"; "" if unknown.

    @property
    def sender(self):
        """ "client", "server", or "" for what passes no wire."""
        return {TO_SERVER: "client", TO_CLIENT: "server"}.get(self.direction, "")

    @property
    def events(self):
        """The indexes of its event, or of all merged ones."""
        return range(self.number, max(self.number, self.last) + 1)

    @property
    def is_marked(self):
        """Whether the target breaks a requirement here."""
        return any(each.by_target for each in self.violations)

    def row(self):
        """The line in JSON types, without octets; empty fields are left out."""
        row = {
            "number": self.number,
            "connection": self.connection,
            "time_s": None if self.time_s is None else round(self.time_s, 6),
            "direction": self.direction.strip(),
            "kind": self.kind,
            "text": self.text,
            "chunks": [dataclasses.asdict(each) for each in self.chunks],
            "violations": [dataclasses.asdict(each) for each in self.violations],
        }
        return {key: value for key, value in row.items() if value not in (None, "", [])}
