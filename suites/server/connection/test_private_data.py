"""The client's private data in every shape, and the server's own (RFC 8797 4 to 6)."""

import pytest

from steertag import mutate, wire
from steertag.suite import case, expect, kinds
from ..threshold_checks import (
    READ_DATA,
    WATCHING_RECEIVES,
    expect_inline,
    expect_long_reply,
    expect_refused,
)

# Octets of a READ reply that exceeds 1024 octets and fits 4096.
COUNT = 2000
ROOM = COUNT + 300
ABSENT = "RFC8797-5.1-1"
FOUND = "RFC8797-5.2-1"
OTHER = "RFC8797-5.2-2"
CHECKED = "RFC8797-5.2-3"
RESERVED = "RFC8797-4-8"
LONGER = "RFC8797-6-1"
SIZES = "RFC8797-4.2-5"
# The requirement for a variant of steertag.mutate, by the start of its name. The first match
# counts.
SUBJECTS = {
    "private-data.identifier-alone": CHECKED,
    "private-data.identifier": OTHER,
    "private-data.unaligned": FOUND,
    "private-data.at-the-end": FOUND,
    "private-data.behind": FOUND,
    "private-data.two": FOUND,
    "private-data.version": CHECKED,
    "private-data.reserved": RESERVED,
    "private-data.trailing": LONGER,
    "private-data.short": ABSENT,
    "private-data.absent": ABSENT,
    "private-data.": SIZES,
}
# Legal reasons to ignore private data that has a meaning.
IGNORED = {
    "private-data.trailing-junk": "version 1 means exactly eight octets (RFC 8797 4)",
    "private-data.behind-another-version": "the search ends at the first identifier (RFC 8797 5.2)",
}
LEGAL = wire.PrivateData(send_bytes=4096, receive_bytes=4096)
SMALL = wire.PrivateData(send_bytes=1024, receive_bytes=1024)
VARIANTS = mutate.private_data(LEGAL)
# The format identifier, and the octets of the format (RFC 8797 4).
IDENTIFIER, FIELD_OCTETS = b"\xf6\xab\x0e\x18", 8
# Octets of private data in all. InfiniBand has 56 for a request. MPA has 512, and the enhanced
# setup uses four of them.
LONG = [56, 64, 192, 252, 508]


def subject(variant):
    """The requirement that a variant tests."""
    return next(subject for start, subject in SUBJECTS.items() if variant.name.startswith(start))


def keeps_announced_threshold(bench, handle):
    """Whether the server keeps to a small threshold that is announced correctly. If not, odd
    private data is not the reason for long replies."""
    conn = bench.connect(private_data=SMALL, receive_bytes=WATCHING_RECEIVES)
    outcome = conn.exchange(conn.nfs_call("READ", file=handle, offset=0, count=COUNT))
    return len(outcome.raw) <= conn.negotiated.to_client_bytes


def expect_meaning(bench, conn, content, requirement_id, ignored=None):
    """Replies are as long as the private data of both sides allows, and no longer."""
    handle = bench.file(content)
    if conn.negotiated.to_client_bytes < ROOM:
        if not keeps_announced_threshold(bench, handle):
            requirement_id = SIZES
        expect_refused(bench, conn, handle, content, COUNT, requirement_id)
        expect_long_reply(bench, conn, handle, content, COUNT, requirement_id)
        return
    if ignored is not None:
        outcome = conn.exchange(conn.nfs_call("READ", file=handle, offset=0, count=COUNT))
        if outcome.kind != kinds.REPLY:
            expect(outcome, requirement_id, must=[kinds.REPLY], latitude={kinds.ERR_CHUNK: ignored})
            return
    expect_inline(bench, conn, handle, content, COUNT, requirement_id)


def check_server_announces(bench, conn, meaning):
    """The case is not testable where the server announces less than a long reply."""
    if meaning is None or meaning.receive_bytes < ROOM:
        return
    bench.need("large-inline")
    if conn.negotiated.to_client_bytes < ROOM:
        bench.not_testable("the server announces Sends too small to tell the thresholds apart")


@case(
    "server.{variant.name}",
    requirements=[ABSENT, FOUND, OTHER, CHECKED, RESERVED, LONGER, SIZES, READ_DATA],
    hostile=True,
)
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_variant(bench, variant):
    """Private data that is odd, damaged or hidden. The reply inline threshold shows how the server
    decoded it. Nonconforming data counts as R=0 and 1024 octets."""
    conn = bench.connect(private_data=variant.bytes or None, receive_bytes=WATCHING_RECEIVES)
    check_server_announces(bench, conn, variant.meaning)
    content = bench.random.randbytes(COUNT)
    expect_meaning(bench, conn, content, subject(variant), IGNORED.get(variant.name))


@case(
    "server.private-data.padded-with-zeros",
    requirements=[LONGER, READ_DATA],
    needs=["large-inline"],
)
def test_padded_with_zeros(bench):
    """Connection managers fill their field with zeros. The eight octets keep their meaning."""
    conn = bench.connect(
        private_data=wire.encode(LEGAL) + bytes(48), receive_bytes=WATCHING_RECEIVES
    )
    check_server_announces(bench, conn, LEGAL)
    expect_meaning(bench, conn, bench.random.randbytes(COUNT), LONGER)


@case(
    "server.private-data.long-{length}",
    requirements=[FOUND, "RFC5044-7.1.1-1", READ_DATA],
    needs=["large-inline"],
)
@pytest.mark.parametrize("length", LONG)
def test_long_private_data(bench, length):
    """Eight octets at the end of long private data: found, unless the provider does not take this
    length (RFC 5044 7.1.2)."""
    octets = wire.encode(LEGAL).rjust(length, b"\0")
    conn = bench.connect(
        private_data=octets, receive_bytes=WATCHING_RECEIVES, greet=False, must_open=False
    )
    if not conn.open:
        text = f"the provider does not take {length} octets of private data"
        bench.latitude("RFC5044-7.1.1-1", text)
        return
    expect(conn.probe(), FOUND, must=[kinds.REPLY])
    check_server_announces(bench, conn, LEGAL)
    expect_meaning(bench, conn, bench.random.randbytes(COUNT), FOUND)


@case("server.private-data.reconnect", requirements=["RFC8797-4-1", READ_DATA])
def test_reconnect_with_other_settings(bench):
    """Large, none, small, large: each connection follows its own private data."""
    content = bench.random.randbytes(COUNT)
    handle = bench.file(content)
    for announced in (LEGAL, None, SMALL, LEGAL):
        conn = bench.connect(private_data=announced, receive_bytes=WATCHING_RECEIVES)
        check = expect_inline if conn.negotiated.to_client_bytes >= ROOM else expect_refused
        check(bench, conn, handle, content, COUNT, "RFC8797-4-1")
        conn.close()


@case(
    "server.private-data.own",
    requirements=["RFC8797-1-1", "RFC8797-4-3", "RFC8797-4-6", "RFC8797-4-7"],
)
def test_own_private_data(bench):
    """The server's private data is absent, has another purpose, or contains the format of RFC 8797
    4 (RFC 8797 5.2)."""
    octets = bytes(bench.connect().server_private_data)
    place = octets.find(IDENTIFIER)
    if place < 0:
        what = "other private data" if octets else "no private data"
        bench.latitude("RFC8797-1-1", f"the server sends {what}")
        return
    field = octets[place : place + FIELD_OCTETS]
    expect.equal(len(field), FIELD_OCTETS, "RFC8797-4-3", "octets from the identifier on")
    expect.equal(field[4], 1, "RFC8797-4-6", "version of the private data")
    expect.equal(field[5] & 0xFE, 0, "RFC8797-4-7", "reserved bits of the private data")


@case(
    "server.private-data.own-is-constant",
    requirements=["RFC8797-4-2"],
    unbroken="RFC8797-4-2: a server's values come from its options, once.",
)
def test_own_private_data_does_not_depend_on_ours(bench):
    """The server announces its own properties. It may legally announce other values for each
    connection, so the case only notes a change."""
    announced = {
        bytes(bench.connect(private_data=each).server_private_data) for each in (LEGAL, None, SMALL)
    }
    if len(announced) > 1:
        bench.latitude("RFC8797-4-2", "the server announces other values to other clients")
