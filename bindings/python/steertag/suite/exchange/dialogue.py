"""Calls, outcomes, the proof of silence and the end of a connection, whatever carries its messages."""

import random
import struct

from ... import nfs, rpc, wire
from ..cases import kinds
from ..cases.case_end import HarnessError
from ..nfs_client import compound
from ..nfs_client.nfs_message import nfs_arguments
from .backlog import Backlog, MOST_MESSAGES
from .deadline import Limit
from .message import Message
from .outcome import without_answer

# Round trips after a message that prove its silence. The transport keeps order, and a server judges what is
# no RPC call when it arrives. There are two, because a server may have several threads. Calls may complete in
# any order (RFC 8166 3.3.1), so they get the whole time of an answer first.
SILENCE_PROBES = 2
FLOODED = "it sends messages without end"

NFS3 = nfs.nfs3


class Dialogue:
    """One connection to the target. A subclass encodes calls (`_call`, `send`), takes messages off the wire
    (`_pull`), reads them (`_read`), and ends the connection. It knows calls of the target
    (`read_callback`) and their replies (`reverse_message`). It makes room for data (`make_room`,
    `carry_arguments`, `carry_result`)."""

    # Whether messages have the transport header of RPC over RDMA.
    has_header = False
    # The requirement that a target breaks which does not even answer a plain call.
    owed = ""
    # The version of NFS that the target executes.
    null_version = NFS3.VERSION

    def __init__(self, deadlines, seed, credential, need=None):
        """`credential` is an rpc.OpaqueAuth, or None for AUTH_NONE. `need(name)` ends the case when
        the target lacks something; None never does."""
        self.deadlines = deadlines
        self.credential = credential  # Of NFS calls.
        self.inbox = Backlog()
        self.patient = False  # Every call is legal and gets an answer: wait, and prove no silence.
        self.missed = 0  # Times that nothing came in the whole time of an answer.
        self.flooded = False  # The target sent more than is kept, and was cut off.
        self.callbacks = None  # callbacks.Callbacks, which gets the target's own calls.
        self._early = Backlog()  # Messages that came while something else was awaited.
        self._need = need
        self._random = random.Random(seed)
        self._xid = self._random.getrandbits(31)
        self._abandoned = set()  # XIDs of probes whose replies are ignored.

    # -- calls ---------------------------------------------------------------------------------

    def next_xid(self):
        """An XID that this connection has not used."""
        self._xid = (self._xid + 1) & 0xFFFFFFFF
        return self._xid

    def rpc_call(self, program, version, procedure, arguments=b"", credential=None, xid=None):
        """A legal message with one RPC call. `credential` is an rpc.OpaqueAuth, as rpc.auth_sys()
        makes it; None means AUTH_NONE."""
        xid = self.next_xid() if xid is None else xid
        header = rpc.Call(xid=xid, program=program, version=version, procedure=procedure)
        if credential is not None:
            header.credential = credential
        return self._call(xid, header.encode(bytes(arguments)), program, version, procedure)

    def null_call(self, program=NFS3.PROGRAM, version=None):
        """A legal NULL call, of `null_version` unless another is given."""
        return self.rpc_call(program, self.null_version if version is None else version, 0)

    def nfs_call(self, procedure, arguments=None, xid=None, **fields):
        """A legal NFSv3 call: `nfs_call("READ", file=handle, offset=0, count=4096)`. Fields have the
        names of RFC 1813, a struct may be a dict; or give `arguments` as octets or as a value of
        steertag.nfs.nfs3."""
        if self._need is not None:
            self._need("nfs3")
        number, body = nfs_arguments(procedure, arguments, fields)
        return self.rpc_call(NFS3.PROGRAM, NFS3.VERSION, number, body, self.credential, xid)

    def compound_call(self, *operations, minorversion=1, tag="", count=None, xid=None):
        """A COMPOUND of NFS version 4: names of operations, or what compound.operation makes."""
        body = compound.compound_arguments(operations, minorversion, tag, count)
        return self.rpc_call(*compound.ASKED, body, self.credential, xid)

    # -- exchanges -----------------------------------------------------------------------------

    def receive(self, timeout_ms=None):
        """The next message of the target, or None if the connection ended or the time passed."""
        if self.inbox:
            return self.inbox.popleft()
        return self._next(Limit(self.deadlines.answer_ms if timeout_ms is None else timeout_ms))

    def take_outcome(self, message, timeout_ms):
        """The Outcome of a call that was sent before, by the next message that comes; None if none comes
        in this time. Its memory stays open."""
        came = self.receive(timeout_ms)
        return None if came is None else self._read(self._as_call(message), came)

    def exchange(self, message, xid=None, keep=False):
        """Sends the message and tells what came of it: an answer, a close, or proved silence.

        `xid` is the XID that an answer would carry; by default the first word of the message. Memory
        offered by the call is taken away after the answer unless `keep` is set."""
        self.send(message)
        return self.await_outcome(message, xid, keep)

    def await_outcome(self, message, xid=None, keep=False):
        """What came of a message that was sent before: the second half of `exchange`."""
        return self._conclude(message, xid, keep, self._patience_ms(message))

    def await_either(self, one, other):
        """What came of two calls with one XID that were sent before: the next answer. It is the reply to the call
        whose results it has."""
        outcome = self.await_outcome(one)
        if outcome.kind != kinds.GARBAGE:
            return outcome
        answer = Message(outcome.raw, outcome.invalidated, outcome.number)
        read = self._read(self._as_call(other), answer)
        return outcome if read.kind == kinds.GARBAGE else read

    def _conclude(self, message, xid, keep, patience_ms):
        call = self._as_call(message)
        if xid is None:
            xid = call.xid if call else self._first_word(message)
        outcome = self._await(call, xid, patience_ms)
        outcome.call = call
        self._settle(call, outcome, keep)
        return outcome

    def collect(self, calls, keep=False):
        """Sends all calls without waiting in between and returns {xid: Outcome} of all of them. What
        has not come when no more arrives is judged like the silence of one call."""
        for call in calls:
            self.send(call)
        return self.collect_sent(calls, keep)

    def collect_sent(self, calls, keep=False):
        """{xid: Outcome} of calls that were sent before: the second half of `collect`. Each reply may take
        the time of an answer after the one before it."""
        waiting = {call.xid: call for call in calls}
        outcomes = {}
        limit = Limit(self.deadlines.answer_ms)
        while waiting and not limit.passed:
            message = self._next(limit)
            if message is None:
                self._miss(self.deadlines.answer_ms)
                break
            call = waiting.pop(message.xid, None)
            if call is None:
                self._keep(self.inbox, message)
                continue
            outcomes[call.xid] = self._read(call, message)
            self._settle(call, outcomes[call.xid], keep)
            limit = Limit(self.deadlines.answer_ms)
        hung = False
        for xid, call in waiting.items():
            # Those have had their time. Who does not answer a NULL call is not asked again for each.
            outcome = self._unanswered(xid, 0) if hung else self._conclude(call, xid, keep, 0)
            hung = outcome.kind == kinds.HANG
            outcomes[xid] = outcome
        return outcomes

    def probe(self, timeout_ms=None):
        """One legal NULL call and its Outcome: the first message that comes, which is "reply" from a
        target in order; a close; or "hang"."""
        call = self.null_call()
        self.send(call)
        limit_ms = self.deadlines.answer_ms if timeout_ms is None else timeout_ms
        answer = self._answer(Limit(limit_ms))
        if answer is None:
            self._miss(limit_ms)
            return self._unanswered(call.xid, 0)
        return self._read(call, answer)

    def _patience_ms(self, message):
        """How long to wait before later replies are taken for a proof of silence. They prove nothing
        while a server executes a call."""
        if self.patient or self._is_work(message):
            return self.deadlines.answer_ms
        return self.deadlines.patience_ms

    def _await(self, call, xid, patience_ms):
        answer = self._answer(Limit(patience_ms))
        if answer is None:
            self._miss(patience_ms)
        probes = 0
        while answer is None and self.open and probes < SILENCE_PROBES:
            probe = self.null_call()
            self.send(probe)
            probes += 1
            answer = self._answer(Limit(self.deadlines.answer_ms))
            if answer is None:
                self._miss(self.deadlines.answer_ms)
                return self._unanswered(xid, probes)
            if answer.xid == probe.xid:
                answer = None
            else:
                self._abandoned.add(probe.xid)
        if answer is not None:
            return self._read(call, answer)
        if not self.open:
            return self._unanswered(xid, probes)
        detail = f"{probes} later NULL calls were answered"
        return without_answer(kinds.SILENCE, self, xid, detail, probes)

    def _miss(self, waited_ms):
        """Nothing came in this time."""
        self.missed += self.open and waited_ms >= self.deadlines.answer_ms

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
        """The next message that no case has taken."""
        return self._early.popleft() if self._early else self._take(limit)

    def _take(self, limit, stop_at_callback=False):
        """The next message off the wire that `callbacks` leaves. None if the connection ended or the
        time passed; with `stop_at_callback` also after a call of the target."""
        while True:
            message = self._pull(limit)
            if message is None or self.callbacks is None or not self.callbacks.take(message):
                return message
            if stop_at_callback or limit.passed:
                return None  # a target that calls without end ends no wait otherwise

    def wait_callback(self, limit):
        """Works until a call of the target has come (True), the connection ended or the limit passed.
        Other messages that come meanwhile are taken by who waits next."""
        before = self.callbacks.count
        while self.callbacks.count == before and not self._is_drained and not limit.passed:
            message = self._take(limit, stop_at_callback=True)
            if message is not None:
                self._keep(self._early, message)
        return self.callbacks.count != before

    def _keep(self, backlog, message):
        """Keeps a message for who waits next. A target that floods us is cut off."""
        backlog.append(message)
        if backlog.is_full:
            self.cut_off()

    def cut_off(self):
        """Ends the connection to a target that floods us."""
        if not self.flooded:
            self.flooded = True
            self._reset()

    def _unanswered(self, xid, probes):
        if self.flooded:
            return without_answer(kinds.VIOLATION, self, xid, FLOODED, probes)
        if self.open:
            return without_answer(kinds.HANG, self, xid, "no reply to a valid NULL call", probes)
        kind, detail = self._end_kind()
        return without_answer(kind, self, xid, detail, probes)

    def _settle(self, call, outcome, keep):
        """After an answer: what its call leaves behind."""

    def _first_word(self, message):
        octets = self._octets(message)
        return struct.unpack(">I", octets[:4])[0] if len(octets) >= 4 else None

    # -- the end -------------------------------------------------------------------------------

    def wait_closed(self, timeout_ms=None):
        """Waits until the connection ended; False if it did not within the deadline."""
        limit = Limit(self.deadlines.answer_ms if timeout_ms is None else timeout_ms)
        while self.open and not limit.passed:
            message = self._next(limit)
            if message is not None:
                self._keep(self.inbox, message)
        return not self.open

    def close(self):
        """Orderly end."""
        if self.open:
            self._disconnect()
            self.wait_closed()

    def abort(self):
        """Hard end: the stream is reset."""
        if self.open:
            self._reset()
            self.wait_closed()

    def settle(self):
        """After the case: the connection ends. A target that does not end its half is not waited for."""
        self.close()
        self.abort()
        if self.open:
            raise HarnessError("a connection could not be closed")

    def findings(self):
        """[finding.CaseFinding] of whoever watched the connection."""
        return []


def is_rpc_call(payload):
    """Whether a server has to execute the RPC message: its header decodes as that of a call."""
    try:
        rpc.Call.decode(payload)
    except wire.DecodeError:
        return False
    return True
