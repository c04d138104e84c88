"""Private data of the server: found at any offset, obeyed where possible (RFC 8797)."""

import pytest

from steertag import mutate, wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import Script
from ..client_verdicts import expect_or, may_hang

GOOD = wire.encode(wire.PrivateData(remote_invalidation=True, send_bytes=4096, receive_bytes=4096))
SMALL = wire.encode(wire.PrivateData(send_bytes=1024, receive_bytes=1024))
MIDDLE = wire.encode(wire.PrivateData(send_bytes=2048, receive_bytes=2048))
FOREIGN = b"\x5e\x3d\x21\x07"


def variant(name):
    """The octets of this variant of GOOD (steertag.mutate)."""
    return mutate.private_data_variant(f"private-data.{name}").bytes


# What counts as none: thresholds of 1024 octets and no remote invalidation.
NONE = {
    "absent": variant("absent"),
    "foreign": FOREIGN * 5,
    "seven-octets": variant("short-by-1"),
    "five-octets": variant("short-by-3"),
    "identifier-only": variant("short-by-4"),
    "identifier-at-end": variant("identifier-alone-at-the-end"),
    "cut-behind-foreign": FOREIGN * 4 + variant("short-by-1"),
    "bit-flipped": variant("identifier-one-bit-flipped"),
    "bytes-swapped": variant("identifier-octets-swapped"),
    "version-zero": variant("version-0"),
    "version-two": variant("version-2"),
    "version-largest": variant("version-255"),
}
# Of these, what a zero would complete.
LACKS_LAST = ("seven-octets", "cut-behind-foreign")
# Of these, where the identifier is nowhere.
UNFOUND = ("foreign", "bit-flipped", "bytes-swapped")
# What is to be found.
FOUND = {
    "plain": variant("legal"),
    "small": SMALL,
    "behind-one-octet": variant("unaligned-1"),
    "behind-three-octets": variant("unaligned-3"),
    "behind-four-octets": variant("unaligned-4"),
    "behind-hundred-octets": FOREIGN * 25 + GOOD,
    "foreign-octets-behind": variant("trailing-junk"),
    "zeros-behind": GOOD + bytes(48),
    "largest-sizes": variant("send-0xff-receive-0xff"),
}
FLAGS_AT, SOME_RESERVED = 5, 0xAA
# With the reserved bits set (RFC 8797 4: ignored on receipt). Where there are no octets the server
# deviates.
RESERVED = {
    "fe": None,
    "ff": variant("reserved-bits-all"),
    "aa": GOOD[:FLAGS_AT] + bytes([SOME_RESERVED]) + GOOD[FLAGS_AT + 1 :],
}


def accept_with(bench, octets, **server):
    """The outcome when every connection is accepted with this private data. The server invalidates
    nothing, whatever it announces, as it may (RFC 8797 4.1)."""
    server = {"remote_invalidation": False, **server}

    def request(step):
        if len(octets) > 400:
            bench.not_testable("the provider has no room for so much private data")
        step.private_data = octets

    return bench.use(request=request, server=server)


def expect_obeyed(bench, outcome, requirement_id):
    """The client goes by the format: where it has Sends above 1024 octets in plain use, it has them here
    too. Of a client without any nothing shows what it has found."""
    longest = max(len(sent.octets) for conn in outcome.connections for sent in conn.sent)
    bench.need("client-large-sends")
    expect.at_least(longest, 1025, requirement_id, "octets of the longest Send", outcome)


@pytest.mark.parametrize("name", NONE)
@case(
    "client.private-data.none.{name}",
    requirements=["RFC8797-5.1-1", "RFC8797-5.2-2"],
    hostile=True,
)
def test_none(bench, name):
    """Private data without the format, or with one that does not count: the client works with the
    defaults, and sends nothing beyond 1024 octets."""
    if name in LACKS_LAST:
        bench.need("server-exact-private-data")
    row = "RFC8797-5.2-2" if name in UNFOUND else "RFC8797-5.1-1"
    outcome = accept_with(bench, NONE[name], inline_bytes=1024)
    expect(outcome, row, must=[kinds.COMPLETED])
    longest = max(len(sent.octets) for conn in outcome.connections for sent in conn.sent)
    expect.at_most(longest, 1024, row, "octets of the longest Send", outcome)


@pytest.mark.parametrize("name", FOUND)
@case(
    "client.private-data.found.{name}",
    requirements=["RFC8797-5.2-1", "RFC8797-4.2-4"],
    hostile=True,
)
def test_found(bench, name):
    """The format is found at any offset. Sizes are the smaller of both sides. So there are Sends
    above 1024 octets if the client has any, and none above the server's size."""
    size = {"small": 1024, "largest-sizes": 262144}.get(name, 4096)
    room = max(size, 4096)  # so that a Send which is too long arrives, and is seen
    server = {"inline_bytes": size, "receive_bytes": room, "credits": 16}
    outcome = accept_with(bench, FOUND[name], **server)
    expect(outcome, "RFC8797-5.2-1", must=[kinds.COMPLETED])
    longest = max(len(sent.octets) for conn in outcome.connections for sent in conn.sent)
    expect.at_most(longest, size, "RFC8797-4.2-4", "octets of the longest Send", outcome)
    if name != "small":
        expect_obeyed(bench, outcome, "RFC8797-5.2-1")


@pytest.mark.parametrize("name", RESERVED)
@case("client.private-data.reserved-{name}", requirements=["RFC8797-4-8"], hostile=True)
def test_reserved(bench, name):
    """Reserved bits change nothing: the client goes by the rest."""
    if RESERVED[name] is None:
        server = {"remote_invalidation": False, "deviate": ["announces-reserved-bits"]}
        outcome = bench.use(server=server)
    else:
        outcome = accept_with(bench, RESERVED[name])
    expect(outcome, "RFC8797-4-8", must=[kinds.COMPLETED])
    expect_obeyed(bench, outcome, "RFC8797-4-8")


class Changes(Script):
    """Announces `later` on every connection but the first, which ends at its first reply. Counts the
    calls there that the reference server refuses. With a small threshold it has no room for their
    replies."""

    def __init__(self, first, later):
        self.refused = 0
        self._announced = first, later
        self._first = None

    def on_request(self, step):
        first, later = self._announced
        step.private_data = first if len(self.bench.connections) == 1 else later

    def on_departure(self, reply):
        if self._first is None:
            self._first = reply.conn
            reply.raw.abort()
            return True
        self.refused += reply.kind == "error"
        return False


@case("client.private-data.changes", requirements=["RFC8797-4-1"], hostile=True)
def test_changes(bench):
    """After a reconnect the server announces less. The client sends within the new thresholds, and
    has room for replies beyond them. It does not expect invalidation."""
    changes = Changes(GOOD, b"")
    outcome = bench.use(changes, server={"remote_invalidation": False})
    refused = "it takes the lost connection for the end"
    expect_or(bench, outcome, "RFC8797-4-1", kinds.COMPLETED, {kinds.REFUSED: refused})
    later = [len(sent.octets) for conn in outcome.connections[1:] for sent in conn.sent]
    longest = max(later, default=0)
    expect.at_most(longest, 1024, "RFC8797-4-1", "octets of the longest Send", outcome)
    what = "calls without room for replies beyond 1024 octets"
    expect.equal(changes.refused, 0, "RFC8797-4-1", what, outcome=outcome)


@case("client.private-data.grows", requirements=["RFC8797-4-1"], hostile=True)
def test_grows(bench):
    """After a reconnect the server announces more. Its replies fill the larger threshold, and the client has receives
    for them."""
    grows = Changes(b"", GOOD)
    outcome = bench.use(grows, server={"remote_invalidation": False})
    refused = "it takes the lost connection for the end"
    expect_or(bench, outcome, "RFC8797-4-1", kinds.COMPLETED, {kinds.REFUSED: refused})
    what = "calls that the reference server refuses"
    expect.equal(grows.refused, 0, "RFC8797-4-1", what, outcome=outcome)


@case("client.private-data.two-formats", requirements=["RFC8797-5.2-1"], hostile=True)
def test_two(bench):
    """Two formats with other sizes: the client goes by one of them, whichever that is."""
    outcome = accept_with(bench, MIDDLE + GOOD, inline_bytes=4096)
    expect(outcome, "RFC8797-5.2-1", must=[kinds.COMPLETED])
    expect_obeyed(bench, outcome, "RFC8797-5.2-1")


@case(
    "client.private-data.own",
    requirements=["RFC8797-4-3"],
    needs=["client-private-data"],
    unbroken="RFC8797-4-3: its parts are rows: RFC8797-4-5, 4-6, 4-7, 4.2-5.",
)
def test_own(bench):
    """What the client itself announces has the format, wherever its identifier stands in its private
    data: these may be of another kind (RFC 8797 5.2)."""
    outcome = bench.use()
    expect(outcome, "RFC8797-4-3", must=[kinds.COMPLETED])
    conn = outcome.connections[0]
    if GOOD[:4] not in conn.client_data:
        bench.not_testable("the client's private data have no such format")
    expect.true(
        conn.announced is not None,
        "RFC8797-4-3",
        "its private data hold the format",
        outcome=outcome,
    )


@pytest.mark.parametrize("data", ["without", "with"])
@case("client.private-data.rejected-{data}", requirements=["RFC8166-4.5.5-1"], hostile=True)
def test_rejected(bench, data):
    """Every request is rejected: the client reports an error, or goes on trying."""

    def request(step):
        step.answer = "reject"
        step.rejection = GOOD if data == "with" else b""

    outcome = bench.use(request=request)
    expect(outcome, "RFC8166-4.5.5-1", must=[kinds.REFUSED], latitude=may_hang(bench))


@case("client.private-data.rejected-once", requirements=["RFC8166-4.5.5-1"], hostile=True)
def test_rejected_once(bench):
    """The first request is rejected; a client may try again or tell its user."""

    def request(step):
        if len(bench.connections) == 1:
            step.answer = "reject"

    outcome = bench.use(request=request)
    tried = "it tried again"
    expect_or(
        bench,
        outcome,
        "RFC8166-4.5.5-1",
        kinds.REFUSED,
        {kinds.COMPLETED: tried},
        ours=kinds.COMPLETED,
    )


@case(
    "client.private-data.sends",
    requirements=["RFC8797-4-10"],
    needs=["client-private-data"],
)
def test_sends(bench):
    """No Send is longer than the client has announced."""
    outcome = bench.use()
    announced = [conn for conn in outcome.connections if conn.announced is not None]
    if not announced:
        bench.not_testable("the client's private data are not those of RFC 8797")
    for conn in announced:
        most = conn.announced.send_bytes
        for sent in conn.sent:
            expect.at_most(len(sent.octets), most, "RFC8797-4-10", "octets of a Send", outcome)
