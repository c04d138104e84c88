"""Checks of Send with Invalidate that cases share (RFC 8797 4.1)."""

from steertag.suite import expect

PLAIN = "RFC8797-4.1-3"
OWN = "RFC8797-4.1-2"


def expect_own(conn, call, outcome):
    """An STag that the reply invalidates belongs to the call, and both sides have set R."""
    if outcome.invalidated is None:
        return
    expect.true(
        conn.negotiated.remote_invalidation,
        PLAIN,
        "replies are plain Sends unless both sides set R",
        outcome=outcome,
    )
    own = {offer.stag for offer in call.offers}
    expect.true(
        outcome.invalidated in own,
        OWN,
        "the invalidated STag is one of the call's",
        outcome=outcome,
    )
