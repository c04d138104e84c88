"""What cases about packets of RoCE check after them."""

from steertag.suite import expect, kinds

SERVED = "RFC8166-4.5.5-1"


def expect_served(bench, requirement_id=SERVED):
    """A new connection is accepted, and a call on it is answered."""
    expect(bench.connect(greet=False).probe(), requirement_id, must=[kinds.REPLY])


def expect_ended(conn, outcome, requirement_id):
    """The connection ends without an answer to the call."""
    expect(outcome, requirement_id, must=kinds.CLOSED)
    expect.true(not conn.open, requirement_id, "the connection ends", outcome=outcome)
