"""A client answers nothing with RDMA_ERROR: only who is called may (RFC 8166 4.2.4)."""

import pytest

from steertag.suite import case, client_kinds as kinds, expect
from .places import PLACES, then_conform

RULE = "RFC8166-4.2.4-4"


def _with(**fields):
    def make(draft):
        for name, value in fields.items():
            setattr(draft, name, value)

    return make


# What a responder would have to answer with ERR_VERS or ERR_CHUNK.
ERRORS = {
    "version-two": _with(vers=2),
    "unknown-procedure": _with(proc=5),
    "read-list-presence": _with(read_list_end=2),
    "write-list-presence": _with(write_list_end=2),
    "cut-in-lists": _with(cut_to=30),
    "nomsg-without-chunk": _with(proc=1, payload=b""),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ERRORS)
@case("client.no-error.{name}.{place}", requirements=[RULE], hostile=True)
def test_answers_nothing(bench, name, place):
    """A reply with an error in its header gets no RDMA_ERROR, whatever becomes of its call, which other cases
    judge; the good reply comes behind it."""
    outcome = bench.use(reply=then_conform(ERRORS[name]), when=PLACES[place])
    own = {sent.xid for _, sent in outcome.calls}
    errors = [
        sent
        for conn in outcome.connections
        for sent in conn.sent
        if sent.is_error and sent.xid in own
    ]
    expect.equal(len(errors), 0, RULE, "RDMA_ERROR under XIDs of its own calls", outcome=outcome)
    expect(outcome, RULE, must=[kinds.COMPLETED, kinds.REFUSED])
