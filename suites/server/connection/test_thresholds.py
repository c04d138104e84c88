"""Inline thresholds of both directions, to the octet (RFC 8166 3.3.2, 3.3.3; RFC 8797 4.2)."""

import pytest

from steertag import wire
from steertag.suite import case, expect, kinds
from ..chunk_checks import OVERRUN, OVERRUN_LATITUDE, WRITTEN, expect_written, write_call
from ..threshold_checks import (
    READ_DATA,
    WATCHING_RECEIVES,
    expect_inline,
    expect_long_reply,
    expect_refused,
    expect_within,
    read_overhead,
)


def announcing(send_bytes, receive_bytes):
    """Private data with these sizes and R clear."""
    return wire.PrivateData(send_bytes=send_bytes, receive_bytes=receive_bytes)


NONE = "none"
ANNOUNCED = {
    NONE: None,
    "1024": announcing(1024, 1024),
    "2048": announcing(2048, 2048),
    "4096": announcing(4096, 4096),
    "small-receive": announcing(4096, 1024),
    "small-send": announcing(1024, 4096),
    "largest": announcing(262144, 262144),
}
DEFAULT = "RFC8166-3.3.3-7"
TAKES_1024 = "RFC8166-3.3.3-5"
AS_ANNOUNCED = "RFC8797-4-10"
TO_CLIENT = "RFC8797-4.2-5"
BOUNDS = "RFC8166-3.3.2-1"
# Octets by which a call exceeds the threshold.
EXCESS = {"one-word": 4, "kibibyte": 1024, "64-kibibytes": 65536}


def reply_id(name):
    """The requirement that a reply above the threshold breaks."""
    return DEFAULT if name == NONE else TO_CLIENT


def filling_write(conn, handle, octets, random):
    """(call, content): an inline WRITE whose Send has exactly this many octets."""
    content = random.randbytes(octets - len(write_call(conn, handle, b"").encoded()))
    return write_call(conn, handle, content), content


@case(
    "server.threshold.call-{name}",
    requirements=[TAKES_1024, AS_ANNOUNCED, *WRITTEN],
)
@pytest.mark.parametrize("name", ANNOUNCED)
def test_call_of_the_threshold(bench, name):
    """A call of exactly the call inline threshold is received and decoded to its last octet."""
    handle = bench.file()
    conn = bench.connect(private_data=ANNOUNCED[name])
    threshold = conn.negotiated.to_server_bytes
    call, content = filling_write(conn, handle, threshold, bench.random)
    requirement_id = TAKES_1024 if threshold == 1024 else AS_ANNOUNCED
    outcome = expect(conn.exchange(call), requirement_id, must=[kinds.REPLY])
    expect_written(bench, outcome, handle, content)


@case(
    "server.threshold.first-call-{name}",
    requirements=["RFC8166-3.3.3-1", *WRITTEN],
)
@pytest.mark.parametrize("name", ["none", "4096"])
def test_first_call_of_the_threshold(bench, name):
    """The very first message has the size of the threshold: it needs no earlier exchange."""
    handle = bench.file()
    conn = bench.connect(private_data=ANNOUNCED[name], greet=False)
    threshold = conn.negotiated.to_server_bytes
    call, content = filling_write(conn, handle, threshold, bench.random)
    outcome = expect(conn.exchange(call), "RFC8166-3.3.3-1", must=[kinds.REPLY])
    expect_written(bench, outcome, handle, content)


def file_around(bench, threshold):
    """(handle, content) of a file that is large enough for READ replies around the threshold."""
    content = bench.random.randbytes(threshold)
    return bench.file(content), content


@case(
    "server.threshold.reply-{name}",
    requirements=[DEFAULT, TO_CLIENT, BOUNDS, READ_DATA],
)
@pytest.mark.parametrize("name", ANNOUNCED)
def test_reply_of_the_threshold(bench, name):
    """A reply of exactly the reply inline threshold is inline and needs no chunk."""
    conn = bench.connect(private_data=ANNOUNCED[name], receive_bytes=None)
    threshold = conn.negotiated.to_client_bytes
    handle, content = file_around(bench, threshold)
    count = threshold - read_overhead(conn, handle)
    outcome = expect_inline(bench, conn, handle, content, count, reply_id(name))
    if outcome.result.ok.count == count:
        expect.equal(len(outcome.raw), threshold, BOUNDS, "octets of the reply", outcome=outcome)


@case("server.threshold.reply-above-{name}", requirements=[DEFAULT, TO_CLIENT, READ_DATA])
@pytest.mark.parametrize("name", ANNOUNCED)
def test_reply_above_the_threshold(bench, name):
    """One octet more than the reply threshold, and no chunk: an error in place of a Send that is
    too long."""
    conn = bench.connect(private_data=ANNOUNCED[name], receive_bytes=2 * 262144)
    handle, content = file_around(bench, conn.negotiated.to_client_bytes)
    count = conn.negotiated.to_client_bytes - read_overhead(conn, handle) + 1
    expect_refused(bench, conn, handle, content, count, reply_id(name))
    expect(conn.probe(), reply_id(name), must=[kinds.REPLY])


@case("server.threshold.long-reply-{name}", requirements=["RFC8166-3.5.3-7", READ_DATA])
@pytest.mark.parametrize("name", ANNOUNCED)
def test_long_reply_above_the_threshold(bench, name):
    """One octet more than the reply threshold, and a reply chunk: the reply is in the chunk."""
    conn = bench.connect(private_data=ANNOUNCED[name], receive_bytes=2 * 262144)
    handle, content = file_around(bench, conn.negotiated.to_client_bytes)
    count = conn.negotiated.to_client_bytes - read_overhead(conn, handle) + 1
    expect_long_reply(bench, conn, handle, content, count, "RFC8166-3.5.3-7")


@case("server.threshold.reply-header-counts", requirements=["RFC8166-4.2.4-6"], hostile=True)
def test_reply_header_counts(bench):
    """The returned write chunk makes a small reply too long. The threshold limits header and
    payload together."""
    conn = bench.connect(private_data=ANNOUNCED["small-receive"], receive_bytes=WATCHING_RECEIVES)
    handle = bench.file()
    plain = conn.exchange(conn.nfs_call("GETATTR", object=handle))
    expect(plain, "RFC8166-4.2.4-6", must=[kinds.REPLY])
    call = conn.nfs_call("GETATTR", object=handle)
    left = conn.negotiated.to_client_bytes - len(plain.raw) - 8  # presence word and count
    conn.write_chunk(call, sizes=[16] * (left // 16 + 1))
    if len(call.encoded()) > conn.negotiated.to_server_bytes:
        bench.not_testable("the server takes no call that is large enough")
    outcome = conn.exchange(call)
    if outcome.kind == kinds.REPLY:
        expect_within(conn, outcome, "RFC8166-4.2.4-6")
    else:
        expect(outcome, "RFC8166-4.2.4-6", must=OVERRUN, latitude=OVERRUN_LATITUDE)


@case(
    "server.threshold.call-above-{name}-by-{excess}",
    requirements=[BOUNDS, "RFC8166-2.3.2-2", "RFC8267-4-1"],
    hostile=True,
)
@pytest.mark.parametrize("excess", EXCESS)
@pytest.mark.parametrize("name", ["none", "4096"])
def test_call_above_the_threshold(bench, name, excess):
    """A Send above the call threshold ends the connection, or a larger receive takes all of it. It
    is never truncated. A call in flight on another connection is answered."""
    handle = bench.file()
    other = bench.connect()
    conn = bench.connect(private_data=ANNOUNCED[name])
    octets = conn.negotiated.to_server_bytes + EXCESS[excess]
    call, content = filling_write(conn, handle, octets, bench.random)
    elsewhere = other.null_call()
    other.send(elsewhere)
    outcome = expect(
        conn.exchange(call),
        BOUNDS,
        must=kinds.CLOSED,
        latitude={
            kinds.REPLY: "receives are larger than announced",
            kinds.ERR_CHUNK: "receives are larger than announced, the call is refused",
        },
    )
    expect(other.await_outcome(elsewhere), "RFC8166-2.3.2-2", must=[kinds.REPLY])
    stored = content if outcome.kind == kinds.REPLY else b""
    expect.data(bench.read_back(handle), stored, "RFC8267-4-1", "content of the file")


@case("server.threshold.each-connection-its-own", requirements=["RFC8797-4-2", READ_DATA])
def test_connections_have_their_own_thresholds(bench):
    """Connections with 1024, 4096 and default thresholds work in turns. Each keeps its own."""
    content = bench.random.randbytes(2000)
    handle = bench.file(content)
    conns = [
        bench.connect(private_data=ANNOUNCED[name], receive_bytes=WATCHING_RECEIVES)
        for name in ("1024", "4096", NONE)
    ]
    for _ in range(3):
        for conn in conns:
            large = conn.negotiated.to_client_bytes >= 2300
            check = expect_inline if large else expect_refused
            check(bench, conn, handle, content, 2000, "RFC8797-4-2")


@case(
    "server.threshold.stays",
    requirements=["RFC8166-3.3.2-2", READ_DATA, *WRITTEN],
)
def test_threshold_stays_for_life(bench):
    """Calls and replies of the threshold's size, replies above it and long replies alternate. The
    thresholds do not change."""
    conn = bench.connect(private_data=ANNOUNCED["2048"], receive_bytes=WATCHING_RECEIVES)
    handle, content = file_around(bench, conn.negotiated.to_client_bytes)
    fitting = conn.negotiated.to_client_bytes - read_overhead(conn, handle)
    written = bench.file()
    for _ in range(3):
        expect_inline(bench, conn, handle, content, fitting, "RFC8166-3.3.2-2")
        expect_refused(bench, conn, handle, content, fitting + 1, "RFC8166-3.3.2-2")
        expect_long_reply(bench, conn, handle, content, fitting + 1, "RFC8166-3.3.2-2")
        call, octets = filling_write(conn, written, conn.negotiated.to_server_bytes, bench.random)
        outcome = expect(conn.exchange(call), "RFC8166-3.3.2-2", must=[kinds.REPLY])
        expect_written(bench, outcome, written, octets)
