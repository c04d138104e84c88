"""What was sent in a recording, and what reading its answers needs: then and now."""

import dataclasses

from .. import rpc, wire
from ..suite.exchange.call import Call, RecordCall


@dataclasses.dataclass
class Asked:
    """A message that was sent."""

    octets: bytes  # Of this run.
    now: object  # Call or RecordCall; None if it is no call.
    then: object  # The same for the recording.
    is_reply: bool
    position: int = 0  # What had come on the connection then ...
    position_now: int = 0  # ... and now.
    is_concluded: bool = False

    @property
    def offers(self):
        """Memory that the call offers."""
        return getattr(self.now, "offers", ())


def record_asked(record, known):
    """The Asked of a record. `known` is (program, version, procedure) if an expectation knows it."""
    words = known or _words_of(record)
    call = RecordCall(_xid(record), record, *words) if words else None
    return Asked(record, call, call, _is_reply(record))


def message_asked(octets, now, known, offers, then):
    """The Asked of a message over RDMA: `octets` of the recording, `now` of this run. `offers` and `then` are
    the memory that it offers, of this run and of the recording."""
    payload = _payload(octets)
    words = known or _words_of(payload) or _words_in_memory(octets, then)
    is_reply = _is_reply(payload)
    if not words:
        return Asked(now, None, None, is_reply)
    xid = _xid(octets)
    calls = (_call(xid, each, words, memory) for each, memory in ((now, offers), (octets, then)))
    return Asked(now, *calls, is_reply)


def _call(xid, octets, words, offers):
    call = Call(xid, b"", *words, 0)
    draft = wire.draft_of(octets)
    for field in dataclasses.fields(wire.Draft):
        setattr(call, field.name, getattr(draft, field.name))
    call.whole, call.xid, call.offers = call.payload, xid, offers
    return call


def _xid(octets):
    return int.from_bytes(octets[:4], "big")


def _payload(octets):
    """The RPC message of a message over RDMA; no octets if nothing decodes."""
    try:
        return bytes(wire.decode(octets)[1])
    except wire.DecodeError:
        return b""


def _words_of(payload):
    """[program, version, procedure] of an RPC call; None of anything else."""
    try:
        call, _ = rpc.Call.decode(payload)
    except wire.DecodeError:
        return None
    return [call.program, call.version, call.procedure]


def _words_in_memory(octets, then):
    """The same of a long call: its RPC message is in the memory of its position-zero read chunk."""
    try:
        header, _ = wire.decode(octets)
    except wire.DecodeError:
        return None
    if header.proc != wire.Procedure.NOMSG or not header.read_list:
        return None
    first = header.read_list[0].target
    owner = next((each for each in then if each.stag == first.handle), None)
    if owner is None or first.offset < owner.base:
        return None
    start = first.offset - owner.base
    return _words_of(owner.bytes()[start : start + first.length])


def _is_reply(payload):
    return len(payload) >= 8 and rpc.direction(payload) == rpc.MessageType.REPLY
