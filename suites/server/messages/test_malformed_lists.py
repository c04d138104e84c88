"""Chunk lists that do not decode: presence words, counts, wrong fields (RFC 8166 4.5.2)."""

import pytest

from steertag.suite import case, expect, kinds
from ..chunk_checks import expect_alive
from .mutations import KINDS, Base, only_goes_on, variants

BROKEN = "RFC8166-4.5.2-1"
VERSION = "RFC8166-4.5.1-1"


def of_groups(*groups, hint="ERR_CHUNK"):
    """[(kind, group, name)] of the variants with this answer from a strict decoder. Variants with
    no fault but octets behind the lists are left out."""
    return [
        (kind, group, name)
        for kind in KINDS
        for group, name, message, expectation in variants(kind, *groups)
        if expectation == hint and not only_goes_on(message)
    ]


PRESENCE = of_groups("presence", "missing-body")
COUNTS = of_groups("count")
# The last count of RDMA_NOMSG is too small, so segments follow the lists.
LEFT_BEHIND = [name for _, name, message, _ in variants("long", "count") if only_goes_on(message)]
UNALIGNED = of_groups("position")
SHIFTED = of_groups("field")
SHIFTED_INTO_VERSION = of_groups("field", hint="ERR_VERS")
# A field is written twice. Everything behind it moves by a word, and the header still decodes.
SHIFTED_LEGAL = of_groups("field", hint="survive")
# A server may treat a broken header as legal. By our own decoder it then uses memory that was never
# offered. The case already fails for the first such use, so further ones are not reported.
CONSEQUENCES = dict.fromkeys(
    ("RFC8166-3.4.5-6", "RFC8166-8.1.4-2"), "a consequence of taking a broken header for legal"
)
# Outcomes of a message whose header decodes by accident and whose RPC message is garbage.
ACCIDENT = [*kinds.REFUSED, kinds.DENIED]
ACCIDENT_LATITUDE = {
    kinds.SILENCE: "not to be told from a reply, which is discarded",
    **dict.fromkeys(kinds.CLOSED, "no reply can be formed (RFC 8166 4.5.4)"),
}


def expect_err_chunk(base, outcome, latitude=None):
    """Expects ERR_CHUNK for the call's XID. Nothing was executed, and the connection stays open."""
    expect(outcome, BROKEN, must=[kinds.ERR_CHUNK], latitude=latitude)
    xid = outcome.header.xid
    expect.equal(xid, base.call.xid, "RFC8166-4.5-4", "rdma_xid of the error", show=False)
    expect_alive(base.conn, BROKEN)
    expect.true(base.unchanged(), BROKEN, "a call with a broken header changes nothing")


@case(
    "server.malformed-lists.{kind}.{name}",
    requirements=[BROKEN, "RFC8166-4.5-4"],
    tolerates=CONSEQUENCES,
    bugs=["B26"],
    hostile=True,
)
@pytest.mark.parametrize("kind,group,name", PRESENCE)
def test_presence_word(bench, kind, group, name):
    """A presence word that is neither 0 nor 1, or a 1 without an entry behind it: ERR_CHUNK."""
    base = Base(bench, kind)
    expect_err_chunk(base, base.conn.exchange(base.mutated(group, name)))


@case(
    "server.malformed-lists.{kind}.{name}",
    requirements=[BROKEN, "RFC8166-4.5-4"],
    tolerates=CONSEQUENCES,
    bugs=["B16", "B26"],
    hostile=True,
)
@pytest.mark.parametrize("kind,group,name", COUNTS)
def test_count(bench, kind, group, name):
    """A segment count that exceeds the message, overflows when multiplied by 16, or is off by one:
    ERR_CHUNK."""
    base = Base(bench, kind)
    expect_err_chunk(base, base.conn.exchange(base.mutated(group, name)))


@case("server.malformed-lists.{kind}.{name}", requirements=[BROKEN, "RFC8166-4.5-4"], hostile=True)
@pytest.mark.parametrize("kind,group,name", UNALIGNED)
def test_unaligned_position(bench, kind, group, name):
    """The positions of a read chunk are no multiples of four (RFC 8166 3.4.5): ERR_CHUNK, or an
    error at RPC level."""
    base = Base(bench, kind)
    outcome = base.conn.exchange(base.mutated(group, name))
    expect_err_chunk(base, outcome, {"rpc:GARBAGE_ARGS": "reported at RPC level (RFC 8166 4.5.2)"})


@case(
    "server.malformed-lists.long.{name}",
    requirements=[BROKEN, "RFC8166-4.5-4"],
    bugs=["B26"],
    hostile=True,
)
@pytest.mark.parametrize("name", LEFT_BEHIND)
def test_left_behind(bench, name):
    """The reply chunk of RDMA_NOMSG counts fewer segments than follow. The answer is ERR_CHUNK, or
    a reply if the server ignores octets behind the lists."""
    base = Base(bench, "long")
    latitude = {kinds.REPLY: "octets behind the lists of RDMA_NOMSG are ignored"}
    expect_err_chunk(base, base.conn.exchange(base.mutated("count", name)), latitude)


@case(
    "server.malformed-lists.{kind}.{name}",
    requirements=[BROKEN, "RFC8166-4.5-4"],
    tolerates=CONSEQUENCES,
    bugs=["B26"],
    hostile=True,
)
@pytest.mark.parametrize("kind,group,name", SHIFTED)
def test_shifted(bench, kind, group, name):
    """A field is left out or written twice. Every later field is read from the wrong place, and the
    header does not decode: ERR_CHUNK."""
    base = Base(bench, kind)
    expect_err_chunk(base, base.conn.exchange(base.mutated(group, name)))


@case("server.malformed-lists.{kind}.{name}", requirements=[VERSION], hostile=True)
@pytest.mark.parametrize("kind,group,name", SHIFTED_INTO_VERSION)
def test_shifted_into_version(bench, kind, group, name):
    """A field is left out or written twice, and the second word is an unknown version: ERR_VERS."""
    base = Base(bench, kind)
    expect(base.conn.exchange(base.mutated(group, name)), VERSION, must=[kinds.ERR_VERS])
    expect_alive(base.conn, VERSION)


@case("server.malformed-lists.{kind}.{name}", requirements=["RFC8166-4.5-2"], hostile=True)
@pytest.mark.parametrize("kind,group,name", SHIFTED_LEGAL)
def test_shifted_and_legal(bench, kind, group, name):
    """A field is left out or written twice, and the header still decodes. No RPC message with its
    XID follows, so the server refuses it and executes nothing."""
    base = Base(bench, kind)
    outcome = base.conn.exchange(base.mutated(group, name))
    expect(outcome, "RFC8166-4.5-2", must=ACCIDENT, latitude=ACCIDENT_LATITUDE)
    expect_alive(base.conn, "RFC8166-4.5-2")
    expect.true(base.unchanged(), "RFC8166-4.5-2", "a shifted call changes nothing")
