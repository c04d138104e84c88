"""Replies with an error in the transport header: the client discards them.

The good reply follows on the same connection.
"""

import pytest

from steertag import mutate, wire
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.client.script import is_plain, is_read
from ..call_kinds import CALL_KINDS, denial, deny_then_conform, read_reply_shape
from ..client_verdicts import completes, expect_or

FIELDS = {
    "version-zero": "version.0",
    "version-two": "version.2",
    "version-largest": "version.0xffffffff",
    "procedure-five": "procedure.5",
    "procedure-largest": "procedure.0xffffffff",
}
WORDS_OF_PLAIN = range(0, wire.SMALLEST_HEADER_BYTES, 4)
# With one write chunk of one segment the header has 52 octets.
WORDS_OF_READ = range(wire.SMALLEST_HEADER_BYTES, 52, 4)


def variants(*groups):
    """Names of the variants that must be discarded."""
    return [
        each.name
        for group in groups
        for each in mutate.generate(group, read_reply_shape())
        if each.expectation == "ERR_CHUNK"
    ]


def word(name):
    """A variant's name as a part of a case id."""
    return name.replace("_", "-")


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@pytest.mark.parametrize("name", FIELDS)
@case(
    "client.header.{call_kind}.{name}", requirements=["RFC8166-4.5-3"], bugs=["B124"], hostile=True
)
def test_field(bench, call_kind, name):
    """A reply with this value in a fixed word is discarded."""
    interpose = deny_then_conform(FIELDS[name])
    completes(bench.use(reply=interpose, when=CALL_KINDS[call_kind]), "RFC8166-4.5-3")


@pytest.mark.parametrize("octets", WORDS_OF_PLAIN)
@case("client.truncation.plain.{octets}-octets", requirements=["RFC8166-4.5-1"], hostile=True)
def test_short(bench, octets):
    """A reply cut below 28 octets is discarded, whatever XID it seems to have."""
    interpose = deny_then_conform(f"cut-at.{octets}")
    completes(bench.use(reply=interpose, when=is_plain), "RFC8166-4.5-1")


@pytest.mark.parametrize("octets", WORDS_OF_READ)
@case("client.truncation.read.{octets}-octets", requirements=["RFC8166-4.5-3"], hostile=True)
def test_cut_lists(bench, octets):
    """A reply that ends inside its chunk lists is discarded."""
    interpose = deny_then_conform(f"cut-at.{octets}")
    completes(bench.use(reply=interpose, when=is_read), "RFC8166-4.5-3")


@pytest.mark.parametrize("octets", [1, 2, 3, 27, 29, 30, 31])
@case(
    "client.truncation.odd.{octets}-octets",
    requirements=["RFC8166-4.5-1", "RFC8166-4.5-3"],
    hostile=True,
)
def test_cut_inside_word(bench, octets):
    """A reply that ends inside a word is discarded."""
    which = "RFC8166-4.5-1" if octets < wire.SMALLEST_HEADER_BYTES else "RFC8166-4.5-3"
    completes(bench.use(reply=deny_then_conform(f"cut-at.{octets}"), when=is_read), which)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, id=word(name))
        for name in variants("presence", "count")
        # The same as a list that is there, with another number of segments: see test_chunks.py.
        if name != "write-chunk.count-0"
    ],
)
@case("client.lists.{name}", requirements=["RFC8166-4.5-3"], hostile=True)
def test_lists(bench, name):
    """A reply whose lists are no XDR is discarded."""

    def interpose(reply):
        try:
            reply.send(denial(reply, name))
        except KeyError:
            bench.not_testable("the client's READ has chunks of another shape")
        reply.conform()

    completes(bench.use(reply=interpose, when=is_read), "RFC8166-4.5-3")


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case(
    "client.header.{call_kind}.with-read-list",
    requirements=["RFC8166-3.1-1"],
    hostile=True,
    unbroken="RFC8166-3.1-1: ours has no code that reads the memory of a server.",
)
def test_read_list(bench, call_kind):
    """A reply that asks the client to read the server's memory is not obeyed: it is discarded, or
    ends the call."""
    interpose = deny_then_conform("read-list.invented")
    outcome = bench.use(reply=interpose, when=CALL_KINDS[call_kind])
    refused = "it takes the reply for one that ends the call"
    expect_or(bench, outcome, "RFC8166-3.1-1", kinds.COMPLETED, {kinds.REFUSED: refused})


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@case("client.header.{call_kind}.nomsg-without-chunk", requirements=["RFC8166-4.5-3"], hostile=True)
def test_nomsg(bench, call_kind):
    """RDMA_NOMSG without any list is an error of the header (RFC 8166 4.5.2), and discarded."""
    interpose = deny_then_conform("procedure.nomsg-no-chunk")
    completes(bench.use(reply=interpose, when=CALL_KINDS[call_kind]), "RFC8166-4.5-3")


@pytest.mark.parametrize("octets", [0, 4, 8, 20])
@case("client.payload.plain.{octets}-octets", requirements=["RFC8166-4.5-3"], hostile=True)
def test_short_payload(bench, octets):
    """A sound header with a piece of an RPC reply behind it. Without the whole XID in it nothing
    shows that the two belong together (RFC 8166 4.5.2). The rest may end the call."""
    outcome = bench.use(reply=deny_then_conform(f"payload.octets-{octets}"), when=is_plain)
    refused = "the RPC layer takes it for the reply, which does not decode"
    expect(outcome, "RFC8166-4.5-3", must=[kinds.COMPLETED], latitude={kinds.REFUSED: refused})
