"""One connection's events as lines. It keeps what later lines need: calls, offered chunks, placed octets."""

from .. import wire
from ..reduced_items import MOST_ITEM_OCTETS
from .chunk_offers import ChunkOffers, references
from .event import LOCAL_KINDS, merged, place, RECORD
from .header_words import broken_header, counted, header_words
from .line import Line, LOCAL, TO_CLIENT, TO_SERVER
from .rpc_words import RpcWords
from .stream_records import whole_records

_OTHER = {"client": "server", "server": "client"}
# Octets of RDMA Writes kept for long replies that have not come.
MOST_PLACED = 4 * MOST_ITEM_OCTETS
# Octets of a segment of a long reply that are decoded: above what servers send of a directory.
MOST_LONG_REPLY = 2 << 20
# Octets shown of private data, and of what is no message.
MOST_HEX = 28
# Records named of octets with several.
MOST_RECORDS = 8


class ConnectionTrace:
    """Makes lines of events in order. `memory(handle, offset, length)` gives the octets that a client's memory has,
    if they are known: those of long calls. Times count from `start_ns`, or from the first event."""

    def __init__(self, connection=1, memory=None, start_ns=None):
        self._connection = connection
        self._memory = memory or (lambda *_: b"")
        self._rpc = RpcWords()
        self._offers = ChunkOffers()
        self._placed = {}  # STag: [(offset, octets)] in reply chunks
        self._placed_octets = 0
        self._start_ns = start_ns

    def lines(self, events, violations=()):
        """A Line for each event.Event, RDMA operations of touching ranges merged."""
        marks = {}
        for each in violations:
            marks.setdefault(each.event, []).append(each)
        for event in merged(events):
            yield self.line(event, marks)

    def line(self, event, marks=None):
        """The Line of one event; `marks` are {index of an event: [Violation]}."""
        text, chunks = self._words(event)
        octets = event.fields.get("bytes", event.fields.get("payload", b""))
        violations = [
            each
            for index in range(event.index, event.end + 1)
            for each in (marks or {}).get(index, ())
        ]
        return Line(
            number=event.index,
            connection=self._connection,
            time_s=self._time_s(event),
            direction=_direction(event),
            kind=event.kind,
            text=text,
            octets=bytes(octets),
            chunks=tuple(chunks),
            violations=tuple(violations),
            last=event.last,
            operation=self._operation(event, chunks),
        )

    def _operation(self, event, chunks):
        """That of the call to which a message or its chunks belong. XIDs are first in both."""
        if chunks:
            return self._rpc.operation_of(chunks[0].xid)
        if event.kind not in ("send", RECORD):
            return ""
        return self._rpc.operation_of(int.from_bytes(bytes(event.fields["bytes"])[:4], "big"))

    def _time_s(self, event):
        if event.time_ns is None:
            return None
        if self._start_ns is None:
            self._start_ns = event.time_ns
        return (event.time_ns - self._start_ns) / 1e9

    def _words(self, event):
        """(text, [ChunkReference])"""
        return getattr(self, f"_{event.kind}", self._other)(event)

    def _send(self, event):
        octets = bytes(event.fields["bytes"])
        stag = event.fields.get("invalidated")
        notes = "" if stag is None else f"; invalidates STag 0x{stag:08x}"
        notes += f"; with fault {event.fields['fault']}" if event.fields.get("fault") else ""
        try:
            header, payload = wire.decode(octets)
        except wire.DecodeError as fault:
            return f"{broken_header(octets, fault)}{self._beyond(event, octets)}{notes}", []
        found = references(header)
        text = header_words(header)
        payload = self._message(event.actor, header, bytes(payload))
        self._offers.offer(event.actor, found)
        if payload:
            items = [
                bytes(min(wire.chunk_length(each), MOST_ITEM_OCTETS)) for each in header.write_list
            ]
            positions = [each.position for each in header.read_list if each.position]
            text += f"; {self._rpc.words(event.actor, payload, header.xid, positions, items)}"
        return f"{text}{notes}", found

    def _beyond(self, event, octets):
        """The RPC message behind a header whose layout is whole, and whose words are illegal."""
        draft = wire.draft_of(octets) if len(octets) >= wire.SMALLEST_HEADER_BYTES else None
        if draft is None or draft.cut_to is not None or not draft.payload:
            return ""
        positions = [each.segment.position for each in draft.read_list]
        return f"; {self._rpc.words(event.actor, bytes(draft.payload), draft.xid, positions)}"

    def _message(self, sender, header, payload):
        """The RPC message: inline, placed in the reply chunk, or in the client's memory."""
        if header.proc != wire.Procedure.NOMSG:
            return payload
        if header.reply_chunk and self._placed:
            return b"".join(self._taken(each) for each in header.reply_chunk)
        if header.read_list:
            first = header.read_list[0].target
            return self._memory(first.handle, first.offset, first.length)
        return b""

    def _taken(self, segment):
        """What RDMA Writes placed in the segment; they are forgotten."""
        octets = bytearray(min(segment.length, MOST_LONG_REPLY))
        for offset, payload in self._placed.pop(segment.handle, ()):
            self._placed_octets -= len(payload)
            start = offset - segment.offset
            if 0 <= start and start + len(payload) <= len(octets):
                octets[start : start + len(payload)] = payload
        return bytes(octets)

    def _record(self, event):
        octets = bytes(event.fields["bytes"])
        words = self._rpc.words(event.actor, octets)
        return f"record of {counted(len(octets), 'octet')}{_xid(octets)}; {words}", []

    def _octets(self, event):
        octets = bytes(event.fields["bytes"])
        length = counted(len(octets), "octet")
        records, is_cut = whole_records(octets)
        if not records:
            what = event.fields.get("text", "octets")
            name = "" if what == "octets" else f"{what}: "
            return f"{name}{length} {_hex(octets)}", []
        words = [f"{_xid(each)} {self._rpc.words(event.actor, each)}" for each in records]
        more = f"; {len(words) - MOST_RECORDS} more" if len(words) > MOST_RECORDS else ""
        end = "; then part of another" if is_cut else ""
        return f"{length}, records{';'.join(words[:MOST_RECORDS])}{more}{end}", []

    def _rdma_write(self, event):
        return self._touched(event, _OTHER[event.actor], "RDMA Write", "into")

    def _rdma_read(self, event):
        return self._touched(event, _OTHER[event.actor], "RDMA Read", "from")

    def _rdma_read_response(self, event):
        length = event.fields["length"]
        stag, offset = place(event)
        return f"RDMA Read Response of {counted(length, 'octet')} to {_tag(stag, offset)}", []

    def _touched(self, event, owner, word, preposition):
        stag, offset = place(event)
        length = event.fields["length"]
        head = f"{word} of {counted(length, 'octet')} {preposition}"
        offer, part = (
            (None, None) if stag is None else self._offers.find(owner, stag, offset, length)
        )
        if offer is None:
            return f"{head} {_tag(stag, offset)}, which no header offers", []
        if offer.kind == "reply" and event.kind == "rdma_write":
            self._keep(stag, offset, bytes(event.fields.get("payload", b"")))
        last = self._offers.last(owner, offer, offset + length)
        on = f" to segment {last.segment}" if last is not offer else ""
        beyond = offset + length - last.offset - last.length
        more = f", {counted(beyond, 'octet')} beyond its end" if beyond > 0 else ""
        return (
            f"{head} {part.name} of xid 0x{part.xid:08x}, segment {part.segment} "
            f"offset {offset - offer.offset}{on}{more}",
            [part],
        )

    def _keep(self, stag, offset, octets):
        if self._placed_octets + len(octets) <= MOST_PLACED:
            self._placed.setdefault(stag, []).append((offset, octets))
            self._placed_octets += len(octets)

    def _connect(self, event):
        return f"Connect {_private(event)}", []

    def _accept(self, event):
        return f"Accept {_private(event)}", []

    def _reject(self, event):
        return f"Reject {_private(event)}", []

    def _terminate(self, event):
        fields = event.fields
        if "layer" not in fields:
            return "Terminate", []
        return f"Terminate layer {fields['layer']} type {fields['type']} code {fields['code']}", []

    def _disconnect(self, event):
        return "Disconnect" if event.fields.get("clean", True) else "Disconnect, abrupt", []

    def _memory_offered(self, event):
        fields = event.fields
        rights = [word for word in ("read", "write") if fields[f"remote_{word}"]]
        place_of = _tag(fields["stag"], fields["base"])
        length = counted(fields["length"], "octet")
        return f"{event.actor}: {length} at {place_of} open for {' and '.join(rights)}", []

    def _memory_invalidated(self, event):
        broken = "" if event.fields["guard_intact"] else ", guard octets overwritten"
        return f"{event.actor}: STag 0x{event.fields['stag']:08x} invalidated{broken}", []

    def _receive_posted(self, event):
        count, size = event.fields["count"], event.fields["size"]
        return f"{event.actor}: {counted(count, 'receive')} of {counted(size, 'octet')} posted", []

    def _other(self, event):
        return str(event.fields.get("text", event.kind)), []


def _direction(event):
    if event.kind in LOCAL_KINDS:
        return LOCAL
    return TO_SERVER if event.actor == "client" else TO_CLIENT


def _tag(stag, offset):
    return f"STag {'unknown' if stag is None else f'0x{stag:08x}'} offset 0x{offset:016x}"


def _xid(message):
    """ " xid 0x12345678", or "" for a message that has none."""
    return f" xid 0x{message[:4].hex()}" if len(message) >= 4 else ""


def _hex(octets):
    more = " ..." if len(octets) > MOST_HEX else ""
    return f"[{octets[:MOST_HEX].hex(' ', 4)}{more}]"


def _private(event):
    octets = bytes(event.fields.get("private_data", b""))
    if not octets:
        return "without private data"
    found = wire.find_private_data(octets)
    if found is None:
        return f"with private data {_hex(octets)}"
    data = found.data
    flag = ", remote invalidation" if data.remote_invalidation else ""
    return f"announces send {data.send_bytes} receive {data.receive_bytes}{flag}"
