"""What came of one message: its kind as a stable word, and everything that was decoded."""

import dataclasses

from .. import nfs, rpc, wire
from . import kinds
from .memory import gather

_RDMA_ERROR = 4
_RDMA_NOMSG = 1


@dataclasses.dataclass
class Outcome:
    """The outcome of one message."""

    kind: str
    conn: object
    xid: int | None = None
    raw: bytes = b""
    header: object = None  # wire.Header; the fixed words are valid even in "garbage"
    reply: object = None  # rpc.ReplyHeader
    results: bytes = b""  # octets after the RPC header, without what chunks carry
    result: object = None  # the decoded NFS or MOUNT result, items of write chunks put back
    chunks: list = dataclasses.field(default_factory=list)  # octets per returned write chunk
    reply_chunk: bytes | None = None  # octets of the reply chunk, if it was used
    invalidated: int | None = None  # STag of a Send with Invalidate
    probes: int = 0  # NULL calls that were needed to prove silence
    detail: str = ""  # one sentence for the reader, values allowed

    @property
    def data(self):
        """The octets of the first write chunk, empty if there is none."""
        return self.chunks[0] if self.chunks else b""

    def trace(self):
        """The end of the connection's trace, decoded."""
        return self.conn.journal_text()


def without_answer(kind, conn, xid, detail="", probes=0):
    """The outcome when no message answered: silence, a close, or a hang."""
    return Outcome(kind=kind, conn=conn, xid=xid, detail=detail, probes=probes)


def of_message(conn, call, message):
    """The Outcome that a received message means for `call` (a Call, or None when unknown)."""
    outcome = Outcome(kind=kinds.GARBAGE, conn=conn, raw=message.bytes)
    outcome.invalidated = message.invalidated
    outcome.xid = message.xid
    decoded = wire.decode(message.bytes)
    outcome.header = decoded.header
    if decoded.fault is not None:
        unknown_code = decoded.fault.code == wire.FaultCode.bad_error_code
        outcome.kind = kinds.ERROR_OTHER if unknown_code else kinds.GARBAGE
        outcome.detail = decoded.fault.message()
    elif int(decoded.header.proc) == _RDMA_ERROR:
        vers = decoded.header.error == wire.ErrorCode.vers
        outcome.kind = kinds.ERR_VERS if vers else kinds.ERR_CHUNK
    else:
        _read_chunks(outcome, call)
        payload = decoded.payload
        if int(decoded.header.proc) == _RDMA_NOMSG:
            payload = outcome.reply_chunk
        _read_rpc(outcome, call, payload)
    return outcome


def _read_chunks(outcome, call):
    offers = call.offers if call is not None else []
    header = outcome.header
    outcome.chunks = [gather(offers, chunk) for chunk in header.write_list]
    if header.reply_chunk:
        content = gather(offers, header.reply_chunk)
        outcome.reply_chunk = content or None
    if None in outcome.chunks:
        outcome.detail = "a write chunk of the reply lies outside of the memory that was offered"


def _read_rpc(outcome, call, payload):
    if payload is None:
        outcome.detail = outcome.detail or "RDMA_NOMSG without a reply chunk of ours"
        return
    if rpc.is_call(payload):
        outcome.kind = kinds.CALL
        return
    decoded = rpc.decode_reply(payload)
    if decoded.fault is not None:
        outcome.detail = f"RPC reply: {decoded.fault.message()}"
        return
    outcome.reply, outcome.results = decoded.header, bytes(decoded.body)
    if not decoded.header.success:
        accepted = decoded.header.status == rpc.ReplyStatus.MSG_ACCEPTED
        outcome.kind = f"rpc:{decoded.header.accept_status.name}" if accepted else "rpc:denied"
        return
    _read_result(outcome, call)


def _read_result(outcome, call):
    if call is None:
        outcome.kind = kinds.REPLY
        return
    kind, outcome.result, fault = nfs_result(call, outcome.results, outcome.chunks)
    outcome.kind = kind
    outcome.detail = outcome.detail or fault


def nfs_result(call, results, chunks):
    raise NotImplementedError(call, results, chunks, nfs)
