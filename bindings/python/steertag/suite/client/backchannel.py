"""A script whose server calls the client back (RFC 8881 20) and reads the answers.

Replies to the client's own calls wait meanwhile.
"""

import dataclasses

from ... import nfs, rpc, wire
from ..nfs_client.compound import CompoundReply
from .client_connection import sent_from
from .script import reverse_call
from .session_watch import SessionWatch

NFS4 = nfs.nfs4
# XIDs of our calls: the reference server, which calls too, begins anywhere else.
FIRST_XID = 0x5EED0000
# Asked for in each; what the client grants is in its answers.
ASKED_CREDITS = 64
NULL_OCTETS = 40  # an RPC call without credential and arguments
CB_SEQUENCE = 11  # RFC 8881 20: nfs_cb_opnum4
# In CB_SEQUENCE4resok, behind csr_sessionid, csr_sequenceid and csr_slotid: the two highest slots.
_HIGHEST_AT, _HIGHEST_OCTETS = 24, 8
OK, DELAY = "NFS4_OK", "NFS4ERR_DELAY"


@dataclasses.dataclass(frozen=True)
class Answer:
    """What the client says to a call of ours."""

    sent: object  # client_connection.Sent
    reply: object = None  # rpc.Reply; None of an RDMA_ERROR, or if it does not decode
    body: bytes = b""  # CB_COMPOUND4res, of a call that was accepted

    @property
    def accepted(self):
        """Whether RPC has executed the call."""
        accepted, success = rpc.ReplyStatus.MSG_ACCEPTED, rpc.AcceptStatus.SUCCESS
        return (
            self.reply is not None
            and self.reply.status == accepted
            and self.reply.accept_status == success
        )

    @property
    def compound(self):
        """The CompoundReply; None if there is none that decodes."""
        try:
            fixed, results = NFS4.decode_cb_result(self.body)
        except wire.DecodeError:
            return None
        return CompoundReply(fixed.status, fixed.tag, results)

    @property
    def kept(self):
        """What a client answers to a retry too: the CB_COMPOUND4res without the two highest slots of
        CB_SEQUENCE, which it may compute anew (RFC 8881 2.10.6.1.1)."""
        at = _sequence_ok_at(self.body)
        if at is None:
            return self.body
        return self.body[: at + _HIGHEST_AT] + self.body[at + _HIGHEST_AT + _HIGHEST_OCTETS :]

    @property
    def is_compound(self):
        """Whether the client has taken the call for a CB_COMPOUND, whatever came of that."""
        return self.accepted and self.compound is not None

    @property
    def statuses(self):
        """The names of the statuses of all operations; [] without a CB_COMPOUND4res."""
        results = self.compound.results if self.is_compound else []
        return [result.status.name for _, result in results]

    def status(self, name="CB_SEQUENCE"):
        """The name of the operation's status; without a result of it, of what there is instead."""
        if self.sent.is_error:
            return "RDMA_ERROR"
        if not self.accepted:
            return "refused by RPC"
        compound = self.compound
        if compound is None:
            return "no CB_COMPOUND4res"
        return (compound[name] if name in compound else compound).status.name


def _sequence_ok_at(body):
    """Where CB_SEQUENCE4resok begins in a CB_COMPOUND4res; None if that does not begin with one."""
    tag_octets = -(-int.from_bytes(body[4:8], "big") // 4) * 4
    # status, tag<>, count, resop, the status of CB_SEQUENCE
    at = 8 + tag_octets
    first, status = (int.from_bytes(body[at + 4 + i : at + 8 + i], "big") for i in (0, 4))
    at += 12
    if len(body) < at + _HIGHEST_AT + _HIGHEST_OCTETS or first != CB_SEQUENCE or status != 0:
        return None
    return at


def _referring_list(requests):
    calls = [
        NFS4.ReferringCall(rc_sequenceid=each.number, rc_slotid=each.slot) for each in requests
    ]
    return NFS4.ReferringCallList(rcl_sessionid=requests[0].session, rcl_referring_calls=calls)


def answer_from(sent):
    """The Answer in a Sent."""
    try:
        reply, body = rpc.Reply.decode(sent.payload)
    except wire.DecodeError:
        return Answer(sent)
    return Answer(sent, reply, bytes(body))


class Backchannel(SessionWatch):
    """Runs the generator `callbacks(self)` once a reply for which `when` holds is due and there is a
    backchannel.

    `callbacks` yields the XID of a call, or a list of them, and is sent the Answer, or a list. Or it
    yields `lose()`, and goes on when the client has bound its next connection. Or it yields
    `next_reply()`, to call back beside many replies. Replies wait until it ends, or until the client
    is quiet. NFS4ERR_DELAY ends it, since the client may wait for one of them. Callbacks of the
    reference server would use the only credit that a client need grant (RFC 8167 4.1). They are over
    before these callbacks begin, and are left out while these last.

    - `early`: it begins before the reply that gives the client a backchannel.
    - `tolerates_delay`: NFS4ERR_DELAY is an answer like any other.
    - `patient`: replies wait until it ends, however long that takes, unless the connection is lost.
    """

    def __init__(
        self, callbacks, when=lambda reply: True, early=False, tolerates_delay=False, patient=False
    ):
        super().__init__()
        self.made = None  # Step: the CREATE_SESSION of the session in use
        self.conn = None  # the connection of its backchannel
        self.result = None  # what `callbacks` returned
        self.lost = False
        self.change = None  # (octets of a message) -> octets that are sent instead.
        self.unawaited = {}  # XID: Answer, where `callbacks` does not wait for it.
        self._delayed = False  # the client put a callback off
        self._callbacks, self._when, self._early = callbacks, when, early
        self._tolerates_delay, self._patient = tolerates_delay, patient
        self._running = None
        self._expected = {}  # XID: Answer or None, in the order in which they were asked for
        self._single = True
        self._rebinds = False  # it waits for the next connection
        self._resumes = False  # it waits for the next reply
        self._held = []
        self._holding = False
        self._unanswered = set()  # XIDs of the reference server's callbacks, as octets
        self._next_xid = FIRST_XID

    @property
    def waits(self):
        return self._running is None

    @property
    def not_testable_reason(self):
        """Why the callbacks did not run to their end, or what it returned if that is a sentence; else ""."""
        if self.lost:
            return "the connection was lost while the server called"
        if self._delayed:
            return f"the client answers {DELAY} while its own call waits"
        if self._running is None or self._callbacks is not None:
            return "the client does not answer"
        return self.result if isinstance(self.result, str) else ""

    # -- calling ---------------------------------------------------------------------------------

    @property
    def asked(self):
        """nfs4.CreateSessionArgs of the session."""
        return self.made["CREATE_SESSION"]

    @property
    def granted(self):
        """nfs4.CreateSessionOk of the session."""
        return self.made.made

    @property
    def session(self):
        return self.made.session

    @property
    def back_attrs(self):
        """nfs4.ChannelAttrs of the backchannel. A server may lower only their sizes."""
        return self.granted.csr_back_chan_attrs

    @property
    def waiting(self):
        """The Sequence of the first request whose reply waits, or None."""
        return self._held[0].sequence if self._held else None

    def sequence(self, number, slot=0, session=None, cachethis=False, highest=None, referring=()):
        """CB_SEQUENCE. `referring`: each a Sequence of a request, or a list of them in one session."""
        lists = [_referring_list(each if isinstance(each, list) else [each]) for each in referring]
        return "CB_SEQUENCE", NFS4.CbSequenceArgs(
            csa_sessionid=self.session if session is None else session,
            csa_sequenceid=number,
            csa_slotid=slot,
            csa_highest_slotid=slot if highest is None else highest,
            csa_cachethis=cachethis,
            csa_referring_call_lists=lists,
        )

    def call(self, *operations, ident=0, tag="", **sequence):
        """Sends a CB_COMPOUND of CB_SEQUENCE and these operations, (name, arguments); its XID. See
        `sequence` for the further arguments."""
        return self.compound(self.sequence(**sequence), *operations, ident=ident, tag=tag)

    def compound(self, *operations, ident=0, tag=""):
        """Sends a CB_COMPOUND of just these operations; its XID."""
        fixed = NFS4.CbCompoundArgs(tag=tag, minorversion=1, callback_ident=ident)
        octets = NFS4.encode_cb_args(list(operations), fixed)
        return self._send(NFS4.CB_COMPOUND, octets, self._credential())

    def null(self):
        """Sends a CB_NULL; its XID."""
        return self._send(NFS4.CB_NULL, b"", None)

    def long_null(self):
        """Sends a CB_NULL in a position-zero chunk, of memory that is not there; its XID."""
        self._next_xid += 1
        draft = wire.Draft(xid=self._next_xid, credit=ASKED_CREDITS, proc=1, payload=b"")
        nowhere = wire.Segment(handle=self._next_xid, length=NULL_OCTETS, offset=0)
        draft.read_list = [wire.DraftReadEntry(segment=wire.ReadSegment(0, nowhere))]
        self.conn.raw.send(wire.encode(draft))
        return draft.xid

    @property
    def threshold(self):
        """Octets of the longest Send to the client."""
        return self.conn.raw.thresholds.to_client_bytes

    def lose(self):
        """Ends the connection of the backchannel."""
        self._rebinds = True
        self.conn.raw.abort()
        return []

    def next_reply(self):
        """Posts the replies that wait; `callbacks` goes on when the next one is due."""
        self._resumes = True
        self.release()
        return []

    def _send(self, procedure, octets, credential):
        self._next_xid += 1
        draft = reverse_call(
            self._next_xid,
            program=self.asked.csa_cb_program,
            procedure=procedure,
            credit=ASKED_CREDITS,
            payload=octets,
            credential=credential,
        )
        octets = wire.encode(draft)
        self.conn.raw.send(octets if self.change is None else self.change(octets))
        return draft.xid

    def _credential(self):
        """A credential that the client has asked for. AUTH_SYS comes before others, which clients
        support less."""
        for parms in self.asked.csa_sec_parms:
            if parms.cb_secflavor == NFS4.CallbackFlavor.AUTH_SYS:
                body = parms.cbsp_sys_cred.encode()
                return rpc.OpaqueAuth(flavor=rpc.AuthFlavor.AUTH_SYS, body=body)
        return None

    # -- the callbacks ---------------------------------------------------------------------------

    def _go_on(self, answers):
        try:
            asked = self._running.send(answers)
        except StopIteration as end:
            self.result, self._callbacks = end.value, None
            self.release()
            return
        self._single = isinstance(asked, int)
        self._expected = dict.fromkeys([asked] if self._single else asked)

    def _take(self, sent):
        self._expected[sent.xid] = answer_from(sent)
        if None not in self._expected.values():
            answers = list(self._expected.values())
            self._expected = {}
            delayed = any(answer.status() == DELAY for answer in answers)
            if delayed and not self._tolerates_delay:
                self._delayed, self._callbacks = True, None
                self.release()
                return
            self._go_on(answers[0] if self._single else answers)

    def release(self):
        """Posts the replies that wait."""
        self._holding = False
        held, self._held = self._held, []
        for reply in held:
            if reply.raw.up and not self.post(reply):
                reply.conform()

    # -- what the server shows -------------------------------------------------------------------

    def post(self, reply):
        """True: an overriding script has posted something in place of this reply."""
        return False

    def on_departure(self, reply):
        if reply.kind == "callback":
            return self._suppress(reply)
        step = self.note(reply)
        if step is not None and step.asks_for_callbacks and step.session is not None:
            return self._join(step, reply)
        ready = self.waits and self.conn is not None and not self._unanswered
        if ready and self._when(reply):
            return self._begin(reply)
        if self._resumes and self._when(reply):
            self._resumes = False
            if not self.conn.raw.up:
                self.lost, self._callbacks = True, None
                return self.post(reply)
            self._holding = True
            self._held.append(reply)
            self._go_on(None)
            return True
        if self._holding:
            self._held.append(reply)
            return True
        return self.post(reply)

    def _suppress(self, callback):
        if self._callbacks is not None and (self._early or not self.waits):
            return True
        self._unanswered.add(bytes(callback.message[:4]))
        return False

    def _begin(self, reply):
        self._holding = True
        self._held.append(reply)
        self._running = self._callbacks(self)
        self._go_on(None)
        return True

    def _join(self, step, reply):
        """A connection becomes part of the backchannel, unless the server has refused."""
        if step.made is not None and self._running is None:
            self.made = step
            if self._early:
                self.conn = step.conn
                return self._begin(reply)
        mine = self.made is not None and step.session == self.session
        bound = step.made or step.result("BIND_CONN_TO_SESSION")
        if not mine or not bound:
            return self.post(reply)
        self.conn = step.conn
        if not self._rebinds or not self._running:
            return self.post(reply)
        reply.conform()
        self._rebinds = False
        # What waited is due again over this connection.
        self._holding = True
        self._go_on(None)
        return True

    def on_arrival(self, conn, message):
        sent = sent_from(message)
        if sent.is_call:
            return False
        self._unanswered.discard(sent.octets[:4])
        if sent.xid not in self._expected:
            if not FIRST_XID < sent.xid <= self._next_xid:
                return False
            self.unawaited[sent.xid] = answer_from(sent)
            return True
        if self._expected[sent.xid] is None:
            self._take(sent)
        return True

    def on_down(self, conn, reason):
        self._unanswered.clear()
        # Behind the last reply the client may be done with its use.
        calling = self._running is not None and self._callbacks is not None and self._holding
        if calling and not self._rebinds:
            self.lost = self.lost or conn is self.conn

    def on_quiet(self):
        if self._holding and (not self._patient or self.lost):
            self.release()
