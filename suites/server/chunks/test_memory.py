"""The requester's memory: invalid handles, short regions and recovery (RFC 8166 4.5.3, 8.1).

The server may lose the connection over bad memory. Then a new one has to work."""

import pytest

from steertag import wire
from steertag.suite import case, expect, kinds
from ..chunk_checks import (
    READ_RESULT,
    TRANSFER_FAILED,
    WRITTEN,
    expect_read,
    expect_written,
    read_call,
    write_call,
)
from ..message_words import renumber
from ..proofs import expect_reply_unless, is_answered

FAILS = "RFC8166-4.5.3-1"
RETRIED = "RFC8166-4.5.3-4"
LENGTH = 4096
SMALL_INLINE = wire.PrivateData(send_bytes=1024, receive_bytes=1024)
# Region offsets that reveal overflows and sign errors.
BASES = {
    "zero": 0,
    "below-two-gibibytes": 0x7FFFF800,
    "across-four-gibibytes": 0xFFFFF800,
    "high-word": 0x1234567800000000,
    "sign-bit": 0x8000000000000000,
    "last-octets": (1 << 64) - 2 * LENGTH,
}
FAULTS = ["unknown-stag", "stag-zero", "closed", "no-right", "one-octet-short", "before-start"]
FAULTS += ["behind-end", "second-segment", "wraps"]


def unusable_segments(conn, call, fault, content, write):
    """Segments of LENGTH octets in all. The memory behind them does not allow what the call
    needs."""
    right, wrong = {"read": not write, "write": write}, {"read": write, "write": not write}
    rights = wrong if fault == "no-right" else right
    base = (1 << 64) - 2 * LENGTH if fault == "wraps" else None
    offer = conn.offer(LENGTH, **rights, content=content, base=base)
    call.offers.append(offer)
    if fault == "one-octet-short":
        return [offer.segment(LENGTH, offset=1)]
    if fault == "before-start":
        return [offer.segment(LENGTH, offset=-1)]
    if fault == "behind-end":
        return [offer.segment(LENGTH, offset=1 << 20)]
    if fault == "wraps":
        return [offer.segment(LENGTH, offset=2 * LENGTH - 8)]
    if fault == "second-segment":
        second = offer.segment(LENGTH // 2, offset=LENGTH // 2)
        second.handle ^= 0x00FFFF00
        return [offer.segment(LENGTH // 2), second]
    segment = offer.segment()
    if fault == "unknown-stag":
        segment.handle ^= 0x00FFFF00
    elif fault == "stag-zero":
        segment.handle = 0
    elif fault == "closed":
        offer.close()
    return [segment]


def expect_recovered(bench, failed, make_call):
    """Retries the failed call on a new connection. The retry is answered, or ends the connection,
    and the next call works. `make_call(conn, xid)` returns a good call. Returns (outcome, call) of
    the last."""
    conn = bench.connect()
    retry = make_call(conn, failed.xid)
    text = "the retry of a call over which the connection was lost (lower-case should)"
    expect(
        conn.exchange(retry),
        RETRIED,
        must=[kinds.REPLY, kinds.ERR_CHUNK],
        warn={kind: text for kind in kinds.CLOSED},
    )
    if not conn.open:
        conn = bench.connect()
    call = make_call(conn, None)
    return conn.exchange(call), call


def with_xid(call, xid):
    """The call under another XID, in the header and in the RPC message."""
    if xid is not None:
        renumber(call, xid)
    return call


@case("server.memory.base-{name}", requirements=[*WRITTEN, *READ_RESULT, "RFC8166-2.3.2-1"])
@pytest.mark.parametrize("name", BASES)
def test_offsets_of_64_bits(bench, name):
    """WRITE from memory and READ into memory, at any 64-bit offset."""
    content = bench.random.randbytes(LENGTH)
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, content)
    position, _ = call.take_eligible()
    offer = conn.offer(LENGTH, read=True, content=content, base=BASES[name])
    call.add_read_chunk(position, offer.segments())
    call.offers.append(offer)
    outcome = expect(conn.exchange(call), "RFC8166-2.3.2-1", must=[kinds.REPLY])
    expect_written(bench, outcome, handle, content)
    call = read_call(conn, handle, LENGTH)
    offer = conn.offer(LENGTH, write=True, base=BASES[name])
    call.add_write_chunk(offer.segments())
    call.offers.append(offer)
    outcome = expect(conn.exchange(call), "RFC8166-2.3.2-1", must=[kinds.REPLY])
    expect_read(bench, outcome, call, content)


@case(
    "server.memory.read-{fault}",
    requirements=[FAILS, RETRIED, *WRITTEN, "RFC8166-3.4.5-5"],
    bugs=["B34"],
    hostile=True,
)
@pytest.mark.parametrize("fault", FAULTS)
def test_read_chunk_in_bad_memory(bench, fault):
    """WRITE with a chunk that cannot be pulled. The connection ends, or ERR_CHUNK arrives; silence
    is wrong. Nothing is stored, and a new connection works."""
    content = bench.random.randbytes(LENGTH)
    handle = bench.file()
    conn = bench.connect()
    call = write_call(conn, handle, content)
    position, _ = call.take_eligible()
    call.add_read_chunk(position, unusable_segments(conn, call, fault, content, write=False))
    expect(conn.exchange(call), FAILS, must=TRANSFER_FAILED)
    expect.data(bench.read_back(handle), b"", "RFC8166-3.4.5-5", "content of the file")

    def good(new, xid):
        made = with_xid(write_call(new, handle, content), xid)
        new.reduce(made)
        return made

    outcome, _ = expect_recovered(bench, call, good)
    expect_written(bench, outcome, handle, content)


@case(
    "server.memory.write-{fault}",
    requirements=[FAILS, RETRIED, *READ_RESULT],
    bugs=["B34"],
    hostile=True,
)
@pytest.mark.parametrize("fault", FAULTS)
def test_write_chunk_in_bad_memory(bench, fault):
    """READ with a chunk that cannot be written. The connection ends, or ERR_CHUNK arrives, and a
    new connection works."""
    content = bench.random.randbytes(LENGTH)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, LENGTH)
    call.add_write_chunk(unusable_segments(conn, call, fault, None, write=True))
    expect(conn.exchange(call), FAILS, must=TRANSFER_FAILED)

    def good(new, xid):
        made = with_xid(read_call(new, handle, LENGTH), xid)
        new.write_chunk(made)
        return made

    outcome, call = expect_recovered(bench, call, good)
    expect_read(bench, outcome, call, content)


@case("server.memory.reply-{fault}", requirements=[FAILS, RETRIED, *READ_RESULT], bugs=["B34"])
@pytest.mark.parametrize("fault", ["unknown-stag", "closed", "no-right", "second-segment"])
def test_reply_chunk_in_bad_memory(bench, fault):
    """A long reply that cannot be written: the connection ends, or ERR_CHUNK arrives."""
    content = bench.random.randbytes(LENGTH - 200)
    handle = bench.file(content)
    conn = bench.connect(private_data=SMALL_INLINE)
    call = read_call(conn, handle, len(content))
    call.set_reply_chunk(unusable_segments(conn, call, fault, None, write=True))
    expect(conn.exchange(call), FAILS, must=TRANSFER_FAILED)

    def good(new, xid):
        made = with_xid(read_call(new, handle, len(content)), xid)
        new.write_chunk(made)
        return made

    outcome, call = expect_recovered(bench, call, good)
    expect_read(bench, outcome, call, content)


@case(
    "server.memory.long-call-{fault}",
    requirements=[FAILS],
    bugs=["B34"],
    unbroken="RFC8166-4.5.3-1: the suite's own provider refuses, since it owns the memory.",
)
@pytest.mark.parametrize("fault", ["unknown-stag", "closed", "no-right"])
def test_position_zero_chunk_in_bad_memory(bench, fault):
    """A long call that cannot be pulled: the connection ends, or ERR_CHUNK arrives."""
    conn = bench.connect()
    call = conn.null_call()
    offer = conn.long_call(call)
    segment = call.read_list[0].segment.target
    if fault == "unknown-stag":
        segment.handle ^= 0x00FFFF00
    elif fault == "closed":
        offer.close()
    else:
        wrong = conn.offer(segment.length, write=True)
        segment.handle, segment.offset = wrong.stag, wrong.base
    expect(conn.exchange(call), FAILS, must=TRANSFER_FAILED)


@case("server.memory.unused-{fault}", requirements=["RFC8166-4.3.2.2-4"], hostile=True)
@pytest.mark.parametrize("fault", ["unknown-stag", "no-right", "behind-end"])
def test_bad_memory_that_is_not_needed(bench, fault):
    """GETATTR with a write chunk in bad memory. Nothing is written, so nothing fails."""
    conn = bench.connect()
    call = conn.nfs_call("GETATTR", object=bench.root)
    call.add_write_chunk(unusable_segments(conn, call, fault, None, write=True))
    checked = {kinds.ERR_CHUNK: "the segments are checked although they are not used"}

    def takes_good_memory():
        other = bench.connect()
        good = other.nfs_call("GETATTR", object=bench.root)
        other.write_chunk(good, length=64)
        return is_answered(other, good)

    expect_reply_unless(conn.exchange(call), "RFC8166-4.3.2.2-4", checked, takes_good_memory)


@case(
    "server.memory.larger-than-the-region",
    requirements=[*READ_RESULT, "RFC8166-4.5.3-1"],
)
def test_segment_larger_than_its_region(bench):
    """A segment is larger than its region, but the result fits the region. Nothing fails."""
    content = bench.random.randbytes(1000)
    handle = bench.file(content)
    conn = bench.connect()
    call = read_call(conn, handle, 65536)
    offer = conn.offer(1024, write=True)
    call.add_write_chunk([offer.segment(65536)])
    call.offers.append(offer)
    expect_read(bench, conn.exchange(call), call, content)


@case(
    "server.memory.other-connection-{direction}",
    requirements=["RFC8166-8.1.1-1"],
    unbroken="RFC8166-8.1.1-1: the suite's own provider refuses, since it owns the memory.",
)
@pytest.mark.parametrize("direction", ["read", "write"])
def test_memory_of_another_connection(bench, direction):
    """A call names an STag of another connection. Only the connection of the call may end."""
    content = bench.random.randbytes(LENGTH)
    handle = bench.file(content if direction == "write" else b"")
    owner, conn = bench.connect(), bench.connect()
    offer = owner.offer(LENGTH, read=direction == "read", write=direction == "write")
    if direction == "read":
        call = write_call(conn, handle, offer.bytes())
        position, _ = call.take_eligible()
        call.add_read_chunk(position, offer.segments())
    else:
        call = read_call(conn, handle, LENGTH)
        call.add_write_chunk(offer.segments())
    expect(conn.exchange(call), "RFC8166-8.1.1-1", must=TRANSFER_FAILED)
    expect.data(offer.bytes(), offer.filled, "RFC8166-8.1.1-1", "memory of the other connection")
    expect(owner.probe(), "RFC8166-8.1.1-1", must=[kinds.REPLY])
    stored = content if direction == "write" else b""
    expect.data(bench.read_back(handle), stored, "RFC8166-8.1.1-1", "content of the file")


@case("server.memory.failure-among-good-calls", requirements=[FAILS, *WRITTEN])
def test_failure_among_good_calls(bench):
    """One bad chunk among calls in flight may end the connection. Answered calls are stored. On a
    new connection all of them can be stored again."""
    parts = [bench.random.randbytes(LENGTH) for _ in range(3)]
    handles = [bench.file() for _ in parts]
    conn = bench.connect()
    calls = []
    for number, (handle, part) in enumerate(zip(handles, parts)):
        call = write_call(conn, handle, part)
        offer = conn.reduce(call)
        if number == 1:
            offer.close()
        calls.append(call)
    outcomes = conn.collect(calls[: conn.window])
    for call, handle, part in zip(calls, handles, parts):
        outcome = outcomes.get(call.xid)
        if outcome is not None and outcome.kind == kinds.REPLY:
            expect.data(bench.read_back(handle), part, "RFC8267-4-1", "content after a reply")
    if conn.grant > 1:
        expect(outcomes[calls[1].xid], FAILS, must=TRANSFER_FAILED)
    conn = bench.connect()
    for handle, part in zip(handles, parts):
        call = write_call(conn, handle, part)
        conn.reduce(call)
        expect_written(bench, conn.exchange(call), handle, part)
