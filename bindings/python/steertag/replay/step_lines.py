"""The steps of a recording as decoded lines: what was posted and what came, by connection."""

from .. import rpc, wire
from ..suite.recording.recording_file import CLIENT, SERVER
from ..traces.connection_trace import ConnectionTrace
from ..traces.event import Event, NOTE, OCTETS, RECORD


class StepLines:
    """Makes lines of steps in order. `over_tcp`: the helper's connection has no step of its own that says so."""

    def __init__(self, over_tcp=False):
        self._over_tcp = over_tcp
        self._traces = {}  # connection: ConnectionTrace
        self._regions = {}  # name: fields of its step
        self._readers = {}  # (connection, sender): RecordReader; None behind an illegal mark
        self._streams = set()  # connections over TCP

    def lines(self, steps):
        """(number of the step, Line) of each step that did something on a connection."""
        for step in steps:
            make = getattr(self, f"_of_{step.kind}", None)
            for actor, kind, fields in make(step.subject, step.fields) if make else ():
                yield step.number, self._line(step.subject, actor, kind, fields)

    def _line(self, connection, actor, kind, fields):
        if connection not in self._traces:
            self._traces[connection] = ConnectionTrace(connection, self._content)
        return self._traces[connection].line(Event(0, actor, kind, fields))

    def _is_stream(self, connection):
        return self._over_tcp or connection in self._streams

    def _content(self, handle, offset, length):
        """What the case put into its memory."""
        for region in self._regions.values():
            start = offset - region["base"]
            if region["stag"] == handle and start >= 0:
                return region["content"][start : start + length]
        return b""

    # -- what was posted -----------------------------------------------------------------------

    def _of_memory(self, name, fields):
        self._regions[name] = fields
        return ()

    def _of_connect(self, _, fields):
        yield CLIENT, "connect", {"private_data": fields["settings"].get("private_data", b"")}

    def _of_connect_tcp(self, connection, _):
        self._streams.add(connection)
        yield _note(CLIENT, "Connect over TCP")

    def _of_stream(self, connection, _):
        self._streams.add(connection)
        yield _note(CLIENT, "Connect over TCP, without records")

    def _of_send(self, connection, fields):
        if self._is_stream(connection):
            yield from self._stream(connection, CLIENT, fields["octets"])
            return
        given = {"bytes": fields["octets"], "invalidated": fields.get("invalidate")}
        yield CLIENT, "send", {**given, "fault": fields.get("fault")}

    def _of_raw(self, _, fields):
        words = " ".join(_argument(each) for each in fields["arguments"])
        yield _note(CLIENT, f"{fields['method']} {words}")

    def _of_end(self, *_):
        yield _note(CLIENT, "end of stream")

    def _of_close(self, *_):
        yield CLIENT, "disconnect", {}

    def _of_reset(self, *_):
        yield CLIENT, "disconnect", {"clean": False}

    # -- what came -----------------------------------------------------------------------------

    def _of_accepted(self, _, fields):
        yield SERVER, "accept", {"private_data": fields["private_data"]}

    def _of_rejected(self, _, fields):
        yield SERVER, "reject", {"private_data": fields["private_data"]}

    def _of_received(self, connection, fields):
        octets = fields["octets"]
        if "fragments" in fields:
            yield SERVER, RECORD, {"bytes": octets}
        elif self._is_stream(connection):
            yield SERVER, OCTETS, {"bytes": octets}
        else:
            region = self._regions.get(fields.get("invalidated"))
            stag = region["stag"] if region else None
            yield SERVER, "send", {"bytes": octets, "invalidated": stag}

    def _of_rdma_write(self, _, fields):
        stag, offset = self._place(fields)
        given = {"stag": stag, "offset": offset, "length": fields["length"]}
        yield SERVER, "rdma_write", {**given, "payload": fields["octets"]}

    def _of_rdma_read(self, _, fields):
        stag, offset = self._place(fields)
        given = {"source_stag": stag, "source_offset": offset, "length": fields["length"]}
        yield SERVER, "rdma_read", given

    def _of_ended(self, _, fields):
        kind = fields["how"]
        yield (SERVER, kind, {}) if kind in ("terminate", "disconnect") else _note(SERVER, kind)

    def _of_terminated(self, *_):
        yield _note(CLIENT, "Terminate: our provider refuses what came")

    def _place(self, fields):
        """STag and offset on the wire of a range of memory; no STag if it is none of the case's."""
        region = self._regions.get(fields["memory"])
        if region is None:
            return None, fields["offset"]
        return region["stag"], region["base"] + fields["offset"]

    def _stream(self, connection, sender, octets):
        """Octets of a TCP stream: the records that they complete, or how many they are."""
        reader = self._readers.setdefault((connection, sender), rpc.RecordReader())
        try:
            records = reader.feed(octets) if reader else []
        except wire.DecodeError as fault:
            self._readers[connection, sender] = None
            yield sender, OCTETS, {"bytes": octets, "text": f"octets that break at {fault}"}
            return
        if not records:
            yield sender, OCTETS, {"bytes": octets}
        for record in records:
            yield sender, RECORD, {"bytes": bytes(record)}


def _note(sender, text):
    return sender, NOTE, {"text": text}


def _argument(value):
    return f"[{value[:32].hex(' ', 4)}]" if isinstance(value, bytes) else str(value)
