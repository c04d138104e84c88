"""A connection over RDMA as cases use it: judged, captured, with calls, memory, and outcomes."""

import itertools

from ... import fabric, wire
from ..cases import kinds
from ..cases.case_end import EXCHANGES
from ..cases.finding import of_judge, of_oracle
from ..exchange.call import Call
from ..exchange.callbacks import read_callback
from ..exchange.deadline import Limit
from ..exchange.dialogue import Dialogue, is_rpc_call
from ..exchange.message import Message
from ..exchange.outcome import of_message
from . import oracle
from .journal import journal_text, trace_lines
from .memory import Offer

# Between looks at the trace for an event that gives no notice.
EVENT_STEP_MS = 1
# A grant counts as no more than this. A server may grant 2^32 - 1 calls; no case sends as many.
MOST_GRANT = 4096


class Connection(Dialogue):
    """One connection over RDMA. Made by `bench.connect`, which closes it after the case."""

    has_header = True
    owed = EXCHANGES

    def __init__(self, raw, watch, settings, deadlines, seed, need=None):
        super().__init__(deadlines, seed, settings.credential, need)
        self._raw = raw
        self.watch = watch
        self.settings = settings
        self.grant = 1  # RFC 8166 3.3.3: one call until the first reply
        self.offers = []
        self._received = 0  # messages so far
        self._ended = False  # the last notice was taken.
        self.completed = set()  # work ids of our operations that are done.
        self.refused_reads = set()  # Work ids of RDMA Reads that were refused alone.
        self.violations = []  # (requirement id, text) of the memory oracle.
        # Messages that expectations found wrong: (number, requirement id).
        self._marks = []

    def tap(self, make):
        """From here on `make(connection)` stands in place of the fabric connection."""
        self._raw = make(self._raw)

    # -- facts ---------------------------------------------------------------------------------

    @property
    def raw(self):
        """The fabric.Connection, for what a case does to it directly."""
        return self._raw

    @property
    def open(self):
        """Whether the connection is established and not closed."""
        return self._raw.open

    @property
    def closed(self):
        """Why the connection ended: .code, .detail, .terminate, .terminate_from_peer; or None."""
        return self._raw.closed

    @property
    def refusal(self):
        """Why the connection did not come up, one sentence; "" if it did."""
        return self._raw.refusal

    @property
    def refused_by_time(self):
        """Whether the connection did not come up because nothing was heard in time."""
        return self._raw.refused_by_time

    @property
    def server_private_data(self):
        """The target's private data, without provider framing."""
        return self._raw.private_data

    @property
    def negotiated(self):
        """wire.Negotiated: to_server_bytes, to_client_bytes, remote_invalidation."""
        return wire.negotiate(
            _announced(self.settings.options.private_data), _announced(self.server_private_data)
        )

    @property
    def window(self):
        """Calls that may be in flight: as many as granted, asked for, and covered by receives."""
        return min(self.grant, self.settings.credits, self.settings.options.receives)

    @property
    def recorder(self):
        """trace.Recorder with every event of the connection."""
        return self.watch.recorder

    def mark(self, number, requirement_id):
        """The target's message with this number breaks a requirement."""
        self._marks.append((number, requirement_id))

    def trace_lines(self):
        """[traces Line]: the end of the trace."""
        return trace_lines(self.recorder, self.findings(), self._marks)

    def journal_text(self):
        """The end of the trace, decoded."""
        return journal_text(self.recorder, self.trace_lines())

    def findings(self):
        """[finding.CaseFinding]: the judge's and the memory oracle's, in order."""
        last = max(0, len(self.recorder) - 1)
        return [of_judge(one) for one in self.watch.judge.findings] + [
            of_oracle(requirement_id, text, last) for requirement_id, text in self.violations
        ]

    @property
    def inline_octets(self):
        """Octets that fit inline in both directions."""
        thresholds = self.negotiated
        return min(thresholds.to_server_bytes, thresholds.to_client_bytes)

    def make_fit(self, call):
        """Reduces a call that does not fit inline."""
        if len(call.encoded()) > self.negotiated.to_server_bytes:
            self.reduce(call)

    def make_room(self, call, octets):
        """Offers a reply chunk where a reply of this many octets does not fit inline."""
        if octets > self.negotiated.to_client_bytes:
            self.reply_chunk(call, octets)

    def carry_arguments(self, call):
        """Moves the data of the call into read chunks."""
        self.reduce_all(call)

    def carry_result(self, call, length):
        """Offers a write chunk for data of this length."""
        self.write_chunk(call, length)

    # -- memory --------------------------------------------------------------------------------

    def offer(self, length, read=False, write=False, base=None, content=None):
        """Memory of `length` octets for the target to read (`content`) or write; see memory.Offer.
        It belongs to this connection alone."""
        window_of = self._raw if base is None and length and self._offers_windows() else None
        made = Offer(self._raw.domain, length, read, write, base, content, self._random, window_of)
        self.offers.append(made)
        return made

    def _offers_windows(self):
        """Whether the target may close our memory, and can do so with windows alone."""
        can = self._raw.capabilities
        any_region = can.remote_invalidation or not can.windows
        return self.open and self.negotiated.remote_invalidation and not any_region

    def reduce(self, call, sizes=None):
        """Moves the call's DDP-eligible argument into a read chunk, cut into segments of `sizes`.
        Returns the Offer."""
        position, item = call.take_eligible()
        made = self.offer(len(item), read=True, content=item)
        call.add_read_chunk(position, made.segments(sizes))
        call.offers.append(made)
        return made

    def reduce_all(self, call, sizes=None):
        """Moves every DDP-eligible argument of a COMPOUND into a read chunk of its own, in order.
        Returns the Offers."""
        return self.reduce_each(call, itertools.repeat(sizes))

    def reduce_each(self, call, sizes):
        """The same, with the sizes of the segments of each."""
        made = []
        for (position, item), each in zip(call.take_all_eligible(), sizes):
            offer = self.offer(len(item), read=True, content=item)
            call.add_read_chunk(position, offer.segments(each))
            call.offers.append(offer)
            made.append(offer)
        return made

    def write_chunk(self, call, length=None, sizes=None):
        """Appends a write chunk of `length` octets (the largest eligible result by default)."""
        if length is None:
            length = sum(sizes) if sizes else call.eligible_result_length()
        made = self.offer(length, write=True)
        call.add_write_chunk(made.segments(sizes))
        call.offers.append(made)
        return made

    def reply_chunk(self, call, length=None, sizes=None):
        """Offers a reply chunk of `length` octets (the largest possible reply by default)."""
        if length is None:
            length = sum(sizes) if sizes else call.largest_reply()
        made = self.offer(length, write=True)
        call.set_reply_chunk(made.segments(sizes))
        call.offers.append(made)
        return made

    def long_call(self, call, sizes=None):
        """Turns the call into RDMA_NOMSG: its payload becomes the position-zero read chunk, which
        stands first in the read list."""
        made = self.offer(len(call.payload), read=True, content=call.payload)
        others = list(call.read_list)
        call.read_list = []
        call.add_read_chunk(0, made.segments(sizes))
        call.read_list += others
        call.payload = b""
        call.proc = wire.Procedure.NOMSG
        call.offers.append(made)
        return made

    # -- messages ------------------------------------------------------------------------------

    def _call(self, *asked):
        """A legal RDMA_MSG."""
        return Call(*asked, self.settings.credits)

    def send(self, message, invalidate=None, fault=None):
        """Sends a Call, a wire.Draft or octets as one message and does not wait for an answer.
        `fault` is a fabric.Fault (needs fault-hooks)."""
        octets = _octets(message)
        for found in oracle.before_send(self.offers):
            self._violated(found)
        for offer in getattr(message, "offers", ()):
            offer.sent = True
        try:
            self._raw.send(octets, invalidate=invalidate, fault=fault)
        except fabric.FabricError as error:
            # The target may have ended the connection: whoever waits for the outcome sees that. Our
            # provider may have, with a Terminate that is still on its way.
            if error.code != fabric.ErrorCode.not_connected:
                raise

    def _as_call(self, message):
        return message if isinstance(message, Call) else None

    def _octets(self, message):
        return _octets(message)

    def _is_work(self, message):
        call = self._as_call(message)
        chunks = call is not None and (call.read_list or call.write_list or call.reply_chunk)
        return bool(chunks) or _is_rpc_call(_octets(message))

    def _read(self, call, message):
        return of_message(self, call, message)

    def _take(self, limit, stop_at_callback=False):
        message = super()._take(limit, stop_at_callback)
        if message is not None and message.credit is not None:
            self.grant = min(max(1, message.credit), MOST_GRANT)
        return message

    def _pull(self, limit):
        while not self._ended:
            notice = self._raw.wait(limit.left_ms)
            if notice is None:
                return None
            self._ended = notice.kind in ("closed", "refused")
            if notice.kind == "completed":
                self.completed.add(notice.work_id)
            if notice.kind == "read_refused":
                self.refused_reads.add(notice.work_id)
            if notice.kind == "received":
                self._received += 1
                return Message(bytes(notice.bytes), notice.invalidated, self._received)
        return None

    @property
    def _is_drained(self):
        return self._ended

    def read_callback(self, message):
        """The callbacks.Callback of a message that is a call of the target; else None."""
        return read_callback(message)

    def reverse_message(self, xid, payload, credits):
        """A short RDMA_MSG without chunks, for a reply to a call of the target."""
        draft = wire.Draft()
        draft.xid, draft.credit, draft.payload = xid, credits, payload
        return draft

    def _end_kind(self):
        reason = self.closed
        kind = kinds.DISCONNECT
        if reason.terminate is not None:
            kind = kinds.TERMINATE if reason.terminate_from_peer else kinds.VIOLATION
        elif reason.code.name == "protocol_error":
            kind = kinds.VIOLATION
        return kind, reason.detail

    def _settle(self, call, outcome, keep):
        """The memory oracle's turn after an answer; then the call's memory is taken away."""
        if call is None:
            return
        self.check_memory(call, outcome)
        if not keep:
            for offer in call.offers:
                offer.close()

    def check_memory(self, call, outcome):
        """The memory oracle's turn after an answer to the call."""
        header = outcome.header
        answered = isinstance(header, wire.Header) and outcome.kind != kinds.GARBAGE
        chunks = list(header.write_list) if answered else []
        reply_chunk = list(header.reply_chunk or []) if answered else []
        for found in oracle.after_answer(call.offers, chunks, reply_chunk):
            self._violated(found)

    def _violated(self, found):
        if found not in self.violations:
            self.violations.append(found)

    def work(self):
        """Lets leave what was sent, without waiting for anything."""
        message = self._take(Limit(0))
        if message is not None:
            self._keep(self._early, message)

    def wait_event(self, kind):
        """Waits until another event of this kind (such as "rdma_write") is in the trace; False if the
        connection ended or the time passed before. Messages that come meanwhile are taken by who
        waits next."""
        limit = Limit(self.deadlines.answer_ms)
        looked = len(self.recorder)
        while True:
            for index in range(looked, len(self.recorder)):
                if self.recorder[index].kind == kind:
                    return True
            looked = len(self.recorder)
            if self._ended or limit.passed:
                return False
            message = self._take(Limit(min(EVENT_STEP_MS, limit.left_ms)))
            if message is not None:
                self._keep(self._early, message)

    def wait_until(self, done):
        """Waits until `done()` is true, which is asked after everything that comes; False if the
        connection ended or the time passed before. Messages are taken by who waits next."""
        limit = Limit(self.deadlines.answer_ms)
        while not done():
            if self._ended or limit.passed:
                return False
            message = self._take(Limit(min(EVENT_STEP_MS, limit.left_ms)))
            if message is not None:
                self._keep(self._early, message)
        return True

    def stop_judging(self):
        """The judge asserts nothing more of this connection: a fault gives no event, so that it does not
        see what the target sees."""
        self.watch.lose_sight()

    # -- the end -------------------------------------------------------------------------------

    def _disconnect(self):
        self._raw.disconnect()

    def _reset(self):
        self._raw.abort()

    def settle(self):
        """After the case: the connection ends, late writes show, everything is checked once more.
        Memory is open until the end. Where a network loses acknowledgements, the target repeats Writes
        after the answer that the case waited for."""
        super().settle()
        for found in oracle.outside(self.offers):
            self._violated(found)
        for offer in self.offers:
            offer.close()


def _octets(message):
    return wire.encode(message) if isinstance(message, wire.Draft) else bytes(message)


def _is_rpc_call(octets):
    """Whether a server has to execute the message: a sound header with a sound RPC call behind it."""
    try:
        _, payload = wire.decode(octets)
    except wire.DecodeError:
        return False
    return is_rpc_call(payload)


def _announced(private_data):
    found = wire.find_private_data(private_data)
    return found.data if found is not None else None
