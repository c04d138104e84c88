"""The outcome of one message: its kind as a stable word, and all decoded parts."""

import dataclasses

from ... import rpc, wire
from ...reduced_items import with_item
from ..cases import kinds
from ..cases.case_end import lacking
from ..nfs_client.compound import CompoundReply
from ..nfs_client.nfs_message import read_result
from ..rdma.memory import Returned


@dataclasses.dataclass
class Outcome:
    """The outcome of one message."""

    kind: str
    conn: object
    call: object = None  # The Call or RecordCall, if it was one.
    number: int = 0  # The message.Message.number of the answer; 0: none came.
    xid: int | None = None  # Of the answer, or of the message without an answer.
    raw: bytes = b""
    header: object = None  # A wire.Header; if it does not decode, wire.FixedWords or None.
    reply: object = None  # rpc.Reply
    results: bytes = b""  # Octets after the RPC header, without those in chunks.
    whole: bytes = b""  # The RPC message as one payload stream, with the items of write chunks.
    result: object = None  # The decoded NFS or MOUNT result, with the items of write chunks.
    # Octets of each returned write chunk; none for a chunk outside of the memory that was offered.
    chunks: list = dataclasses.field(default_factory=list)
    reply_chunk: bytes | None = None  # Octets of the reply chunk, if used.
    invalidated: int | None = None  # STag of a Send with Invalidate
    probes: int = 0  # NULL calls that proved silence.
    detail: str = ""  # One sentence for the reader. It may have values.

    @property
    def data(self):
        """The octets of the first write chunk, empty if there is none."""
        return self.chunks[0] if self.chunks else b""

    def returned(self, number=0):
        """The segments of the returned write chunk with this number; the case ends as failed
        without one."""
        return self._part(self.header.write_list, number, f"write chunk {number}")

    def octets(self, number):
        """The octets of the returned write chunk with this number; the case ends as failed without
        one."""
        return self._part(self.chunks, number, f"write chunk {number}")

    def _part(self, parts, number, what):
        if number >= len(parts):
            raise lacking(self.conn.owed, what, self.trace())
        return parts[number]

    def trace(self, requirement_id=""):
        """The end of the connection's trace, decoded. The line of the answer is marked if it breaks a
        requirement."""
        if requirement_id:
            self.conn.mark(self.number, requirement_id)
        return self.conn.journal_text()


def without_answer(kind, conn, xid, detail="", probes=0):
    """The outcome without an answer: silence, a close, or a hang."""
    return Outcome(kind=kind, conn=conn, xid=xid, detail=detail, probes=probes)


def of_message(conn, call, message):
    """The Outcome of `call` (a Call, or None if unknown) by a received message."""
    outcome = _garbage(conn, call, message)
    outcome.invalidated = message.invalidated
    try:
        outcome.header, payload = wire.decode(message.bytes)
    except wire.DecodeError as fault:
        outcome.header = wire.peek(message.bytes)
        outcome.kind = kinds.ERROR_OTHER if fault.code == "bad_error_code" else kinds.GARBAGE
        outcome.detail = str(fault)
        return outcome
    if outcome.header.proc == wire.Procedure.ERROR:
        vers = outcome.header.error == wire.ErrorCode.VERS
        outcome.kind = kinds.ERR_VERS if vers else kinds.ERR_CHUNK
        return outcome
    _read_chunks(outcome, call)
    if outcome.header.proc == wire.Procedure.NOMSG:
        payload = outcome.reply_chunk
    if payload is None:
        outcome.detail = outcome.detail or "RDMA_NOMSG without a reply chunk of ours"
        return outcome
    _take_over(outcome, read_reply(payload, _asked(call), outcome.chunks))
    return outcome


def of_record(conn, call, message):
    """The Outcome of `call` (a RecordCall, or None if unknown) by a received record."""
    outcome = _garbage(conn, call, message)
    _take_over(outcome, read_reply(message.bytes, _asked(call)))
    return outcome


def _garbage(conn, call, message):
    """The outcome of a message before anything of it is read."""
    outcome = Outcome(kind=kinds.GARBAGE, conn=conn, call=call, xid=message.xid)
    outcome.number, outcome.raw = message.number, message.bytes
    return outcome


def _asked(call):
    return None if call is None else call.asked


def _take_over(outcome, read):
    outcome.kind, outcome.reply, outcome.result = read.kind, read.reply, read.result
    outcome.results, outcome.whole = read.results, read.whole
    if isinstance(outcome.result, CompoundReply) and outcome.conn is not None:
        outcome.result.owed = outcome.conn.owed
    outcome.detail = outcome.detail or read.detail


def _read_chunks(outcome, call):
    offers = call.offers if call is not None else []
    header, returned = outcome.header, Returned(offers)
    gathered = [returned.octets(chunk) for chunk in header.write_list]
    if None in gathered:
        outcome.detail = "a write chunk of the reply lies outside of the memory that was offered"
    outcome.chunks = [content or b"" for content in gathered]
    if header.reply_chunk:
        outcome.reply_chunk = returned.octets(header.reply_chunk) or None


@dataclasses.dataclass(frozen=True)
class ReadReply:
    """The decoded parts of an RPC message."""

    kind: str
    reply: object = None  # rpc.Reply
    results: bytes = b""  # octets after its header
    result: object = None  # decoded
    detail: str = ""
    whole: bytes = b""  # the message as one payload stream


def read_reply(payload, asked, chunks=()):
    """Reads an RPC message. `asked` is (program, version, procedure) of the call, or None if
    unknown. `chunks` are the octets of returned write chunks."""
    if rpc.direction(payload) == rpc.MessageType.CALL:
        return ReadReply(kinds.CALL)
    try:
        reply, results = rpc.Reply.decode(payload)
    except wire.DecodeError as fault:
        return ReadReply(kinds.GARBAGE, detail=f"RPC reply: {fault}")
    whole = bytes(payload)
    if reply.status != rpc.ReplyStatus.MSG_ACCEPTED:
        return ReadReply(kinds.DENIED, reply, results, whole=whole)
    if reply.accept_status != rpc.AcceptStatus.SUCCESS:
        return ReadReply(f"rpc:{reply.accept_status.name}", reply, results, whole=whole)
    if asked is None:
        return ReadReply(kinds.REPLY, reply, results, whole=whole)
    try:
        whole = with_item(asked, whole, chunks)
    except wire.DecodeError as fault:
        return ReadReply(kinds.GARBAGE, reply, results, detail=f"results: {fault}", whole=whole)
    kind, result, detail = read_result(asked, whole)
    return ReadReply(kind, reply, results, result, detail, whole)
