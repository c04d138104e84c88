"""Calls under construction, with the facts to read their reply, and over RDMA the offered
memory."""

import dataclasses

from ... import nfs, wire


class Asked:
    """The RPC call in a message of either transport. `payload` is the RPC message and may be
    changed. `whole` is the original, before any reduction or change."""

    __slots__ = ()

    def _ask(self, xid, payload, program, version, procedure):
        self.xid = xid
        self.payload = payload
        self.whole = payload
        self.program = program
        self.version = version
        self.procedure = procedure

    @property
    def asked(self):
        """(program, version, procedure)"""
        return self.program, self.version, self.procedure

    def eligible_result_length(self):
        """The largest DDP-eligible result of the reply, in octets; 0 without one."""
        size = nfs.largest_reply(self.whole)
        return size.eligible if size is not None else 0

    def largest_reply(self):
        """The largest reply as one unreduced payload stream, in octets, or None if unbounded."""
        size = nfs.largest_reply(self.whole) or nfs.largest_compound_reply(self.whole)
        return None if size is None else size.payload


class RecordCall(Asked):
    """A call that is sent as a record (RFC 5531 11). It has no fields of a transport header: a case
    that needs them fails over TCP, and does not test nothing."""

    __slots__ = ("xid", "payload", "whole", "program", "version", "procedure")

    def __init__(self, xid, payload, program, version, procedure):
        self._ask(xid, payload, program, version, procedure)


@dataclasses.dataclass
class RecordReply:
    """A reply to a call of the target, sent as a record. `payload` is the RPC message and may be
    changed."""

    xid: int
    payload: bytes


class Call(Asked, wire.Draft):
    """An RPC-over-RDMA message. Every field of wire.Draft may change."""

    def __init__(self, xid, payload, program, version, procedure, credit):
        wire.Draft.__init__(self)
        self._ask(xid, payload, program, version, procedure)
        self.credit = credit
        self.offers = []  # memory.Offer objects, closed after the answer

    def add_read_chunk(self, position, segments):
        """Appends one read segment per given segment, all with this position."""
        entries = [
            wire.DraftReadEntry(segment=wire.ReadSegment(position=position, target=segment))
            for segment in segments
        ]
        self.read_list = list(self.read_list) + entries
        return self

    def add_write_chunk(self, segments):
        """Appends one write chunk; no segments make an empty chunk (RFC 8166 4.3.2.3)."""
        self.write_list = list(self.write_list) + [wire.DraftChunk(segments=list(segments))]
        return self

    def set_reply_chunk(self, segments):
        """Offers this reply chunk."""
        self.reply_chunk = wire.DraftChunk(segments=list(segments))
        return self

    def encoded(self):
        """The octets of the message."""
        return wire.encode(self)

    def take_all_eligible(self):
        """Removes every DDP-eligible argument of a COMPOUND: [(position, octets of the item)]."""
        payload, taken = bytes(self.payload), []
        for item in reversed(nfs.binding.eligible_arguments(payload)):
            end = item.position + item.length
            taken.insert(0, (item.position, payload[item.position : end]))
            payload = payload[: item.position] + payload[end + -end % 4 :]
        self.payload = payload
        return taken

    def take_eligible(self):
        """Removes the DDP-eligible argument from the payload: (position, octets of the item).

        Roundup leaves with the item, the count word stays (RFC 8166 3.4.4.1). Positions count in the
        unreduced payload stream (3.4.5). Raises ValueError if the call has no such argument."""
        item = nfs.binding.eligible_argument(self.payload)
        if item is None:
            raise ValueError("the call has no DDP-eligible argument")
        payload = bytes(self.payload)
        end = item.position + item.length
        self.payload = payload[: item.position] + payload[end + -end % 4 :]
        return item.position, payload[item.position : end]
