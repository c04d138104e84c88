"""Chunk lists that do not decode: presence words, counts, missing and shifted fields (RFC 8166 4.5.2)."""

import pytest
from chunk_checks import expect_alive
from mutations import KINDS, Base, variants

from steertag.suite import case, expect, kinds

BROKEN = "RFC8166-4.5.2-1"
VERSION = "RFC8166-4.5.1-1"


def of_groups(*groups, hint="ERR_CHUNK"):
    """[(kind, group, name)] of the variants to which a strict decoder has this answer."""
    return [
        (kind, group, name)
        for kind in KINDS
        for group, name, _, expectation in variants(kind, *groups)
        if expectation == hint
    ]


PRESENCE = of_groups("presence", "missing-body")
COUNTS = of_groups("count")
SHIFTED = of_groups("field")
SHIFTED_INTO_VERSION = of_groups("field", hint="ERR_VERS")
# A field written twice, so that everything behind it moves by a word, and the header still decodes.
SHIFTED_LEGAL = of_groups("field", hint="survive")
# The last count of RDMA_NOMSG: what it leaves out stands behind the lists, where nothing belongs.
LEFT_BEHIND = ("reply-chunk.count-minus-1", "reply-chunk.count-0")
# What may become of a message whose header decodes by accident and whose RPC message is then garbage.
ACCIDENT = [*kinds.REFUSED, kinds.DENIED]
ACCIDENT_LATITUDE = {
    kinds.SILENCE: "not to be told from a reply, which is discarded",
    **dict.fromkeys(kinds.CLOSED, "no reply can be formed (RFC 8166 4.5.4)"),
}


def expect_err_chunk(base, outcome, latitude=None):
    """ERR_CHUNK for the call's XID; nothing was executed and the connection stays."""
    expect(outcome, BROKEN, must=[kinds.ERR_CHUNK], latitude=latitude)
    xid = outcome.header.xid
    expect.equal(xid, base.call.xid, "RFC8166-4.5-4", "rdma_xid of the error", show=False)
    expect_alive(base.conn, BROKEN)
    expect.true(base.unchanged(), BROKEN, "a call with a broken header changes nothing")


@case("server.malformed-lists.{kind}.{name}", requirements=[BROKEN, "RFC8166-4.5-4"], bugs=["B26"])
@pytest.mark.parametrize("kind,group,name", PRESENCE)
def test_presence_word(bench, kind, group, name):
    """A presence word that is neither 0 nor 1, or a 1 with no entry behind it: ERR_CHUNK."""
    base = Base(bench, kind)
    expect_err_chunk(base, base.conn.exchange(base.mutated(group, name)))


@case(
    "server.malformed-lists.{kind}.{name}",
    requirements=[BROKEN, "RFC8166-4.5-4"],
    bugs=["B16", "B26"],
)
@pytest.mark.parametrize("kind,group,name", COUNTS)
def test_count(bench, kind, group, name):
    """A segment count that the message cannot hold, that wraps when it is multiplied by 16, or that
    is off by one: ERR_CHUNK."""
    base = Base(bench, kind)
    latitude = None
    if name in LEFT_BEHIND:
        latitude = {kinds.REPLY: "octets behind the lists of RDMA_NOMSG are ignored"}
    outcome = base.conn.exchange(base.mutated(group, name))
    expect_err_chunk(base, outcome, latitude)


@case("server.malformed-lists.{kind}.{name}", requirements=[BROKEN, "RFC8166-4.5-4"], bugs=["B26"])
@pytest.mark.parametrize("kind,group,name", SHIFTED)
def test_shifted(bench, kind, group, name):
    """A field is left out or written twice, so that every later one is read from the wrong place and
    the header does not decode: ERR_CHUNK."""
    base = Base(bench, kind)
    expect_err_chunk(base, base.conn.exchange(base.mutated(group, name)))


@case("server.malformed-lists.{kind}.{name}", requirements=[VERSION])
@pytest.mark.parametrize("kind,group,name", SHIFTED_INTO_VERSION)
def test_shifted_into_version(bench, kind, group, name):
    """As before, and the second word is no version that the server knows: ERR_VERS."""
    base = Base(bench, kind)
    expect(base.conn.exchange(base.mutated(group, name)), VERSION, must=[kinds.ERR_VERS])
    expect_alive(base.conn, VERSION)


@case("server.malformed-lists.{kind}.{name}", requirements=["RFC8166-4.5-2"])
@pytest.mark.parametrize("kind,group,name", SHIFTED_LEGAL)
def test_shifted_and_legal(bench, kind, group, name):
    """As before, and the header decodes all the same; what follows is no RPC message of its XID, so
    it is refused and not executed."""
    base = Base(bench, kind)
    outcome = base.conn.exchange(base.mutated(group, name))
    expect(outcome, "RFC8166-4.5-2", must=ACCIDENT, latitude=ACCIDENT_LATITUDE)
    expect_alive(base.conn, "RFC8166-4.5-2")
    expect.true(base.unchanged(), "RFC8166-4.5-2", "a shifted call changes nothing")
