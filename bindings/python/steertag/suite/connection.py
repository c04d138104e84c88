"""A connection as cases use it: judged, captured, with calls, memory, and outcomes."""

import collections
import dataclasses
import random
import struct

from .. import fabric, nfs, rpc, wire
from . import kinds, oracle
from .call import Call
from .deadline import Limit
from .journal import trace_text
from .memory import Offer
from .outcome import of_message, without_answer
from .nfs_message import nfs_arguments
from .verdict import HarnessError

# Round trips after a message before its silence counts as proved. The transport keeps order, and what
# is no RPC call is judged as it arrives; two in a row, because a server may have several threads.
# Calls may complete in any order (RFC 8166 3.3.1), so they get the whole time of an answer first.
SILENCE_PROBES = 2
# Messages taken while waiting for one outcome; a target that floods us is a hang.
MOST_MESSAGES = 4096

# Between looks at the trace for an event that gives no notice.
EVENT_STEP_MS = 1

NFS3 = nfs.nfs3


@dataclasses.dataclass(frozen=True)
class Message:
    """A received Send."""

    bytes: bytes
    invalidated: int | None = None

    @property
    def xid(self):
        """The first word, or None of a message that is shorter."""
        return struct.unpack(">I", self.bytes[:4])[0] if len(self.bytes) >= 4 else None

    @property
    def credit(self):
        """The credit word, or None."""
        return struct.unpack(">I", self.bytes[8:12])[0] if len(self.bytes) >= 12 else None


class Connection:
    """One connection to the target. Made by `bench.connect`, which closes it after the case."""

    def __init__(self, raw, watch, settings, deadlines, seed, need=None):
        """`need(name)` ends the case when the target lacks something; None asks nobody."""
        self.raw = raw
        self.watch = watch
        self.settings = settings
        self.deadlines = deadlines
        self.grant = 1  # RFC 8166 3.3.3: one call until the first reply
        self.inbox = collections.deque()
        self._early = collections.deque()  # messages that came while an event was awaited
        self.offers = []
        self._need = need
        self._random = random.Random(seed)
        self._xid = self._random.getrandbits(31)
        self._abandoned = set()  # XIDs of probes whose reply nobody waits for any more
        self._ended = False  # the last notice was taken
        self.violations = []  # (requirement id, text) of the memory oracle
        self.patient = False  # every call is legal and is answered: wait rather than prove silence

    # -- facts ---------------------------------------------------------------------------------

    @property
    def open(self):
        """Whether the connection is established and not closed."""
        return self.raw.open

    @property
    def closed(self):
        """Why the connection ended: .code, .detail, .terminate, .terminate_from_peer; or None."""
        return self.raw.closed

    @property
    def refusal(self):
        """Why the connection did not come up, one sentence; "" if it did."""
        return self.raw.refusal

    @property
    def refused_by_time(self):
        """Whether the connection did not come up because nothing was heard in time."""
        return self.raw.refused_by_time

    @property
    def server_private_data(self):
        """The target's private data, without provider framing."""
        return self.raw.private_data

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

    def journal_text(self):
        """The end of the trace, decoded."""
        return trace_text(self.watch.recorder)

    # -- messages ------------------------------------------------------------------------------

    def next_xid(self):
        """An XID that this connection has not used."""
        self._xid = (self._xid + 1) & 0xFFFFFFFF
        return self._xid

    def rpc_call(self, program, version, procedure, arguments=b"", credential=None, xid=None):
        """A legal RDMA_MSG with one RPC call. `credential` is an rpc.OpaqueAuth, as rpc.auth_sys()
        makes it; None means AUTH_NONE."""
        xid = self.next_xid() if xid is None else xid
        header = rpc.Call(xid=xid, program=program, version=version, procedure=procedure)
        if credential is not None:
            header.credential = credential
        payload = header.encode(bytes(arguments))
        return Call(xid, payload, program, version, procedure, self.settings.credits)

    def null_call(self, program=NFS3.PROGRAM, version=NFS3.VERSION):
        """A legal NULL call."""
        return self.rpc_call(program, version, 0)

    def nfs_call(self, procedure, arguments=None, xid=None, **fields):
        """A legal NFSv3 call: `nfs_call("READ", file=handle, offset=0, count=4096)`. Fields have the
        names of RFC 1813, a struct may be a dict; or give `arguments` as octets or as a value of
        steertag.nfs.nfs3."""
        if self._need is not None:
            self._need("nfs3")
        number, body = nfs_arguments(procedure, arguments, fields)
        credential = self.settings.credential
        return self.rpc_call(NFS3.PROGRAM, NFS3.VERSION, number, body, credential, xid)

    # -- memory --------------------------------------------------------------------------------

    def offer(self, length, read=False, write=False, base=None, content=None):
        """Memory of `length` octets for the target to read (`content`) or write; see memory.Offer.
        It belongs to this connection alone."""
        window_of = self.raw if base is None and length and self._offers_windows() else None
        made = Offer(self.raw.domain, length, read, write, base, content, self._random, window_of)
        self.offers.append(made)
        return made

    def _offers_windows(self):
        """Whether the target may close our memory, and can do so with windows alone."""
        can = self.raw.capabilities
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

    # -- exchanges -----------------------------------------------------------------------------

    def send(self, message, invalidate=None, fault=None):
        """Sends a Call, a wire.Draft or octets as one message and does not wait for an answer.
        `fault` is a fabric.Fault (needs fault-hooks)."""
        octets = _octets(message)
        for found in oracle.before_send(self.offers):
            self._violated(found)
        for offer in getattr(message, "offers", ()):
            offer.sent = True
        try:
            self.raw.send(octets, invalidate=invalidate, fault=fault)
        except fabric.FabricError as error:
            # The target may have ended the connection: whoever waits for the outcome sees that.
            if error.code != fabric.ErrorCode.not_connected or self.open:
                raise

    def receive(self, timeout_ms=None):
        """The next message of the target, or None if the connection ended or the time passed."""
        if self.inbox:
            return self.inbox.popleft()
        return self._next(Limit(self.deadlines.answer_ms if timeout_ms is None else timeout_ms))

    def exchange(self, message, xid=None, keep=False):
        """Sends the message and tells what came of it: an answer, a close, or proved silence.

        `xid` is the XID that an answer would carry; by default the first word of the message. Memory
        offered by the call is taken away after the answer unless `keep` is set."""
        self.send(message)
        return self.await_outcome(message, xid, keep)

    def await_outcome(self, message, xid=None, keep=False):
        """What came of a message that was sent before: the second half of `exchange`."""
        call = message if isinstance(message, Call) else None
        if xid is None:
            xid = call.xid if call else _first_word(message)
        outcome = self._await(message, call, xid)
        self._settle(call, outcome, keep)
        return outcome

    def collect(self, calls, keep=False):
        """Sends all calls without waiting in between and returns {xid: Outcome} of all of them. What
        has not come when no more arrives is judged like the silence of one call."""
        for call in calls:
            self.send(call)
        waiting = {call.xid: call for call in calls}
        outcomes = {}
        limit = Limit(self.deadlines.answer_ms)
        while waiting and not limit.passed:
            message = self._next(limit)
            if message is None:
                break
            call = waiting.pop(message.xid, None)
            if call is None:
                self.inbox.append(message)
                continue
            outcomes[call.xid] = of_message(self, call, message)
            self._settle(call, outcomes[call.xid], keep)
        for xid, call in waiting.items():
            outcomes[xid] = self.await_outcome(call, keep=keep)
        return outcomes

    def probe(self, timeout_ms=None):
        """One legal NULL call and its Outcome: the first message that comes, which is "reply" from a
        target in order; a close; or "hang"."""
        call = self.null_call()
        self.send(call)
        limit = Limit(self.deadlines.answer_ms if timeout_ms is None else timeout_ms)
        answer = self._answer(limit)
        if answer is None:
            return self._unanswered(call.xid, 0)
        return of_message(self, call, answer)

    def _patience_ms(self, message, call):
        """How long to wait before later replies are taken for a proof of silence. They prove nothing
        while a server executes a call, or moves its chunks."""
        chunks = call is not None and (call.read_list or call.write_list or call.reply_chunk)
        if chunks or self.patient or _is_rpc_call(_octets(message)):
            return self.deadlines.answer_ms
        return self.deadlines.patience_ms

    def _await(self, message, call, xid):
        answer = self._answer(Limit(self._patience_ms(message, call)))
        probes = 0
        while answer is None and self.open and probes < SILENCE_PROBES:
            probe = self.null_call()
            self.send(probe)
            probes += 1
            answer = self._answer(Limit(self.deadlines.answer_ms))
            if answer is None:
                return self._unanswered(xid, probes)
            if answer.xid == probe.xid:
                answer = None
            else:
                self._abandoned.add(probe.xid)
        if answer is not None:
            return of_message(self, call, answer)
        if not self.open:
            return self._unanswered(xid, probes)
        detail = f"{probes} later NULL calls were answered"
        return without_answer(kinds.SILENCE, self, xid, detail, probes)

    def _answer(self, limit):
        """The next message that is not the reply to an abandoned probe; None when the connection ended
        or the limit passed."""
        for _ in range(MOST_MESSAGES):
            message = self._next(limit)
            if message is None or message.xid not in self._abandoned:
                return message
            self._abandoned.discard(message.xid)
        return None

    def _next(self, limit):
        """The next message off the wire."""
        if self._early:
            return self._early.popleft()
        return self._take(limit)

    def _take(self, limit):
        while not self._ended:
            notice = self.raw.wait(limit.left_ms)
            if notice is None:
                return None
            self._ended = notice.kind in ("closed", "refused")
            if notice.kind == "received":
                message = Message(bytes(notice.bytes), notice.invalidated)
                if message.credit is not None:
                    self.grant = max(1, message.credit)
                return message
        return None

    def _unanswered(self, xid, probes):
        if self.open:
            return without_answer(kinds.HANG, self, xid, "no reply to a valid NULL call", probes)
        reason = self.closed
        kind = kinds.DISCONNECT
        if reason.terminate is not None:
            kind = kinds.TERMINATE if reason.terminate_from_peer else kinds.VIOLATION
        elif reason.code.name == "protocol_error":
            kind = kinds.VIOLATION
        return without_answer(kind, self, xid, reason.detail, probes)

    def _settle(self, call, outcome, keep):
        """The memory oracle's turn after an answer; then the call's memory is taken away."""
        if call is None:
            return
        header = outcome.header
        answered = header is not None and outcome.kind != kinds.GARBAGE
        chunks = list(header.write_list) if answered else []
        reply_chunk = list(header.reply_chunk or []) if answered else []
        for found in oracle.after_answer(call.offers, chunks, reply_chunk):
            self._violated(found)
        if not keep:
            for offer in call.offers:
                offer.close()

    def _violated(self, found):
        if found not in self.violations:
            self.violations.append(found)

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
                self._early.append(message)

    # -- the end -------------------------------------------------------------------------------

    def wait_closed(self, timeout_ms=None):
        """Waits until the connection ended; False if it did not within the deadline."""
        limit = Limit(self.deadlines.answer_ms if timeout_ms is None else timeout_ms)
        while self.open and not limit.passed:
            message = self._next(limit)
            if message is not None:
                self.inbox.append(message)
            if len(self.inbox) > MOST_MESSAGES:
                self.raw.abort()
                self.inbox.clear()
        return not self.open

    def close(self):
        """Orderly end."""
        if self.open:
            self.raw.disconnect()
            self.wait_closed()

    def abort(self):
        """Hard end: the stream is reset."""
        if self.open:
            self.raw.abort()
            self.wait_closed()

    def settle(self):
        """After the case: late writes show, everything is checked once more, the connection ends."""
        for found in oracle.outside(self.offers):
            self._violated(found)
        for offer in self.offers:
            offer.close()
        self.close()
        if self.open:
            raise HarnessError("a connection could not be closed")


def _octets(message):
    return wire.encode(message) if isinstance(message, wire.Draft) else bytes(message)


def _is_rpc_call(octets):
    """Whether a server has to execute the message: a sound header with a sound RPC call behind it."""
    try:
        _, payload = wire.decode(octets)
        rpc.Call.decode(payload)
    except wire.DecodeError:
        return False
    return True


def _first_word(message):
    octets = _octets(message)
    return struct.unpack(">I", octets[:4])[0] if len(octets) >= 4 else None


def _announced(private_data):
    found = wire.find_private_data(private_data)
    return found.data if found is not None else None
