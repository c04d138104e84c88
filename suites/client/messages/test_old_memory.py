"""Messages that end too early, behind whole ones that have filled every receive of the client.

Nothing of the whole ones is taken for a part of the short ones. No call ends by it, and no callback is executed.
The copy has none of its octets.
"""

import pytest

from steertag import mutate, wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.backchannel import Backchannel, OK
from steertag.suite.client.script import (
    ERR_CHUNK,
    ERR_VERS,
    NFS,
    Script,
    has_reply_chunk,
    is_read,
    operations_of,
)
from ..call_kinds import words
from ..callback_scripts import NEEDS, recall_nothing, recall_slots, UNPROVEN
from ..client_verdicts import completes, stays
from ..long_replies import long_form

SHORT, BAD_LIST, BAD_ERROR = "RFC8166-4.5-1", "RFC8166-4.5-3", "RFC8166-4.5-9"
# A message is what has come of it, as over any other transport.
SAME, UNTOUCHED = "RFC8166-1-1", "RFC8881-20.9.3-8"
# Each whole callback takes a receive, and the client posts another one.
REVERSE_RECEIVES = "RFC8167-4.3.1-1"
# Receives that a client may post beyond the credits that it asks for, and the most that a case fills. With
# TRANSFER_BYTES a client makes more READs than that.
MORE_RECEIVES, MOST_RECEIVES = 16, 144
TRANSFER_BYTES = 1024
# With one credit the message before a reply is the one that the script has put there.
SERVER = {"credits": 1, "transfer_bytes": TRANSFER_BYTES}
# With so few octets inline, the data of such a READ come in its write chunk.
SMALL_SERVER = {**SERVER, "inline_bytes": 1024}
# Calls between the last message that primes and the reply that is cut.
MARGIN = 4
# The same where READs alone prime, before which a client finds its file.
READ_MARGIN = 32
# Long replies before one that is too short: a client has few regions for calls that are made one by one.
WHOLE_CHUNKS = 16
READ3 = (NFS, 3, 6)
# An XID of no call: these bits differ.
OTHER = 0x00C0FFEE
ELSEWHERE = "the client's calls on a connection do not have XIDs in a row"
STARTS_AGAIN = "it makes the call again over another connection"


def receives_of(credit):
    """How many receives a client may have posted that asks for so many credits."""
    return min(credit + MORE_RECEIVES, MOST_RECEIVES)


class Primed(Script):
    """Posts a message that no call waits for behind each reply, until the connection has had as many as it may have
    receives. Later there is one reply in whose place something short goes.

    Another connection begins anew. The methods below are those of one case.
    """

    margin = MARGIN

    def __init__(self):
        self._conn = None  # the connection that is primed
        self._first = None  # XID of the first call on it that was answered
        self.receives = 0
        self.posted = 0
        self.cut = None  # the Reply that was cut

    @property
    def waits(self):
        return self.cut is None

    @property
    def xid(self):
        """Of a call that the client makes once every receive is primed, if its XIDs are in a row."""
        return (self._first + self.receives + self.margin) & 0xFFFFFFFF

    def on_departure(self, reply):
        if reply.kind != "reply" or self.cut is not None:
            return False
        if reply.conn is not self._conn:
            self._conn, self._first, self.posted = reply.conn, reply.xid, 0
            self.receives = receives_of(reply.call.credit)
        if self.is_due(reply):
            self.cut = reply
            self.post_short(reply)
            return True
        self.post_whole(reply)
        message = self.primer(reply)
        if message is not None:
            self.posted += 1
            reply.send(message)
        return True

    def is_due(self, reply):
        """Whether the short message goes before this reply, or in its place."""
        raise NotImplementedError

    def post_whole(self, reply):
        reply.conform()

    def primer(self, reply):
        """The message that goes behind this reply, or None."""
        raise NotImplementedError

    def post_short(self, reply):
        raise NotImplementedError


class PrimedForCall(Primed):
    """Posts whole messages under the XID of a call that the client makes later. While that call waits, the
    client gets one of them once more, without its end. Then it gets the reply.

    `make(draft)` gives the message: it turns a denial of the call into what it wants.
    """

    def __init__(self, make, octets):
        super().__init__()
        self._make, self._octets = make, octets

    def is_due(self, reply):
        return reply.xid == self.xid

    def primer(self, reply):
        return self._message(reply)

    def _message(self, reply):
        denied = words(self.xid, 1, 1, 1, 7)  # REPLY, MSG_DENIED, AUTH_ERROR, AUTH_FAILED
        draft = wire.Draft(xid=self.xid, credit=reply.header.credit, payload=denied)
        return wire.encode(self._make(draft))

    def post_short(self, reply):
        reply.send(self._message(reply)[: self._octets])
        reply.conform()


def _run(bench, make, octets, requirement_id):
    script = PrimedForCall(make, octets)
    outcome = bench.use(script, server=SERVER)
    completes(outcome, requirement_id)
    if script.posted < script.receives:
        bench.not_testable(ELSEWHERE)


@pytest.mark.parametrize("octets", [0, 4, 16, 20, 27])
@case("client.old-memory.short-{octets}", requirements=[SHORT], hostile=True)
def test_short(bench, octets):
    """Every receive has held a denial under the XID of a later call. While that call waits, a message below 28
    octets comes, which is the beginning of one: it is discarded, and the reply completes the call.
    """
    _run(bench, lambda draft: draft, octets, SHORT)


# RDMA_ERROR, and the octets of it that come.
ERRORS = {
    "chunk-without-code": (ERR_CHUNK, 16),
    "chunk-in-code": (ERR_CHUNK, 18),
    "vers-without-range": (ERR_VERS, 20),
    "vers-without-high": (ERR_VERS, 24),
}


@pytest.mark.parametrize("name", ERRORS)
@case("client.old-memory.error-{name}", requirements=[BAD_ERROR], hostile=True)
def test_error(bench, name):
    """Every receive has held a whole RDMA_ERROR under the XID of a later call. While that call waits, an RDMA_ERROR
    comes that ends too early: it is discarded, and the reply completes the call."""
    error, octets = ERRORS[name]
    _run(bench, lambda draft: mutate.mutated(draft, error), octets, BAD_ERROR)


def _reads(reply):
    """Whether it answers a READ."""
    names = (number.name for number, _ in operations_of(reply.rpc_call))
    return reply.procedure == READ3 or "READ" in names


class PrimedByReads(Primed):
    """Posts the last reply to a READ again, under the XID of no call. The reply to a later READ ends too early, and
    none of its data are placed. When the client is quiet, the whole one follows."""

    def __init__(self, is_such_read, end):
        super().__init__()
        self._is_such_read, self._end = is_such_read, end
        self._last = None  # payload and lists of the last READ
        self._repeated = False

    def is_due(self, reply):
        return self.posted >= self.receives and self._is_such_read(reply)

    def primer(self, reply):
        if self._is_such_read(reply):
            self._last = reply
        if self._last is None:
            return None
        draft = self._last.draft()
        draft.xid = reply.xid ^ OTHER
        draft.payload = words(draft.xid) + bytes(draft.payload)[4:]
        return draft

    def post_short(self, reply):
        draft = reply.draft()
        draft.payload = bytes(draft.payload)[: self._end(len(draft.payload))]
        reply.send(draft)

    def on_quiet(self):
        reply = self.cut
        if reply is None or self._repeated or not reply.raw.up or reply.offered_again:
            return
        self._repeated = True
        reply.conform()


# Where the payload stream of a reply of so many octets ends.
ENDS = {
    "rpc-header": lambda octets: 12,
    "results": lambda octets: 24,
    "half-of-results": lambda octets: octets // 2 // 4 * 4,
    "last-word": lambda octets: octets - 4,
}
FORMS = {
    "inline": (lambda reply: _reads(reply) and not is_read(reply), SERVER),
    "chunk": (is_read, SMALL_SERVER),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("form", FORMS)
@case("client.old-memory.read-{form}.{end}", requirements=[SAME], hostile=True)
def test_read(bench, form, end):
    """The reply to a READ ends too early, behind whole ones of the same length with other data. Its data come inline,
    or in a write chunk, which is left as it was. The client reports an error or waits for the whole reply: the copy
    has no other octets than the source."""
    is_such_read, server = FORMS[form]
    outcome = bench.use(PrimedByReads(is_such_read, ENDS[end]), server=server)
    latitude = {kinds.LEFT: STARTS_AGAIN}
    expect(outcome, SAME, must=[kinds.COMPLETED, kinds.REFUSED], latitude=latitude)


class PrimedLists(PrimedByReads):
    """Posts the last reply to a READ again, under the XID of a READ that the client makes later. The reply to that one
    ends in its write list. When the client is quiet, the whole one follows."""

    margin = READ_MARGIN

    def __init__(self, octets):
        super().__init__(is_read, None)
        self._octets = octets

    def is_due(self, reply):
        return reply.xid == self.xid and is_read(reply)

    def primer(self, reply):
        draft = super().primer(reply)
        if draft is not None:
            draft.xid = self.xid
            draft.payload = words(draft.xid) + bytes(draft.payload)[4:]
        return draft

    def post_short(self, reply):
        draft = reply.draft()
        draft.cut_to = self._octets
        reply.send(draft)


# Where a reply ends in its write list: behind the count of its only chunk, in the segment, or in what follows it.
LIST_ENDS = {"count": 28, "handle": 32, "length": 36, "segment": 44, "reply-chunk": 48}


@pytest.mark.parametrize("end", LIST_ENDS)
@case(
    "client.old-memory.write-list.{end}",
    requirements=[BAD_LIST, SAME],
    needs=["client-write-chunks"],
    hostile=True,
)
def test_write_list(bench, end):
    """The reply to a READ ends in its lists, behind whole ones with the same XID. It is discarded: the whole one that
    comes later completes the call, and the copy has no other octets than the source."""
    script = PrimedLists(LIST_ENDS[end])
    outcome = bench.use(script, server=SMALL_SERVER)
    completes(outcome, BAD_LIST)
    if script.posted < script.receives:
        bench.not_testable(ELSEWHERE)


class PrimedChunks(PrimedByReads):
    """Replies to READs come in their reply chunks, and their data in write chunks. Then only the beginning of one is
    placed, and none of its data."""

    def __init__(self, end):
        super().__init__(lambda reply: is_read(reply) and has_reply_chunk(reply), end)

    def is_due(self, reply):
        return self.posted >= WHOLE_CHUNKS and self._is_such_read(reply)

    def post_whole(self, reply):
        if not self._is_such_read(reply):
            return reply.conform()
        self.posted += 1
        reply.push()
        reply.send(long_form(reply))

    def primer(self, reply):
        return None

    def post_short(self, reply):
        reply.send(long_form(reply, reply.payload[: self._end(len(reply.payload))]))


@pytest.mark.parametrize("end", ENDS)
@case(
    "client.old-memory.reply-chunk.{end}",
    requirements=[SAME],
    needs=["client-reply-chunks"],
    hostile=True,
    unfailed={
        f"client.old-memory.reply-chunk.{end}": "No deviation changes what a reply chunk holds."
        for end in ENDS
    },
)
def test_reply_chunk(bench, end):
    """The reply to a READ is too short in its reply chunk, behind whole ones of the same length. Nothing else that the
    memory holds is taken for its end."""
    outcome = bench.use(PrimedChunks(ENDS[end]), server=SMALL_SERVER, own=["--reply-chunks"])
    latitude = {kinds.LEFT: STARTS_AGAIN}
    expect(outcome, SAME, must=[kinds.COMPLETED, kinds.REFUSED], latitude=latitude)


class CutCallback(Backchannel):
    """Calls back until every receive has held a CB_COMPOUND. Then one comes that ends too early, and another one
    under the same sequence id.

    `end` says where its message ends, from the octets of its transport header, of its call, and of its arguments.
    """

    def __init__(self, end):
        super().__init__(self._call_back, is_read)
        self._end = end
        self.short = None  # XID of the callback that ends too early; None: it was not sent

    def _call_back(self, back):
        highest = back.granted.csr_fore_chan_attrs.ca_maxrequests - 1
        receives = receives_of(back.conn.calls[-1].header.credit)
        for number in range(1, receives + 1):
            whole = yield back.call(recall_slots(highest), number=number)
            if whole.statuses != [OK, OK]:
                return UNPROVEN
        back.change = self._shortened
        self.short = back.call(recall_slots(highest), number=receives + 1)
        back.change = None
        return (yield back.call(recall_nothing(), number=receives + 1))

    def _shortened(self, octets):
        header = wire.SMALLEST_HEADER_BYTES
        return octets[: self._end(header, len(octets) - CALLBACK_OCTETS)]


# Of CB_COMPOUND4args with CB_SEQUENCE and CB_RECALL_SLOT: tag, minorversion, callback_ident and count; a number and
# CB_SEQUENCE4args; a number and CB_RECALL_SLOT4args.
SEQUENCE_AT, SESSION_OCTETS = 16 + 4, 16
CALLBACK_OCTETS = SEQUENCE_AT + 36 + 8
CALLBACK_ENDS = {
    "transport-header": lambda header, arguments: header - 8,
    "rpc-header": lambda header, arguments: header + 24,
    "arguments": lambda header, arguments: arguments,
    "session": lambda header, arguments: arguments + SEQUENCE_AT + SESSION_OCTETS // 2,
    "slot": lambda header, arguments: arguments + SEQUENCE_AT + SESSION_OCTETS + 4,
}


@pytest.mark.parametrize("end", CALLBACK_ENDS)
@case(
    "client.old-memory.callback-{end}",
    requirements=[SAME, UNTOUCHED, REVERSE_RECEIVES],
    needs=NEEDS,
    hostile=True,
)
def test_callback(bench, end):
    """A callback ends before its CB_SEQUENCE does, behind whole ones of the same length. Those find a receive each.
    None of its operations is executed, and its slot stays as it was: another callback with that sequence id is a new
    one."""
    back = CutCallback(CALLBACK_ENDS[end])
    outcome = bench.use(back)
    by_whole = back.short is None or outcome.starved()  # not by what the cut one says
    stays(back, outcome, REVERSE_RECEIVES if by_whole else SAME)
    if back.not_testable_reason:
        bench.not_testable(back.not_testable_reason)
    answer = back.unawaited.get(back.short)
    executed = [] if answer is None else [status for status in answer.statuses if status == OK]
    what = "operations that were executed of a callback that ends in its first one"
    expect.equal(len(executed), 0, SAME, what, outcome=outcome)
    compound = back.result.compound if back.result.is_compound else None
    new = back.result.status() == OK and "CB_RECALL" in compound
    what = "the next callback with the same sequence id is executed, as a new one"
    expect.true(new, UNTOUCHED, what, outcome=outcome)
    completes(outcome, UNTOUCHED)
