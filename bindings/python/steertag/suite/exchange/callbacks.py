"""The other direction of a connection (RFC 8167): what the target calls, and the replies of a case."""

import collections
import dataclasses

from ... import nfs, rpc, wire
from .deadline import Limit

NFS4 = nfs.nfs4
# Calls that a case lets the target have under way at a time, unless it says otherwise.
REVERSE_CREDITS = 4
# Calls that are kept.
MOST_KEPT = 256
# Calls on one connection. A target that makes more is cut off: it need not even take our answers.
MOST_CALLS = 4096
# What a client answers that has delegations of files and nothing else; NFS4_OK to all that is not here.
NOT_HELD = {
    "CB_GETATTR": NFS4.Status.NFS4ERR_BADHANDLE,
    "CB_LAYOUTRECALL": NFS4.Status.NFS4ERR_NOMATCHING_LAYOUT,
    "CB_NOTIFY": NFS4.Status.NFS4ERR_BAD_STATEID,
    "CB_PUSH_DELEG": NFS4.Status.NFS4ERR_REJECT_DELEG,
    "CB_ILLEGAL": NFS4.Status.NFS4ERR_OP_ILLEGAL,
}


@dataclasses.dataclass
class Callback:
    """One call of the target, as it came. Over TCP it has no header."""

    message: object  # message.Message
    header: object  # wire.Header
    payload: bytes  # the RPC message
    rpc: object  # rpc.Call
    fixed: object = None  # nfs4.CbCompoundArgs of a CB_COMPOUND that decodes
    operations: list = dataclasses.field(default_factory=list)  # (CbOpnum, arguments)
    among: object = None  # the Callbacks that took it

    @property
    def conn(self):
        """The connection over which it came."""
        return self.among.conn

    @property
    def xid(self):
        """rdma_xid; over TCP that of the RPC message."""
        return self.rpc.xid if self.header is None else self.header.xid

    @property
    def is_null(self):
        return self.rpc.procedure == NFS4.CB_NULL

    @property
    def is_sound(self):
        """Whether it is CB_NULL, or a CB_COMPOUND that decodes."""
        return self.is_null or self.fixed is not None

    @property
    def recalled(self):
        """`other` of the stateid of each CB_RECALL in it."""
        return [
            bytes(arguments.stateid.other)
            for number, arguments in self.operations
            if number.name == "CB_RECALL"
        ]

    def __getitem__(self, name):
        """The arguments of the first operation of this name; KeyError if there is none."""
        for number, arguments in self.operations:
            if number.name == name:
                return arguments
        raise KeyError(name)

    def __contains__(self, name):
        return any(number.name == name for number, _ in self.operations)


class Callbacks:
    """Takes the calls of the target on one connection.

    With `answers_null` every sound call that recalls no delegation is answered at once. A server may try the
    backchannel with a lone CB_SEQUENCE (RFC 8881 10.4). It may send CB_RECALL_ANY or notifications at any time.
    A recall waits for the case, which answers it by `answer`."""

    def __init__(self, conn, credits=REVERSE_CREDITS, answers_null=True):
        self.conn = conn
        self.credits = credits
        self.answers_null = answers_null
        self.count = 0  # of all that came
        self.kept = collections.deque()  # those that no case has taken
        self.seen = []  # all of them
        conn.callbacks = self

    def configure(self, credits=None, answers_null=None):
        """From here on our replies grant so many credits, and CB_NULL is answered or not."""
        self.credits = self.credits if credits is None else credits
        self.answers_null = self.answers_null if answers_null is None else answers_null

    # -- calls ---------------------------------------------------------------------------------

    def take(self, message):
        """Whether the message is a call of the target; for Connection."""
        callback = self.conn.read_callback(message)
        if callback is None:
            return False
        callback.among = self
        self.count += 1
        if self.count > MOST_CALLS:
            self.conn.cut_off()
        if len(self.seen) < MOST_KEPT:
            self.seen.append(callback)
        if self.answers_null and callback.is_sound and not callback.recalled:
            self.answer(callback)
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
        """A legal reply, whose fields may be changed: a wire.Draft, or over TCP a call.RecordReply.
        `statuses` are those of the operations, in order, {name: nfs4.Status}; `results` is the whole
        result as octets."""
        reply = self.message(callback.xid, encode_reply(callback, statuses, results))
        if callback.header is not None:
            # RFC 8166 4.3.2: what was offered comes back, unused.
            chunks = callback.header.write_list
            unused = [[_unused(segment) for segment in chunk] for chunk in chunks]
            reply.write_list = [wire.DraftChunk(segments=segments) for segments in unused]
        return reply

    def message(self, xid, payload):
        """A reply with this RPC message. Over RDMA it is short, without chunks, and grants our reverse
        credits."""
        return self.conn.reverse_message(xid, payload, self.credits)

    def answer(self, callback, statuses=None):
        """Sends the legal reply."""
        self.conn.send(self.reply_to(callback, statuses))


def encode_reply(callback, statuses=None, results=None):
    """The octets of a legal reply, as an RPC message; see Callbacks.reply_to."""
    if results is None:
        results = b"" if callback.is_null else cb_results(callback, statuses or {})
    return rpc.Reply(xid=callback.xid).encode(results)


def cb_results(callback, statuses):
    """The octets of CB_COMPOUND4res: each operation with NFS4_OK, or what NOT_HELD says, unless
    `statuses` says otherwise; a failure ends the list (RFC 8881 20)."""
    resarray = []
    for number, arguments in callback.operations:
        usual = NOT_HELD.get(number.name, NFS4.Status.NFS4_OK)
        status = statuses.get(number.name, usual)
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
    except wire.DecodeError:
        return None
    return callback_of(payload, message, header)


def callback_of(payload, message=None, header=None):
    """The Callback of an RPC message that is a call; else None."""
    if rpc.direction(payload) != rpc.MessageType.CALL:
        return None
    try:
        call, body = rpc.Call.decode(payload)
    except wire.DecodeError:
        return None
    callback = Callback(message, header, payload, call)
    if call.procedure == NFS4.CB_COMPOUND:
        try:
            callback.fixed, callback.operations = NFS4.decode_cb_args(body)
        except wire.DecodeError:
            pass  # it is not sound, and the case finds no operation in it
    return callback
