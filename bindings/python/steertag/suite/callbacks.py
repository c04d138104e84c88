"""The other direction of a connection (RFC 8167): what the target calls, and the replies of a case."""

import collections
import dataclasses

from .. import nfs, rpc, wire
from .deadline import Limit

NFS4 = nfs.nfs4
# Calls that a case lets the target have under way at a time, unless it says otherwise.
REVERSE_CREDITS = 4
# Calls that are kept; a target that floods us with more is left to run into its own limits.
MOST_KEPT = 256


@dataclasses.dataclass
class Callback:
    """One call of the target, as it came."""

    message: object  # message.Message
    header: object  # wire.Header
    payload: bytes  # the RPC message
    rpc: object  # rpc.Call
    fixed: object = None  # nfs4.CbCompoundArgs of a CB_COMPOUND that decodes
    operations: list = dataclasses.field(default_factory=list)  # (CbOpnum, arguments)

    @property
    def xid(self):
        """rdma_xid."""
        return self.header.xid

    @property
    def is_null(self):
        return self.rpc.procedure == NFS4.CB_NULL

    def __getitem__(self, name):
        """The arguments of the first operation of this name; KeyError if there is none."""
        for number, arguments in self.operations:
            if number.name == name:
                return arguments
        raise KeyError(name)

    def __contains__(self, name):
        return any(number.name == name for number, _ in self.operations)


class Callbacks:
    """Takes the calls of the target on one connection. CB_NULL is answered at once as long as
    `answers_null` is set; what is no CB_NULL waits for the case, which answers it by `answer`."""

    def __init__(self, conn, credits=REVERSE_CREDITS, answers_null=True):
        self.conn = conn
        self.credits = credits
        self.answers_null = answers_null
        self.count = 0  # of all that came
        self.kept = collections.deque()  # those that no case has taken
        self.seen = []  # all of them
        conn.callbacks = self

    # -- calls ---------------------------------------------------------------------------------

    def take(self, message):
        """Whether the message is a call of the target; for Connection."""
        callback = read_callback(message)
        if callback is None:
            return False
        self.count += 1
        if len(self.seen) < MOST_KEPT:
            self.seen.append(callback)
        if callback.is_null and self.answers_null:
            self.conn.send(self.reply_to(callback))
        elif len(self.kept) < MOST_KEPT:
            self.kept.append(callback)
        return True

    def wait(self, timeout_ms=None):
        """The next call that is not answered yet, or None if none came in time."""
        limit = Limit(self.conn.deadlines.answer_ms if timeout_ms is None else timeout_ms)
        while not self.kept and self.conn.open and not limit.passed:
            self.conn.wait_callback(limit)
        return self.kept.popleft() if self.kept else None

    def wait_seen(self, count, timeout_ms=None):
        """Whether so many calls have come, answered or not, before the time passed."""
        limit = Limit(self.conn.deadlines.answer_ms if timeout_ms is None else timeout_ms)
        while self.count < count and self.conn.open and not limit.passed:
            self.conn.wait_callback(limit)
        return self.count >= count

    # -- replies -------------------------------------------------------------------------------

    def reply_to(self, callback, statuses=None, results=None):
        """A legal reply as a wire.Draft, of which every field may be changed. `statuses` are those of
        the operations, in order, {name: nfs4.Status}; `results` is the whole result as octets."""
        if results is None:
            results = b"" if callback.is_null else cb_results(callback, statuses or {})
        draft = self.message(callback.xid, rpc.Reply(xid=callback.xid).encode(results))
        # RFC 8166 4.3.2: what was offered comes back, unused.
        unused = [[_unused(segment) for segment in chunk] for chunk in callback.header.write_list]
        draft.write_list = [wire.DraftChunk(segments=segments) for segments in unused]
        return draft

    def message(self, xid, payload):
        """A short RDMA_MSG without chunks that grants our reverse credits."""
        draft = wire.Draft()
        draft.xid, draft.credit, draft.payload = xid, self.credits, payload
        return draft

    def answer(self, callback, statuses=None):
        """Sends the legal reply."""
        self.conn.send(self.reply_to(callback, statuses))


def cb_results(callback, statuses):
    """The octets of CB_COMPOUND4res: each operation with NFS4_OK unless `statuses` says otherwise; a
    failure ends the list (RFC 8881 20)."""
    resarray = []
    for number, arguments in callback.operations:
        status = statuses.get(number.name, NFS4.Status.NFS4_OK)
        if number == NFS4.CbOpnum.CB_SEQUENCE:
            result = NFS4.CbSequenceResult(status=status, resok4=sequence_ok(arguments))
        elif number == NFS4.CbOpnum.CB_GETATTR:
            result = NFS4.CbGetattrResult(status=status)
        else:
            result = NFS4.StatusResult(status=status)
        resarray.append((number, result))
        if status != NFS4.Status.NFS4_OK:
            break
    return NFS4.encode_cb_result(resarray)


def _unused(segment):
    return wire.Segment(handle=segment.handle, length=0, offset=segment.offset)


def sequence_ok(arguments):
    """CB_SEQUENCE4resok of a client that takes the request as it is."""
    return NFS4.CbSequenceOk(
        csr_sessionid=arguments.csa_sessionid,
        csr_sequenceid=arguments.csa_sequenceid,
        csr_slotid=arguments.csa_slotid,
        csr_highest_slotid=arguments.csa_highest_slotid,
        csr_target_highest_slotid=arguments.csa_highest_slotid,
    )


def read_callback(message):
    """The Callback of a message that is an RPC call, sound or not in what follows; else None."""
    words = wire.peek(message.bytes)
    if words is None:
        return None
    octets = bytes(message.bytes)
    try:
        # A callback of another version is one of these too: cases look at the word.
        header, payload = wire.decode(octets[:4] + wire.VERSION.to_bytes(4, "big") + octets[8:])
        header.vers = words.vers
        if rpc.direction(payload) != rpc.MessageType.CALL:
            return None
        call, body = rpc.Call.decode(payload)
    except wire.DecodeError:
        return None
    callback = Callback(message, header, payload, call)
    if call.procedure == NFS4.CB_COMPOUND:
        try:
            callback.fixed, callback.operations = NFS4.decode_cb_args(body)
        except wire.DecodeError:
            pass  # the case finds no operation in it
    return callback
