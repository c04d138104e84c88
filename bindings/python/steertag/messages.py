"""The values of steertag.wire: segments, headers and drafts as plain data classes.

They hold what Python holds: lists are lists, and every field can be set. The engine checks them when
they are used; a field that does not fit its wire width raises ValueError with the field's path, as in
"Draft.write_list[0].segments[1].length".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum


class Procedure(IntEnum):
    """rdma_proc (RFC 8166 4.2.4)."""

    MSG = 0
    NOMSG = 1
    MSGP = 2
    DONE = 3
    ERROR = 4


class ErrorCode(IntEnum):
    """rdma_err (RFC 8166 4.1.2)."""

    VERS = 1
    CHUNK = 2


class DecodeError(ValueError):
    """Octets that do not decode.

    `code` is the fault's name ("truncated", "bad_count", ...), `offset` the first octet of the field
    that is wrong, `field` the name of that field.
    """

    def __init__(self, message: str, code: str = "", offset: int = 0, field: str = "") -> None:
        super().__init__(message, code, offset, field)
        self.code = code
        self.offset = offset
        self.field = field

    def __str__(self) -> str:
        return self.args[0]


@dataclass(slots=True)
class Segment:
    """A plain segment (RFC 8166 3.4.3): STag, octets, and the 64-bit offset in the region."""

    handle: int = 0
    length: int = 0
    offset: int = 0


@dataclass(slots=True)
class ReadSegment:
    """A read segment (RFC 8166 3.4.5): octets into the unreduced payload stream, and the memory."""

    position: int = 0
    target: Segment = field(default_factory=Segment)


@dataclass(slots=True)
class Header:
    """A legal transport header (RFC 8166 4.1.2); fields that a procedure lacks keep defaults."""

    xid: int = 0
    vers: int = 1
    credit: int = 0
    proc: int = Procedure.MSG
    read_list: list[ReadSegment] = field(default_factory=list)
    write_list: list[list[Segment]] = field(default_factory=list)
    reply_chunk: list[Segment] | None = None
    align: int = 0
    thresh: int = 0
    error: int = ErrorCode.CHUNK
    vers_low: int = 0
    vers_high: int = 0


@dataclass(slots=True)
class FixedWords:
    """The four words that mean the same in every version (RFC 8166 4.2), whatever they hold."""

    xid: int
    vers: int
    credit: int
    proc: int


@dataclass(slots=True)
class DraftReadEntry:
    """A presence word and the read segment behind it, which is written unless `omit_body`."""

    segment: ReadSegment = field(default_factory=ReadSegment)
    presence: int = 1
    omit_body: bool = False


@dataclass(slots=True)
class DraftChunk:
    """A write or reply chunk. `count` None writes the true number of segments."""

    segments: list[Segment] = field(default_factory=list)
    count: int | None = None
    presence: int = 1
    omit_body: bool = False


@dataclass(slots=True)
class Draft:
    """A message that may be illegal in any way; steertag.wire.encode writes it as it stands.

    The body is laid out as `proc` asks for it, an unknown procedure as RDMA_MSG. `cut_to` keeps only
    so many octets of the whole message, and `append` is written behind the cut.
    """

    xid: int = 0
    vers: int = 1
    credit: int = 1
    proc: int = Procedure.MSG
    align: int = 0
    thresh: int = 0
    error: int = ErrorCode.CHUNK
    vers_low: int = 1
    vers_high: int = 1
    read_list: list[DraftReadEntry] = field(default_factory=list)
    read_list_end: int = 0
    write_list: list[DraftChunk] = field(default_factory=list)
    write_list_end: int = 0
    reply_chunk: DraftChunk | None = None
    reply_chunk_absent: int = 0
    payload: bytes = b""
    cut_to: int | None = None
    append: bytes = b""


@dataclass(slots=True)
class FieldSpan:
    """A field of an encoded message: first octet, octets, and the field's name."""

    offset: int
    length: int
    name: str


@dataclass(slots=True)
class PrivateData:
    """What one side announces (RFC 8797 4): the R flag, and send and receive sizes in octets."""

    remote_invalidation: bool = False
    send_bytes: int = 1024
    receive_bytes: int = 1024


@dataclass(slots=True)
class PrivateDataDraft:
    """The eight octets of private data as they stand; any value can be built."""

    identifier: int = 0xF6AB0E18
    version: int = 1
    flags: int = 0
    send_size: int = 3
    receive_size: int = 3


@dataclass(slots=True)
class FoundPrivateData:
    """Private data in a buffer: where its identifier starts, its meaning, its flags octet."""

    offset: int
    data: PrivateData
    raw_flags: int


@dataclass(slots=True)
class Negotiated:
    """What a connection runs with (RFC 8797 4.1, 4.2); thresholds in octets."""

    to_server_bytes: int = 1024
    to_client_bytes: int = 1024
    remote_invalidation: bool = False
