"""A connection over TCP as cases use it: records with RPC messages (RFC 5531 11), captured."""

import collections
import dataclasses

from ... import rpc, wire
from ..cases import kinds
from ..cases.case_end import EXCHANGES_OVER_TCP
from ..exchange.call import RecordCall, RecordReply
from ..exchange.callbacks import callback_of
from ..exchange.dialogue import Dialogue, is_rpc_call
from ..exchange.message import Message
from ..exchange.outcome import of_record

# The largest record that is taken from a target; none of our calls asks for more than a mebibyte.
LARGEST_RECORD = 2 << 20
# Calls that cases have in flight at once. Linux clients go up to 65,536; every server takes 32.
WINDOW = 32
# Octets of the stream from the target that are kept for cases that look at marks.
MOST_RECEIVED = 1 << 20


@dataclasses.dataclass(frozen=True)
class Refusal:
    """Why a connection did not come up: a sentence, and whether it is that nothing was heard in time."""

    sentence: str
    by_time: bool


@dataclasses.dataclass(frozen=True)
class End:
    """Why the connection ended: one of `kinds`, and a sentence."""

    kind: str
    detail: str


class RecordConnection(Dialogue):
    """One connection over TCP. Made by `bench.connect` and `bench.connect_tcp`, which close it after
    the case."""

    owed = EXCHANGES_OVER_TCP
    window = WINDOW
    inline_octets = LARGEST_RECORD

    def __init__(self, stream, journal, deadlines, seed, credential, need=None):
        """`stream` is a stream.Stream, or a Refusal."""
        super().__init__(deadlines, seed, credential, need)
        refused = stream if isinstance(stream, Refusal) else None
        self.refusal = refused.sentence if refused else ""
        self.refused_by_time = refused is not None and refused.by_time
        self.received = bytearray()  # the first MOST_RECEIVED octets of the stream from the target
        self._stream = stream
        self._journal = journal
        self._reader = rpc.RecordReader(record_limit=LARGEST_RECORD)
        self._records = collections.deque()
        self._received = 0  # records so far
        self.closed = End(kinds.DISCONNECT, self.refusal) if refused else None

    def tap(self, make):
        """From here on `make(stream)` stands in place of the stream."""
        self._stream = make(self._stream)

    @property
    def open(self):
        """Whether the connection is established and, as far as was looked, not closed."""
        return self.closed is None

    @property
    def mid_record(self):
        """Whether a part of a record has come whose rest has not."""
        return self._reader.mid_record

    def mark(self, number, requirement_id):
        """The target's record with this number breaks a requirement."""
        self._journal.mark(number, requirement_id)

    def trace_lines(self):
        """[traces Line]: the end of the trace."""
        return self._journal.lines()

    def journal_text(self):
        """The end of the trace, decoded."""
        return self._journal.text()

    # -- messages ------------------------------------------------------------------------------

    def _call(self, *asked):
        return RecordCall(*asked)

    def _as_call(self, message):
        return message if isinstance(message, RecordCall) else None

    def _octets(self, message):
        has_payload = isinstance(message, (RecordCall, RecordReply))
        return bytes(message.payload if has_payload else message)

    def _is_work(self, message):
        return is_rpc_call(self._octets(message))

    def _read(self, call, message):
        return of_record(self, call, message)

    # A record has room for every call and reply, with its data.

    def make_fit(self, call):
        """Nothing to do over TCP."""

    def make_room(self, call, octets):
        """Nothing to do over TCP."""

    def carry_arguments(self, call):
        """Nothing to do over TCP."""

    def carry_result(self, call, length):
        """Nothing to do over TCP."""

    def send(self, message, fragment_octets=None):
        """Sends a RecordCall, a RecordReply or octets as one record, in fragments of so many octets, or in
        one. Does not wait for an answer."""
        octets = self._octets(message)
        limits = {} if fragment_octets is None else {"fragment_octets": fragment_octets}
        if self.open:
            self._journal.note("client", "record", octets)
            self._stream.send(rpc.record(octets, **limits))

    def work(self):
        """What was sent has left already."""

    def send_octets(self, octets, what="octets"):
        """Sends octets of the stream as they are, marks included; `what` names them in the trace."""
        if self.open:
            self._journal.note("client", what, octets)
            self._stream.send(octets)

    def end(self):
        """Ends our half of the stream; what the target sends is still taken."""
        if self.open:
            self._journal.note("client", "end of stream")
            self._stream.end()

    def read_callback(self, message):
        """The callbacks.Callback of a message that is a call of the target; else None."""
        return callback_of(message.bytes, message)

    def reverse_message(self, xid, payload, credits):
        """A RecordReply; a record has no credits."""
        return RecordReply(xid, payload)

    @property
    def _is_drained(self):
        return not (self.open or self._records)

    def _pull(self, limit):
        while not self._records and self.open:
            octets = self._stream.take(limit.left_ms)
            if octets is None:
                return None
            if octets:
                self._feed(octets)
            else:
                self._target_ended()
            if limit.passed:
                break  # a record that grows by an octet at a time ends no wait otherwise
        return self._records.popleft() if self._records else None

    def _feed(self, octets):
        self.received += octets[: MOST_RECEIVED - len(self.received)]
        try:
            records = self._reader.feed(octets)
        except wire.DecodeError as fault:
            self._journal.note("server", "octets", octets)
            self._stream.reset()
            self.closed = End(kinds.VIOLATION, f"record marking: {fault}")
            return
        for record in records:
            self._journal.note("server", "record", record)
            self._received += 1
            self._records.append(Message(record, number=self._received))

    def _target_ended(self):
        sentence = self._stream.ended
        if self.mid_record:
            sentence += " inside a record"
        self._journal.note("server", sentence)
        self._stream.close()
        self.closed = End(kinds.DISCONNECT, sentence)

    def _end_kind(self):
        return self.closed.kind, self.closed.detail

    # -- the end -------------------------------------------------------------------------------

    def _disconnect(self):
        self._stream.close()
        self.closed = End(kinds.DISCONNECT, "we closed the connection")

    def _reset(self):
        self._stream.reset()
        self.closed = End(kinds.DISCONNECT, "we reset the connection")
