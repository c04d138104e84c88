"""Replies whose transport header has an error: the client discards them and takes the good one that
follows on the same connection."""

import pytest

from steertag import mutate, wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import is_plain, is_read
from .places import completes, expect_or, PLACES, read_reply_shape, then_conform

FIELDS = {
    "version-zero": {"vers": 0},
    "version-two": {"vers": 2},
    "version-largest": {"vers": 0xFFFFFFFF},
    "procedure-five": {"proc": 5},
    "procedure-largest": {"proc": 0xFFFFFFFF},
}
WORDS_OF_PLAIN = range(0, wire.SMALLEST_HEADER_BYTES, 4)
# With one write chunk of one segment the header has 52 octets.
WORDS_OF_READ = range(wire.SMALLEST_HEADER_BYTES, 52, 4)


def variants(*groups):
    """Names of the variants that must be discarded, as words of case ids."""
    return [
        (group, each.name)
        for group in groups
        for each in mutate.generate(group, read_reply_shape())
        if each.expectation == "ERR_CHUNK"
    ]


def word(name):
    """A variant's name as a part of a case id."""
    return name.replace("_", "-")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", FIELDS)
@case("client.header.{place}.{name}", requirements=["RFC8166-4.5-3"], bugs=["B124"], hostile=True)
def test_field(bench, place, name):
    """A reply with this value in a fixed word is discarded."""

    def spoil(draft):
        for field, value in FIELDS[name].items():
            setattr(draft, field, value)

    completes(bench.use(reply=then_conform(spoil), when=PLACES[place]), "RFC8166-4.5-3")


@pytest.mark.parametrize("octets", WORDS_OF_PLAIN)
@case("client.truncation.plain.{octets}-octets", requirements=["RFC8166-4.5-1"], hostile=True)
def test_short(bench, octets):
    """A reply cut below 28 octets is discarded, whatever XID it seems to have."""

    def cut(draft):
        draft.cut_to = octets

    completes(bench.use(reply=then_conform(cut), when=is_plain), "RFC8166-4.5-1")


@pytest.mark.parametrize("octets", WORDS_OF_READ)
@case("client.truncation.read.{octets}-octets", requirements=["RFC8166-4.5-3"], hostile=True)
def test_cut_lists(bench, octets):
    """A reply that ends inside its chunk lists is discarded."""

    def cut(draft):
        draft.cut_to = octets

    completes(bench.use(reply=then_conform(cut), when=is_read), "RFC8166-4.5-3")


@pytest.mark.parametrize("octets", [1, 2, 3, 27, 29, 30, 31])
@case(
    "client.truncation.odd.{octets}-octets",
    requirements=["RFC8166-4.5-1", "RFC8166-4.5-3"],
    hostile=True,
)
def test_cut_inside_word(bench, octets):
    """A reply that ends inside a word is discarded."""

    def cut(draft):
        draft.cut_to = octets

    which = "RFC8166-4.5-1" if octets < wire.SMALLEST_HEADER_BYTES else "RFC8166-4.5-3"
    completes(bench.use(reply=then_conform(cut), when=is_read), which)


@pytest.mark.parametrize(
    "group, name",
    [
        pytest.param(group, name, id=word(name))
        for group, name in variants("presence", "count")
        # The same as a list that is there, with another number of segments: see test_chunks.py.
        if name != "write-chunk.count-0"
    ],
)
@case("client.lists.{name}", requirements=["RFC8166-4.5-3"], hostile=True)
def test_lists(bench, group, name):
    """A reply whose lists are no XDR is discarded."""

    def spoil(draft):
        for each in mutate.generate(group, draft):
            if each.name == name:
                return each.draft
        bench.not_testable("the client's READ has chunks of another shape")

    completes(bench.use(reply=then_conform(spoil), when=is_read), "RFC8166-4.5-3")


@pytest.mark.parametrize("place", PLACES)
@case(
    "client.header.{place}.with-read-list",
    requirements=["RFC8166-3.1-1"],
    hostile=True,
    unbroken="RFC8166-3.1-1: ours has no code that reads the memory of a server.",
)
def test_read_list(bench, place):
    """A reply that asks the client to read the server's memory is not obeyed: it is discarded, or
    ends the call."""

    def add(draft):
        target = wire.Segment(handle=0x7E570001, length=64, offset=0)
        draft.read_list = [wire.DraftReadEntry(segment=wire.ReadSegment(28, target))]

    outcome = bench.use(reply=then_conform(add), when=PLACES[place])
    refused = "it takes the reply for one that ends the call"
    expect_or(bench, outcome, "RFC8166-3.1-1", kinds.COMPLETED, {kinds.REFUSED: refused})


@pytest.mark.parametrize("place", PLACES)
@case("client.header.{place}.nomsg-without-chunk", requirements=["RFC8166-4.5-3"], hostile=True)
def test_nomsg(bench, place):
    """RDMA_NOMSG without any list is an error of the header (RFC 8166 4.5.2), and discarded."""

    def spoil(draft):
        return wire.Draft(xid=draft.xid, credit=draft.credit, proc=1)

    completes(bench.use(reply=then_conform(spoil), when=PLACES[place]), "RFC8166-4.5-3")


@pytest.mark.parametrize("octets", [0, 4, 8, 20])
@case("client.payload.plain.{octets}-octets", requirements=["RFC8166-4.5-3"], hostile=True)
def test_short_payload(bench, octets):
    """A sound header with a piece of an RPC reply behind it: with less than the XID in it nothing says
    that the two belong together (RFC 8166 4.5.2). What is left may end the call."""

    def cut(draft):
        draft.payload = draft.payload[:octets]

    outcome = bench.use(reply=then_conform(cut), when=is_plain)
    refused = "the RPC layer takes it for the reply, which does not decode"
    expect(outcome, "RFC8166-4.5-3", must=[kinds.COMPLETED], latitude={kinds.REFUSED: refused})
