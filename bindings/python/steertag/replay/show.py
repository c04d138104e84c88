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
_PROGRAMS = {
    (nfs.nfs3.PROGRAM, nfs.nfs3.VERSION): ("NFSv3", nfs.nfs3.Procedure),
    (nfs.mount3.PROGRAM, nfs.mount3.VERSION): ("MOUNTv3", nfs.mount3.Procedure),
}


def script(recording):
    """Lines of text. Raises Failure if the file holds no message."""
    lines = _Script()
    events = _events(recording.capture)
    if events:
        for connection, event in events:
            lines.event(connection, event)
    else:
        for step in recording.steps:
            lines.step(step)
    if not lines.lines:
        raise Failure("the recording holds no messages to show")
    yield from lines.lines
    number = lines.number_of(_judged_octets(recording))
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


def _judged_octets(recording):
    """The octets of the message that the failed judgement is about; None if it is about no message."""
    steps = recording.steps
    judged = [step for step in steps if step.kind in ("expect", "check")]
    if not judged or judged[-1].fields["requirement"] not in recording.reason:
        return None
    fields = judged[-1].fields
    is_of_kind = judged[-1].kind == "expect"
    near = [] if is_of_kind else [each[0] for each in (*fields["around"], *fields["sources"])]
    for number, xid in [fields["seen"]] if is_of_kind else near:
        came = next((step.came for step in steps if step.number == number), None)
        came = came.get(str(xid)) if isinstance(came, dict) and xid is not None else came
        if not isinstance(came, dict) or "octets" not in came:
            continue
        legal = (*fields.get("must", ()), *fields.get("should", ()))
        return None if is_of_kind and came.get("kind") in legal else came["octets"]
    return None


class _Script:
    """The lines so far, and the calls that replies are decoded by."""

    def __init__(self):
        self.lines = []
        self._numbers = {}  # octets of a message from the server: its number
        self._calls = {}  # (connection, sender, XID): (program, version, procedure)
        self._writes = {}  # (connection, STag): [(offset, octets)]
        self._readers = {}  # (connection, sender): RecordReader; None behind an illegal mark
        self._ended = set()  # connections whose end has its line

    def number_of(self, octets):
        return self._numbers.get(octets)

    def event(self, connection, event):
        """One event of a capture."""
        sender, text = str(event).split(" ", 2)[1:]
        if event.kind == "rdma_write":
            placed = self._writes.setdefault((connection, event.stag), [])
            placed.append((event.offset, bytes(event.payload)))
        if event.kind == "send":
            octets = bytes(event.bytes)
            text = f"{text.split(' [')[0]}{_invalidated(event)}: "
            text += self._message(connection, sender, octets)
            self._add(f"c{connection}", sender, text, octets)
        else:
            self._add(f"c{connection}", sender, text)

    def step(self, step):
        """One step over TCP, whose messages are RPC messages without transport headers."""
        if step.kind in ("connect", "connect_tcp", "end", "reset", "close", "abort"):
            self._add(step.subject, CLIENT, step.kind)
        if "octets" in step.fields:
            self._stream(step.subject, CLIENT, step.fields["octets"])
        message = step.fields.get("message")
        message = message.get("octets") if isinstance(message, dict) else message
        if isinstance(message, bytes):
            self._record(step.subject, CLIENT, message)
        if isinstance(step.came, bytes) and step.kind in ("take", "receive"):
            self._stream(step.subject, SERVER, step.came)
        came = step.came if isinstance(step.came, dict) else {}
        for each in [came, *(one for one in came.values() if isinstance(one, dict))]:
            if isinstance(each.get("octets"), bytes):
                self._record(step.subject, SERVER, each["octets"])
            elif each.get("kind") in kinds.CLOSED and step.subject not in self._ended:
                self._ended.add(step.subject)
                self._add(step.subject, SERVER, each["kind"])

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
        self._add(connection, sender, text, octets)

    def _add(self, connection, sender, text, octets=None):
        number = len(self.lines) + 1
        if octets is not None and sender == SERVER:
            self._numbers[octets] = number
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


def _invalidated(event):
    return "" if event.invalidated is None else f" invalidates STag 0x{event.invalidated:08x}"


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
