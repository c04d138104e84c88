"""The messages of a client while nothing goes wrong: fixed words, sizes, what is reduced."""

from steertag import nfs, wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.client_needs import is_exchange_id
from steertag.suite.client.script import Script, stags_of
from ..call_kinds import word, words

SMALLEST = 1024
SMALL = {"inline_bytes": SMALLEST}
MSGP, DONE = 2, 3
ODD_OCTETS = 257
FIXED_OCTETS = 16
MAGIC = wire.encode(wire.PrivateData())[:4]
FLAGS_AT, R_FLAG = 5, 0x01  # RFC 8797 4
# Of an EXCHANGE_ID result behind its status (RFC 8881 18.35.2): clientid, sequence id, flags, protection of
# state (none), so_minor_id.
BEFORE_OWNER = 8 + 4 + 4 + 4 + 8


def _sends(outcome):
    """All messages of the client that are long enough to say anything."""
    sends = [sent for conn in outcome.connections for sent in conn.sent]
    return [sent for sent in sends if len(sent.octets) >= FIXED_OCTETS]


def _segments(header):
    found = [entry.target for entry in header.read_list]
    for chunk in [*header.write_list, header.reply_chunk or []]:
        found += list(chunk)
    return found


@case(
    "client.form.fixed-words",
    requirements=[
        "RFC8166-4.2.2-1",
        "RFC8166-4-1",
        "RFC8166-4.6.1-1",
        "RFC8166-4.6.2-1",
        "RFC8166-4.2.1-1",
        "RFC8166-2.3.2-1",
    ],
)
def test_fixed_words(bench):
    """Each message has version 1 and a procedure of RFC 8166. Its chunk lists decode, its segments
    end inside of 64 bits, and its XID is that of the RPC message in it."""
    outcome = bench.use(server=SMALL)
    sends = _sends(outcome)
    expect.true(bool(sends), "RFC8166-4-1", "the client sends messages", outcome=outcome)
    for sent in sends:
        expect.equal(word(sent.octets, 4), 1, "RFC8166-4.2.2-1", "rdma_vers", outcome=outcome)
        proc = word(sent.octets, 12)
        expect.true(proc != MSGP, "RFC8166-4.6.1-1", "RDMA_MSGP is not sent", outcome=outcome)
        expect.true(proc != DONE, "RFC8166-4.6.2-1", "RDMA_DONE is not sent", outcome=outcome)
        decodes = sent.header is not None
        expect.true(decodes, "RFC8166-4-1", "the header decodes", outcome=outcome)
        if proc == 0:
            same = sent.payload[:4] == sent.octets[:4]
            what = "the XIDs of the header and of the RPC message are equal"
            expect.true(same, "RFC8166-4.2.1-1", what, outcome=outcome)
        inside = all(each.offset + each.length <= 1 << 64 for each in _segments(sent.header))
        expect.true(inside, "RFC8166-2.3.2-1", "segments end inside of 64 bits", outcome=outcome)
    expect(outcome, "RFC8166-4-1", must=[kinds.COMPLETED])


class ShortSource(Script):
    """A source that fits into a Send of 1024 octets, and needs roundup."""

    def source(self, octets):
        return octets[:ODD_OCTETS]


@case("client.form.roundup", requirements=["RFC8166-4-3"])
def test_roundup(bench):
    """All data of the client's WRITE fit into a Send. Their roundup is zeros (RFC 4506 4.10), as the judge sees."""
    outcome = bench.use(ShortSource(), server=SMALL)
    expect(outcome, "RFC8166-4-3", must=[kinds.COMPLETED])


@case(
    "client.form.reduced-arguments",
    requirements=[
        "RFC8166-3.4.2-2",
        "RFC8166-3.4.4.1-1",
        "RFC8166-3.4.4.1-2",
        "RFC8166-3.4.4.4-1",
        "RFC8166-3.4.4.4-2",
        "RFC8166-4-3",
    ],
    needs=["client-read-chunks"],
)
def test_reduced(bench):
    """A read chunk holds one DDP-eligible argument, whole. Its length word stays in the payload
    stream; its octets and their roundup do not."""
    outcome = bench.use(server=SMALL)
    for _, sent in outcome.calls:
        chunks = {}
        for entry in sent.header.read_list:
            chunks[entry.position] = chunks.get(entry.position, 0) + entry.target.length
        if not chunks or sent.header.proc == wire.Procedure.NOMSG:
            continue
        try:
            items = nfs.binding.eligible_arguments(sent.payload, list(chunks))
        except wire.DecodeError:
            items = None
        what = "the payload stream decodes where the items are put back with their roundup"
        expect.true(items is not None, "RFC8166-3.4.4.4-2", what, outcome=outcome)
        by_position = {item.position: item for item in items}
        eligible = set(chunks) <= set(by_position)
        what = "read chunks hold DDP-eligible arguments"
        expect.true(eligible, "RFC8166-3.4.2-2", what, outcome=outcome)
        for position, octets in chunks.items():
            item = by_position[position]
            counted = item.length > 0
            what = "the length word of a reduced argument is in the payload stream"
            expect.true(counted, "RFC8166-3.4.4.1-1", what, outcome=outcome)
            gone = item.reduced and octets >= item.length
            what = "all octets of a reduced argument are in its chunk"
            expect.true(gone, "RFC8166-3.4.4.1-2", what, outcome=outcome)
            most = -(-item.length // 4) * 4
            what = "octets of a read chunk for one argument"
            expect.at_most(octets, most, "RFC8166-3.4.4.4-1", what, outcome)
    expect(outcome, "RFC8166-3.4.4.4-2", must=[kinds.COMPLETED])


@case(
    "client.form.long-calls",
    requirements=["RFC8166-4.2.4-8", "RFC8166-3.5.3-9", "RFC8166-4.2.1-1"],
)
def test_long_calls(bench):
    """A long call is in a position-zero chunk, with all of its roundup, under the XID of its header."""
    seen = []

    def note(reply):
        if reply.call.proc == wire.Procedure.NOMSG:
            lengths = [each.target.length for each in reply.call.read_list if not each.position]
            xid = word(reply.rpc_call, 0) if reply.rpc_call else None
            seen.append((lengths, reply.xid, xid))
        reply.conform()

    outcome = bench.use(reply=note, server=SMALL, times=None, own=["--long-calls"])
    for lengths, xid, inner in seen:
        what = "RDMA_NOMSG has a position-zero chunk"
        expect.true(sum(lengths) > 0, "RFC8166-4.2.4-8", what, outcome=outcome)
        what = "octets of a position-zero chunk beyond a multiple of four"
        expect.equal(sum(lengths) % 4, 0, "RFC8166-3.5.3-9", what, outcome=outcome)
        what = "the XIDs of the header and of the long call are equal"
        expect.true(inner in (xid, None), "RFC8166-4.2.1-1", what, outcome=outcome)
    expect(outcome, "RFC8166-4.2.4-8", must=[kinds.COMPLETED])
    if not seen:
        bench.not_testable("the client makes no long calls")


def _expect_small(outcome, requirement_id):
    for sent in _sends(outcome):
        expect.at_most(len(sent.octets), SMALLEST, requirement_id, "octets of a Send", outcome)


@case(
    "client.form.small-threshold",
    requirements=["RFC8166-3.5.3-1"],
    unbroken="RFC8166-3.5.3-1: a Send that is too long is RFC8797-5.1-1 or RFC8797-4-1.",
)
def test_small_threshold(bench):
    """The server announces receives of 1024 octets: what does not fit goes by RDMA, not by a Send."""
    outcome = bench.use(server=SMALL)
    _expect_small(outcome, "RFC8166-3.5.3-1")
    expect(outcome, "RFC8166-3.5.3-1", must=[kinds.COMPLETED])


def _announce_nothing(step):
    step.private_data = b""


@case("client.form.unknown-threshold", requirements=["RFC8166-3.3.3-7"])
def test_unknown_threshold(bench):
    """The server announces nothing: no Send is above 1024 octets."""
    outcome = bench.use(request=_announce_nothing, server={**SMALL, "remote_invalidation": False})
    _expect_small(outcome, "RFC8166-3.3.3-7")
    expect(outcome, "RFC8166-3.3.3-7", must=[kinds.COMPLETED])


def _stretched(payload, octets):
    """The reply to EXCHANGE_ID with a server owner that is longer by so many octets; None of another form."""
    tag = -(-word(payload, 28) // 4) * 4
    protection = 24 + 4 + 4 + tag + 4 + 8 + 8 + 4 + 4
    owner = 24 + 4 + 4 + tag + 4 + 8 + BEFORE_OWNER
    if word(payload, protection) != 0 or octets % 4:
        return None
    length = -(-word(payload, owner) // 4) * 4
    end = owner + 4 + length
    name = payload[owner + 4 : end].replace(b"\0", b"o")
    return payload[:owner] + words(length + octets) + name + b"o" * octets + payload[end:]


@case(
    "client.form.reply-of-1024",
    requirements=["RFC8166-3.3.3-5"],
    needs=["client-nfs4.1"],
)
def test_smallest_receive(bench):
    """Nothing is announced by the server, and a reply comes in a Send of exactly 1024 octets."""

    def interpose(reply):
        more = SMALLEST - len(reply.message)
        payload = _stretched(reply.payload, more) if reply.payload and more >= 0 else None
        if payload is None or stags_of(reply.call) and not reply.call.reply_chunk:
            bench.not_testable(
                "the reply to EXCHANGE_ID is not of the form that can be made longer"
            )
        draft = reply.draft()
        draft.payload = payload
        reply.send(draft)

    outcome = bench.use(
        reply=interpose,
        when=is_exchange_id,
        request=_announce_nothing,
        server={**SMALL, "remote_invalidation": False},
        times=None,
    )
    expect(outcome, "RFC8166-3.3.3-5", must=[kinds.COMPLETED])


@case(
    "client.form.private-data",
    requirements=["RFC8797-4-7"],
    needs=["client-private-data"],
)
def test_private_data(bench):
    """The reserved bits of the flags in the client's private data are zero."""
    outcome = bench.use()
    announced = [conn.client_data for conn in outcome.connections if MAGIC in conn.client_data]
    if not announced:
        bench.not_testable("the client's private data are not those of RFC 8797")
    for octets in announced:
        reserved = octets[octets.index(MAGIC) + FLAGS_AT] & ~R_FLAG
        expect.equal(reserved, 0, "RFC8797-4-7", "reserved bits", outcome=outcome)
    expect(outcome, "RFC8797-4-7", must=[kinds.COMPLETED])
