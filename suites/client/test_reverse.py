"""Calls in the reverse direction (RFC 8167), to clients that may never have heard of them: no forward call
is harmed."""

import pytest

from places import PLACES
from steertag import wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.script import NFS, reverse_call, Script

# A program for callbacks is the client's choice (RFC 8881 18.36.3: csa_cb_program); this is nobody's.
NOBODYS_PROGRAM = 0x40000000
LOST = "its receives run out, so that the connection ends, and it takes that for the end"
FLOOD = 64
SEGMENT = wire.Segment(handle=0x7E570001, length=64, offset=1 << 33)


def with_read_list(draft):
    draft.read_list = [wire.DraftReadEntry(segment=wire.ReadSegment(40, SEGMENT))]


def with_position_zero(draft):
    draft.read_list = [wire.DraftReadEntry(segment=wire.ReadSegment(0, SEGMENT))]
    draft.proc, draft.payload = 1, b""


def with_write_list(draft):
    draft.write_list = [wire.DraftChunk(segments=[SEGMENT])]


def with_reply_chunk(draft):
    draft.reply_chunk = wire.DraftChunk(segments=[SEGMENT])


CHUNKS = {
    "read-list": with_read_list,
    "position-zero": with_position_zero,
    "write-list": with_write_list,
    "reply-chunk": with_reply_chunk,
}


def beside(make):
    """A bend that posts the messages of `make(reply)` and then the reply."""

    def bend(reply):
        for message in make(reply):
            reply.send(message)
        reply.conform()

    return bend


def other_xid(reply):
    return reply.xid ^ 0x00C0FFEE


CALLS = {
    "null": lambda xid: reverse_call(xid),
    "procedure-one": lambda xid: reverse_call(xid, procedure=1, payload=bytes(16)),
    "of-nfs": lambda xid: reverse_call(xid, program=NFS, version=3),
    "credit-zero": lambda xid: reverse_call(xid, credit=0),
    "credit-largest": lambda xid: reverse_call(xid, credit=0xFFFFFFFF),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", CALLS)
@case("client.reverse.call.{name}.{place}", requirements=["RFC8167-4.1-1"], hostile=True)
def test_call(bench, name, place):
    """A well-formed call with an XID of its own, while forward calls are under way: whatever the client
    makes of it, its credit word is no grant of the forward direction."""
    outcome = bench.use(
        reply=beside(lambda reply: [CALLS[name](other_xid(reply))]), when=PLACES[place]
    )
    expect(outcome, "RFC8167-4.1-1", must=[kinds.COMPLETED])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", CALLS)
@case("client.reverse.same-xid.{name}.{place}", requirements=["RFC8167-2.4.1-1"], hostile=True)
def test_same_xid(bench, name, place):
    """The XID of a forward call that is under way: the two are different transactions, so that the call
    is not taken for the reply."""
    outcome = bench.use(reply=beside(lambda reply: [CALLS[name](reply.xid)]), when=PLACES[place])
    expect(outcome, "RFC8167-2.4.1-1", must=[kinds.COMPLETED])


@pytest.mark.parametrize("xid", ["own", "same"])
@pytest.mark.parametrize("name", CHUNKS)
@case(
    "client.reverse.chunks.{name}.{xid}-xid",
    requirements=["RFC8167-5.3-3", "RFC8167-2.4.1-1"],
    hostile=True,
)
def test_chunks(bench, name, xid):
    """A call that offers chunks. A client without chunks in the reverse direction answers with
    ERR_CHUNK; one that makes nothing of reverse calls is silent. No forward call is harmed."""

    def make(reply):
        draft = reverse_call(reply.xid if xid == "same" else other_xid(reply))
        CHUNKS[name](draft)
        return [draft]

    outcome = bench.use(reply=beside(make), when=PLACES["plain"])
    if name == "position-zero" and xid == "same":
        # RDMA_NOMSG with the XID of a call: nothing but the read list says that it is no reply.
        refused = "it takes the message for a reply without use"
        expect(
            outcome, "RFC8167-2.4.1-1", must=[kinds.COMPLETED], latitude={kinds.REFUSED: refused}
        )
    else:
        expect(outcome, "RFC8167-2.4.1-1", must=[kinds.COMPLETED])
    answers = [each for conn in outcome.connections for each in conn.sent if not each.is_call]
    wrong = [each for each in answers if not each.is_error and not each.is_reply]
    expect.equal(len(wrong), 0, "RFC8167-5.3-3", "answers that are neither a reply nor an error")


MALFORMED = {
    "rpc-version-three": lambda xid: _payload(xid, at=8, word=3),
    "message-type-two": lambda xid: _payload(xid, at=4, word=2),
    "cut-in-header": lambda xid: _cut(xid, 20),
    "xid-only": lambda xid: _cut(xid, 4),
    "xid-and-type": lambda xid: _cut(xid, 8),
    "header-version-two": lambda xid: _with(xid, vers=2),
    "procedure-five": lambda xid: _with(xid, proc=5),
    "msgp": lambda xid: _with(xid, proc=2, align=4, thresh=1024),
    "credential-too-long": lambda xid: _payload(xid, at=28, word=0xFFFFFFFF),
}


def _payload(xid, at, word):
    draft = reverse_call(xid)
    draft.payload = draft.payload[:at] + word.to_bytes(4, "big") + draft.payload[at + 4 :]
    return draft


def _cut(xid, octets):
    draft = reverse_call(xid)
    draft.payload = draft.payload[:octets]
    return draft


def _with(xid, **fields):
    draft = reverse_call(xid)
    for name, value in fields.items():
        setattr(draft, name, value)
    return draft


@pytest.mark.parametrize("xid", ["own", "same"])
@pytest.mark.parametrize("name", MALFORMED)
@case("client.reverse.malformed.{name}.{xid}-xid", requirements=["RFC8167-4.1-5"], hostile=True)
def test_malformed(bench, name, xid):
    """A call that is none: no forward call is harmed, and no credit taken from it."""

    def make(reply):
        return [MALFORMED[name](reply.xid if xid == "same" else other_xid(reply))]

    outcome = bench.use(reply=beside(make), when=PLACES["plain"])
    # With a call's XID and less than a direction it may be taken for a reply that does not decode.
    if xid == "same" and name in ("xid-only", "message-type-two"):
        refused = "it takes the message for a reply that does not decode"
        expect(outcome, "RFC8167-4.1-5", must=[kinds.COMPLETED], latitude={kinds.REFUSED: refused})
    else:
        expect(outcome, "RFC8167-4.1-5", must=[kinds.COMPLETED])


@pytest.mark.parametrize("xid", ["own", "same"])
@case("client.reverse.flood.{xid}-xid", requirements=["RFC8167-4.3-1"], hostile=True)
def test_flood(bench, xid):
    """Many calls at once, beyond what any client has receives for: the connection may end; the calls
    under way are made again."""

    def make(reply):
        first = reply.xid if xid == "same" else other_xid(reply)
        return [reverse_call((first + i * (xid != "same")) & 0xFFFFFFFF) for i in range(FLOOD)]

    outcome = bench.use(reply=beside(make), when=PLACES["read"])
    expect(outcome, "RFC8167-4.3-1", must=[kinds.COMPLETED], latitude={kinds.REFUSED: LOST})


@case("client.reverse.first-of-all", requirements=["RFC8167-6-1"], hostile=True)
def test_first(bench):
    """The server calls before it has answered anything, so that no upper layer has said that it is ready:
    at worst the connection ends."""
    called = []

    def arrival(conn, message):
        if not called:
            called.append(conn)
            conn.line.send(wire.encode(reverse_call(1)))
        return False

    outcome = bench.use(arrival=arrival)
    expect(outcome, "RFC8167-6-1", must=[kinds.COMPLETED], latitude={kinds.REFUSED: LOST})


@pytest.mark.parametrize("name", ["unknown", "same"])
@case("client.reverse.reply-{name}-xid", requirements=["RFC8167-2.4-1"], hostile=True)
def test_reply(bench, name):
    """A reverse call and, unasked, its own reply: neither belongs to a forward call."""

    def make(reply):
        xid = other_xid(reply)
        call = reverse_call(reply.xid if name == "same" else xid)
        body = xid.to_bytes(4, "big") + (1).to_bytes(4, "big") + bytes(16)
        return [call, wire.Draft(xid=xid, credit=1, payload=body)]

    outcome = bench.use(reply=beside(make), when=PLACES["plain"])
    expect(outcome, "RFC8167-2.4-1", must=[kinds.COMPLETED])


@pytest.mark.parametrize("name", ["null", "credit-zero", "credit-largest"])
@case("client.reverse.behind.{name}", requirements=["RFC8167-4.1-1"], hostile=True)
def test_behind(bench, name):
    """A call behind every reply, also when nothing else is under way: its credit word does not count for
    the forward direction, where no reply comes that would set it right."""

    def bend(reply):
        reply.conform()
        reply.send(CALLS[name](other_xid(reply)))

    outcome = bench.use(reply=bend, times=None)
    ends = [conn.reason for conn in outcome.connections if conn.reason is not None]
    lost = any(reason.terminate_from_peer for reason in ends)
    latitude = {kinds.REFUSED: LOST} if lost else None
    expect(outcome, "RFC8167-4.1-1", must=[kinds.COMPLETED], latitude=latitude)


class Asking(Script):
    """Calls back with every reply and notes what the client answers."""

    def __init__(self):
        self.asked = set()
        self.answers = []

    def on_departure(self, reply):
        if reply.kind == "callback":
            return False
        xid = other_xid(reply)
        self.asked.add(xid)
        reply.conform()
        reply.send(reverse_call(xid))
        return True

    def on_arrival(self, conn, message):
        xid = int.from_bytes(message[:4], "big")
        if xid in self.asked:
            self.answers.append(message)
            return True
        return False


@case(
    "client.reverse.answers",
    requirements=["RFC8167-5.2-1", "RFC8167-5.2-2", "RFC8167-5.2-3", "RFC8167-5.2-4"],
    hostile=True,
)
def test_answers(bench):
    """A call behind every reply. A client that answers does so under the call's XID, with version 1 and
    an RPC reply; one that does not is silent."""
    asking = Asking()
    outcome = bench.use(asking)
    expect(outcome, "RFC8167-5.2-1", must=[kinds.COMPLETED], latitude={kinds.REFUSED: LOST})
    if not asking.answers:
        bench.latitude("RFC8167-5.2-1", "it makes nothing of reverse calls")
    for octets in asking.answers:
        header, payload = wire.decode(octets)
        expect.equal(header.vers, 1, "RFC8167-5.2-2", "version of the answer")
        if header.proc == wire.Procedure.MSG:
            expect.equal(
                payload[:4], octets[:4], "RFC8167-5.2-3", "XID of the RPC reply", show=False
            )
            expect.equal(payload[4:8], b"\0\0\0\1", "RFC8167-5.2-4", "its message type")
