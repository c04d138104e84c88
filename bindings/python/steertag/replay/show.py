"""Prints a recording as a script: one line a message, decoded, then the expectation that failed."""

from .. import nfs, rpc, trace, wire
from ..failure import Failure
from ..suite.cases import kinds
from ..suite.exchange.outcome import read_reply
from ..suite.nfs_client import compound
from ..suite.nfs_client.nfs_message import MOST_ITEM_OCTETS
from ..suite.recording.recording_file import CLIENT, SERVER

# What the observer knows of its own side, and what passes nowhere.
_LOCAL = ("memory_offered", "memory_invalidated", "receive_posted")
# Octets shown of what is no message.
MOST_SHOWN = 32
_PROGRAMS = {
    (nfs.nfs3.PROGRAM, nfs.nfs3.VERSION): ("NFSv3", nfs.nfs3.Procedure),
    (nfs.mount3.PROGRAM, nfs.mount3.VERSION): ("MOUNTv3", nfs.mount3.Procedure),
}


def script(recording):
    """Lines of text. Raises Failure if the file holds no message."""
    lines = _Script()
    if recording.tests == CLIENT:
        for connection, event in _events(recording.capture):
            lines.event(f"c{connection}", event)
    for step in recording.steps:
        lines.step(step)
    if not lines.lines:
        raise Failure("the recording holds no messages to show")
    yield from lines.lines
    number = lines.number_of(_judged_step(recording))
    where = f" of message {number}" if number else ""
    yield f"{recording.verdict}{where}: {recording.reason}"


def _events(capture):
    """[(connection from 1, Event)] in the order of the capture."""
    try:
        connections = trace.events_of_capture(capture) if capture else []
    except ValueError as problem:
        raise Failure(f"the recording's capture cannot be read: {problem}") from None
    found = [
        (number, event)
        for number, events in enumerate(connections, start=1)
        for event in events
        if event.kind not in _LOCAL
    ]
    return sorted(found, key=lambda each: each[1].time_ns)


def _judged_step(recording):
    """The number of the step that the failed judgement is about; None if it is about no message."""
    judged = [step for step in recording.steps if step.kind in ("expect", "check")]
    if not judged:
        return None
    fields = judged[-1].fields
    told = fields["reason"] if judged[-1].kind == "check" else f"{fields['requirement']}: "
    return fields["seen"] if told in recording.reason else None


class _Script:
    """The lines so far, and the calls that replies are decoded by."""

    def __init__(self):
        self.lines = []
        self._numbers = {}  # Number of a step: number of its line.
        self._calls = {}  # (connection, sender, XID): (program, version, procedure).
        self._writes = {}  # (connection, STag): [(offset, octets)].
        self._regions = {}  # Name: fields of its step.
        self._readers = {}  # (connection, sender): RecordReader; None behind an illegal mark.
        self._streams = set()  # Connections over TCP.

    def number_of(self, step):
        return self._numbers.get(step)

    def event(self, connection, event):
        """One event of a capture."""
        sender, text = str(event).split(" ", 2)[1:]
        if event.kind == "rdma_write":
            self._placed(connection, event.stag, event.offset, bytes(event.payload))
        if event.kind == "send":
            text = f"{text.split(' [')[0]}{_invalidated(event.invalidated)}: "
            text += self._message(connection, sender, bytes(event.bytes))
        self._add(connection, sender, text)

    def step(self, step):
        """One step of the log of a case."""
        show = getattr(self, f"_show_{step.kind}", None)
        if show is not None:
            show(step.subject, step.fields)
        if step.kind == "received":
            self._numbers[step.number] = len(self.lines)

    def _show_connect(self, connection, fields):
        private = _octets(fields["settings"].get("private_data", b""))
        self._add(connection, CLIENT, f"connect with private data {private}")

    def _show_connect_tcp(self, connection, _):
        self._streams.add(connection)
        self._add(connection, CLIENT, "connect_tcp")

    def _show_stream(self, connection, _):
        self._streams.add(connection)
        self._add(connection, CLIENT, "connect_tcp without records")

    def _show_accepted(self, connection, fields):
        self._add(connection, SERVER, f"accept with private data {_octets(fields['private_data'])}")

    def _show_rejected(self, connection, fields):
        self._add(connection, SERVER, f"reject with private data {_octets(fields['private_data'])}")

    def _show_memory(self, name, fields):
        self._regions[name] = fields

    def _show_send(self, connection, fields):
        octets = fields["octets"]
        if connection in self._streams:
            self._stream(connection, CLIENT, octets)
            return
        fault = f" with fault {fields['fault']}" if fields.get("fault") else ""
        text = f"send {len(octets)} octets{_invalidated(fields.get('invalidate'))}{fault}: "
        self._add(connection, CLIENT, text + self._message(connection, CLIENT, octets))

    def _show_received(self, connection, fields):
        octets = fields["octets"]
        if "fragments" in fields:
            self._record(connection, SERVER, octets)
        elif connection in self._streams:
            self._add(connection, SERVER, f"octets {len(octets)} {_octets(octets)}")
        else:
            name = fields.get("invalidated")
            stag = self._regions[name]["stag"] if name in self._regions else None
            text = f"send {len(octets)} octets{_invalidated(stag)}: "
            self._add(connection, SERVER, text + self._message(connection, SERVER, octets))

    def _show_rdma_write(self, connection, fields):
        stag, offset = self._place(fields)
        self._placed(connection, stag, offset, fields["octets"])
        self._add(connection, SERVER, f"rdma_write {_length_words(fields)} to {_tag(stag, offset)}")

    def _show_rdma_read(self, connection, fields):
        place = _tag(*self._place(fields))
        self._add(connection, SERVER, f"rdma_read {_length_words(fields)} from {place}")

    def _show_ended(self, connection, fields):
        self._add(connection, SERVER, fields["how"])

    def _show_terminated(self, connection, _):
        self._add(connection, CLIENT, "terminate, because what came is illegal")

    def _show_raw(self, connection, fields):
        words = " ".join(_argument(each) for each in fields["arguments"])
        self._add(connection, CLIENT, f"{fields['method']} {words}")

    def _show_end(self, connection, _):
        self._add(connection, CLIENT, "end of stream")

    def _show_close(self, connection, _):
        self._add(connection, CLIENT, "disconnect")

    def _show_reset(self, connection, _):
        self._add(connection, CLIENT, "abort")

    def _place(self, fields):
        """STag and offset on the wire of a range of memory; no STag if it is none of the case's."""
        region = self._regions.get(fields["memory"])
        if region is None:
            return None, fields["offset"]
        return region["stag"], region["base"] + fields["offset"]

    def _placed(self, connection, stag, offset, octets):
        self._writes.setdefault((connection, stag), []).append((offset, octets))

    def _stream(self, connection, sender, octets):
        """Octets of a TCP stream: the records that they complete, or how many they are."""
        reader = self._readers.setdefault((connection, sender), rpc.RecordReader())
        text = f"octets {len(octets)}"
        try:
            records = reader.feed(octets) if reader else []
        except wire.DecodeError as fault:
            self._readers[connection, sender] = None
            return self._add(connection, sender, f"{text}: {fault}")
        if not records:
            return self._add(connection, sender, text)
        for record in records:
            self._record(connection, sender, bytes(record))

    def _record(self, connection, sender, octets):
        text = f"record {len(octets)} octets: {self._rpc(connection, sender, octets)}"
        self._add(connection, sender, text)

    def _add(self, connection, sender, text):
        number = len(self.lines) + 1
        arrow = "->" if sender == CLIENT else "<-"
        self.lines.append(f"{number:>4} {connection} {arrow} {sender} {text}")

    def _message(self, connection, sender, octets):
        """The transport header with its chunks, then the RPC message, in one line."""
        try:
            header, payload = wire.decode(octets)
        except wire.DecodeError:
            return _one_line(wire.describe(octets))
        text = _one_line(wire.describe(header, b"").rpartition("payload stream")[0])
        text = text or _one_line(wire.describe(header, b""))
        if header.proc == wire.Procedure.NOMSG and sender == SERVER and header.reply_chunk:
            payload = b"".join(self._written(connection, each) for each in header.reply_chunk)
        if header.proc == wire.Procedure.NOMSG and sender == CLIENT and header.read_list:
            payload = self._registered(header.read_list[0].target)
        if not payload:
            return text
        items = [bytes(_length(chunk)) for chunk in header.write_list]
        return f"{text}; {self._rpc(connection, sender, bytes(payload), items)}"

    def _written(self, connection, segment):
        """What RDMA Writes placed in the segment."""
        octets = bytearray(min(segment.length, MOST_ITEM_OCTETS))
        for offset, payload in self._writes.get((connection, segment.handle), ()):
            start = offset - segment.offset
            if 0 <= start and start + len(payload) <= len(octets):
                octets[start : start + len(payload)] = payload
        return bytes(octets)

    def _registered(self, segment):
        """What the case put into the memory of a segment."""
        for region in self._regions.values():
            start = segment.offset - region["base"]
            if region["stag"] == segment.handle and start >= 0:
                return region["content"][start : start + segment.length]
        return b""

    def _rpc(self, connection, sender, payload, items=()):
        """`items` stand for what write chunks carry: only their lengths matter here."""
        try:
            if rpc.direction(payload) == rpc.MessageType.CALL:
                call, arguments = rpc.Call.decode(payload)
                asked = call.program, call.version, call.procedure
                self._calls[connection, sender, call.xid] = asked
                return f"CALL {_procedure(asked)}{_operations(asked, arguments)}"
            reply, _ = rpc.Reply.decode(payload)
        except wire.DecodeError as fault:
            return f"no RPC message: {fault}"
        if reply.status != rpc.ReplyStatus.MSG_ACCEPTED:
            return f"REPLY {reply.status.name}"
        asked = self._calls.get((connection, CLIENT if sender == SERVER else SERVER, reply.xid))
        if asked is None or reply.accept_status != rpc.AcceptStatus.SUCCESS:
            return f"REPLY {reply.accept_status.name}"
        read = read_reply(payload, asked, items)
        status = read.kind if read.kind != kinds.REPLY else "OK"
        return f"REPLY {_procedure(asked)} {status}{_statuses(read.result)}"


def _length(chunk):
    return min(sum(segment.length for segment in chunk), MOST_ITEM_OCTETS)


def _invalidated(stag):
    return "" if stag is None else f" invalidates STag 0x{stag:08x}"


def _tag(stag, offset):
    return f"STag {'unknown' if stag is None else f'0x{stag:08x}'} offset 0x{offset:016x}"


def _length_words(fields):
    return f"{fields['length']} octet{'' if fields['length'] == 1 else 's'}"


def _octets(octets):
    more = " ..." if len(octets) > MOST_SHOWN else ""
    return f"[{octets[:MOST_SHOWN].hex(' ', 4)}{more}]"


def _argument(value):
    return _octets(value) if isinstance(value, bytes) else str(value)


def _one_line(described):
    lines = (line.strip() for line in described.splitlines())
    return "; ".join(line for line in lines if line and not line.endswith("absent"))


def _procedure(asked):
    if asked == compound.ASKED:
        return "NFSv4 COMPOUND"
    name, procedures = _PROGRAMS.get(asked[:2], (None, None))
    try:
        return f"{name} {procedures(asked[2]).name}"
    except (TypeError, ValueError):
        return "program {} version {} procedure {}".format(*asked)


def _operations(asked, arguments):
    if asked != compound.ASKED:
        return ""
    try:
        _, operations = nfs.nfs4.decode_args(arguments)
    except wire.DecodeError as fault:
        return f" that does not decode: {fault}"
    return " " + ", ".join(number.name for number, _ in operations)


def _statuses(result):
    if not isinstance(result, compound.CompoundReply):
        return ""
    return " " + ", ".join(
        f"{number.name} {getattr(getattr(one, 'status', None), 'name', '?')}"
        for number, one in result.results
    )
