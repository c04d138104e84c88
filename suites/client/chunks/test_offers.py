"""What a client's calls offer: read chunks for the items they lack, and room for every result.

The server only changes what makes the client say more. Thresholds of 1024 octets make the client
use chunks.
"""

import pytest

from steertag import nfs, wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.client_needs import is_exchange_id
from steertag.suite.client.script import is_read
from .chunk_lists import largest_results, lengths, reduced, rooms
from ..call_kinds import words
from ..short_read import try_later

SMALL = {"inline_bytes": 1024}
FIXED_OCTETS, ENTRY_OCTETS, REPLY_OCTETS = 16, 24, 28 + 24  # the last: both headers of a reply
PRESENT = words(1)
# RFC 8881 3.2, 18.35: so_major_id and eir_server_scope are as long as that.
OPAQUE_OCTETS = 1024


def _raw_positions(octets):
    """The positions in a message's read list, whether or not the message decodes."""
    at, found = FIXED_OCTETS, []
    while octets[at : at + 4] == PRESENT and at + ENTRY_OCTETS <= len(octets):
        found.append(int.from_bytes(octets[at + 4 : at + 8], "big"))
        at += ENTRY_OCTETS
    return found


def item_positions(call, positions=()):
    """Where a call's DDP-eligible arguments are; those at `positions` are not there."""
    try:
        items = nfs.binding.eligible_arguments(call, positions)
    except wire.DecodeError:
        return set()
    return {item.position for item in items if item.reduced or not positions}


@case("client.offers.calls-fit", requirements=["RFC8166-3.3.2-1", "RFC8797-4.2-4"], bugs=["B67"])
def test_calls_fit(bench):
    """No call is longer than the threshold, with all chunk lists of its header. The server's receives have
    room for more, so that a longer one is seen. Ours offers a reply chunk of sixteen segments in each call,
    and its WRITEs would fit without."""
    announced = wire.encode(wire.PrivateData(send_bytes=1024, receive_bytes=1024))

    def request(step):
        step.private_data = announced

    server = {**SMALL, "receive_bytes": 4096}
    if bench.client.ours:
        server["transfer_bytes"] = 704
    outcome = bench.use(request=request, server=server, own=["--reply-chunks"])
    longest = max(len(sent.octets) for conn in outcome.connections for sent in conn.sent)
    expect.at_most(longest, 1024, "RFC8166-3.3.2-1", "octets of the longest Send", outcome)
    expect(outcome, "RFC8166-3.3.2-1", must=[kinds.COMPLETED])


@case(
    "client.offers.position",
    requirements=["RFC8166-3.4.5-3", "RFC8166-3.4.5-2"],
    needs=["client-read-chunks"],
)
def test_position(bench):
    """The position of a read chunk is a multiple of four, and that of the item in the whole payload
    stream. What the server puts together from it is the file."""
    outcome = bench.use(server=SMALL)
    found = [_raw_positions(sent.octets) for conn in outcome.connections for sent in conn.sent]
    if not any(found):
        bench.not_testable("the client sends no read chunks where 1024 octets are the threshold")
    aligned = all(position % 4 == 0 for each in found for position in each)
    expect.true(aligned, "RFC8166-3.4.5-3", "positions are multiples of four", outcome=outcome)
    for sent, chunks in reduced(outcome):
        there = set(chunks) <= item_positions(sent.payload, list(chunks))
        what = "each position is that of an item that is not in the Send"
        expect.true(there, "RFC8166-3.4.5-2", what, outcome=outcome)
    expect(outcome, "RFC8166-3.4.5-2", must=[kinds.COMPLETED])


@case(
    "client.offers.read-chunk-length",
    requirements=["RFC8166-3.4.5.2-4", "RFC8166-3.4.5.2-2"],
    needs=["client-read-chunks"],
    bugs=["B69"],
)
def test_read_chunk_length(bench):
    """A read chunk is as long as its item, or as its item and all of the roundup. The item's length
    word does not count the roundup. The file ends with an item that needs some."""
    outcome = bench.use(server=SMALL)
    found = [pair for sent, chunks in reduced(outcome) for pair in lengths(sent, chunks)]
    for octets, length in found:
        expect.at_least(octets, length, "RFC8166-3.4.5.2-4", "octets of a read chunk", outcome)
        legal = (length, -(-length // 4) * 4)
        what = "octets of a read chunk that is longer than its item"
        expect.one_of(octets, legal, "RFC8166-3.4.5.2-2", what, outcome=outcome)
    expect(outcome, "RFC8166-3.4.5.2-2", must=[kinds.COMPLETED])
    if all(length % 4 == 0 for _, length in found):
        bench.not_testable("the client sends nothing in a read chunk that needs roundup")


def _expect_room(outcome, requirement_id):
    for room, largest in rooms(outcome):
        expect.at_least(room, largest, requirement_id, "octets of a write chunk", outcome)


@case(
    "client.offers.write-chunk",
    requirements=["RFC8166-3.4.6-2"],
    needs=["client-write-chunks"],
)
def test_write_chunk(bench):
    """A write chunk has room for all that its READ asks for, also for a number of octets that is no
    multiple of four."""
    outcome = bench.use(server=SMALL)
    _expect_room(outcome, "RFC8166-3.4.6-2")
    expect(outcome, "RFC8166-3.4.6-2", must=[kinds.COMPLETED])
    if not rooms(outcome):
        bench.not_testable("no call of this client leaves to the reply how long its result is")


@case(
    "client.offers.write-chunk-after-unused",
    requirements=["RFC8166-4.3.2.2-3"],
    needs=["client-write-chunks"],
    bugs=["B122", "B136"],
)
def test_unused(bench):
    """A READ fails for now and its write chunk comes back unused, with lengths of zero. The next one has
    room for the largest result again."""

    def interpose(reply):
        draft = try_later(reply)
        if draft is None:
            what = "the write chunk is for something else than the result of a last READ"
            bench.not_testable(what)
        reply.send(draft, invalidate=reply.invalidate)

    outcome = bench.use(reply=interpose, when=is_read)
    _expect_room(outcome, "RFC8166-4.3.2.2-3")
    never = {kinds.REFUSED: "it does not try again what fails for now"}
    expect(outcome, "RFC8166-4.3.2.2-3", must=[kinds.COMPLETED], latitude=never)


def _without_chunk(reply):
    """The least octets that the reply may have beside its headers and write chunks. They are
    results for which no write chunk has room, and the names of a server."""
    results = largest_results(reply.rpc_call) if reply.rpc_call else []
    chunks = [len(chunk) > 0 for chunk in reply.call.write_list][: len(results)]
    chunks += [False] * (len(results) - len(chunks))
    octets = sum(largest for largest, taken in zip(results, chunks) if not taken)
    return octets + (2 * OPAQUE_OCTETS if is_exchange_id(reply) else 0)


def _room(reply):
    return sum(segment.length for segment in reply.call.reply_chunk or [])


NO_LARGE = "no call of this client can get a reply above 1024 octets beside its write chunks"
OFFERED = "octets of the reply chunk of a call whose reply may be so long"


@case("client.offers.reply-chunk", requirements=["RFC8166-4.3.3-1"], bugs=["B75", "B123"])
def test_reply_chunk(bench):
    """With a threshold of 1024 octets, a call whose reply may be longer offers a reply chunk with
    room for it. The replies of this server may be shorter."""
    seen = []

    def note(reply):
        threshold = reply.raw.thresholds.to_client_bytes
        if _without_chunk(reply) + REPLY_OCTETS > threshold:
            seen.append((_room(reply), _without_chunk(reply)))
        reply.conform()

    outcome = bench.use(reply=note, server=SMALL, times=None)
    for room, octets in seen:
        expect.at_least(room, octets, "RFC8166-4.3.3-1", OFFERED, outcome)
    expect(outcome, "RFC8166-4.3.3-1", must=[kinds.COMPLETED])
    if not seen:
        bench.not_testable(NO_LARGE)


# What the server announces that it sends and receives.
UNEQUAL = {"receives-less": (4096, 1024), "sends-less": (1024, 4096)}


@pytest.mark.parametrize("name", UNEQUAL)
@case(
    "client.offers.unequal-{name}",
    requirements=["RFC8166-3.3.2-1", "RFC8797-4.2-4", "RFC8166-4.3.3-1"],
)
def test_unequal(bench, name):
    """The server announces a send size and a receive size that differ. Calls keep to the receive size.
    Those whose reply may be longer than the send size offer a reply chunk. The server's receives have
    room for longer calls."""
    sends, receives = UNEQUAL[name]
    announced = wire.encode(wire.PrivateData(send_bytes=sends, receive_bytes=receives))
    seen = []

    def request(step):
        step.private_data = announced

    def note(reply):
        if _without_chunk(reply) + REPLY_OCTETS > sends:
            seen.append((_room(reply), _without_chunk(reply)))
        reply.conform()

    server = {"receive_bytes": 8192, "remote_invalidation": False}
    outcome = bench.use(reply=note, request=request, server=server, times=None)
    longest = max(len(sent.octets) for conn in outcome.connections for sent in conn.sent)
    expect.at_most(longest, receives, "RFC8166-3.3.2-1", "octets of the longest Send", outcome)
    for room, octets in seen:
        expect.at_least(room, octets, "RFC8166-4.3.3-1", OFFERED, outcome)
    expect(outcome, "RFC8166-4.3.3-1", must=[kinds.COMPLETED])


def _longest_name(payload):
    """The reply to EXCHANGE_ID with a server owner and a scope of the largest length.

    None if it does not end with the operation, or if it has a protection of state (RFC 8881
    18.35.2).
    """
    tag = -(-int.from_bytes(payload[28:32], "big") // 4) * 4
    how = 24 + 4 + 4 + tag + 4 + 8 + 8 + 4 + 4
    if payload[how : how + 4] != words(0):
        return None
    minor = how + 4
    names = (
        words(OPAQUE_OCTETS) + b"o" * OPAQUE_OCTETS + words(OPAQUE_OCTETS) + b"s" * OPAQUE_OCTETS
    )
    return payload[: minor + 8] + names + words(0)


def _fill(chunk, octets, raw):
    """Writes the octets into the chunk; its segments as they come back."""
    returned = []
    for segment in chunk:
        part, octets = octets[: segment.length], octets[segment.length :]
        if part:
            raw.write(part, segment.handle, segment.offset)
        returned.append(
            wire.Segment(handle=segment.handle, length=len(part), offset=segment.offset)
        )
    return returned


@case(
    "client.offers.reply-chunk-filled",
    requirements=["RFC8166-4.3.3-1"],
    needs=["client-nfs4.1"],
)
def test_largest_name(bench):
    """The reply to EXCHANGE_ID has the longest names that a server can have. It comes in the reply
    chunk of the call, which has room for them, and the client takes them."""
    seen = []

    def interpose(reply):
        payload = _longest_name(reply.payload) if reply.payload else None
        if payload is None:
            bench.not_testable(
                "the reply to EXCHANGE_ID is not of the form that can be made longer"
            )
        seen.append((_room(reply), len(payload)))
        if _room(reply) < len(payload):
            return reply.conform()
        draft = reply.draft()
        draft.reply_chunk = wire.DraftChunk(
            segments=_fill(reply.call.reply_chunk, payload, reply.raw)
        )
        draft.proc, draft.payload = 1, b""
        reply.send(draft)

    outcome = bench.use(reply=interpose, when=is_exchange_id, server=SMALL, times=None)
    for room, octets in seen:
        expect.at_least(room, octets, "RFC8166-4.3.3-1", OFFERED, outcome)
    expect(outcome, "RFC8166-4.3.3-1", must=[kinds.COMPLETED])


@case("client.offers.long-call", requirements=["RFC8166-3.5.3-3"])
def test_long_call(bench):
    """All segments of a long call have position zero; one with another holds an item of the call. Our own
    client makes each call a long one, of two segments; another is judged if it makes any."""
    seen = []

    def note(reply):
        if reply.call.proc == wire.Procedure.NOMSG:
            positions = {entry.position for entry in reply.call.read_list}
            items = item_positions(reply.rpc_call) if reply.rpc_call else set()
            seen.append((positions, items))
        reply.conform()

    outcome = bench.use(reply=note, server=SMALL, times=None, own=["--long-calls"])
    for positions, items in seen:
        kept = 0 in positions and positions - {0} <= items
        what = "the segments of a long call that are no item's have position zero"
        expect.true(kept, "RFC8166-3.5.3-3", what, outcome=outcome)
    expect(outcome, "RFC8166-3.5.3-3", must=[kinds.COMPLETED])
    if not seen:
        bench.not_testable("the client makes no long calls")
