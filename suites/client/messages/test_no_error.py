"""A client answers nothing with RDMA_ERROR: only who is called may (RFC 8166 4.2.4)."""

import pytest

from steertag.suite import case, client_kinds as kinds, expect
from ..call_kinds import CALL_KINDS, deny_then_conform

RULE = "RFC8166-4.2.4-4"


# What a responder would have to answer with ERR_VERS or ERR_CHUNK.
ERRORS = {
    "version-two": "version.2",
    "unknown-procedure": "procedure.5",
    "read-list-presence": "read-list.end-presence-2",
    "write-list-presence": "write-list.end-presence-2",
    "cut-in-lists": "cut-at.30",
    "nomsg-without-chunk": "procedure.nomsg-no-chunk",
}


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@pytest.mark.parametrize("name", ERRORS)
@case("client.no-error.{name}.{call_kind}", requirements=[RULE], hostile=True)
def test_answers_nothing(bench, name, call_kind):
    """A reply with an error in its header gets no RDMA_ERROR. Other cases judge what becomes of its
    call. The good reply follows."""
    outcome = bench.use(reply=deny_then_conform(ERRORS[name]), when=CALL_KINDS[call_kind])
    own = {sent.xid for _, sent in outcome.calls}
    errors = [
        sent
        for conn in outcome.connections
        for sent in conn.sent
        if sent.is_error and sent.xid in own
    ]
    expect.equal(len(errors), 0, RULE, "RDMA_ERROR under XIDs of its own calls", outcome=outcome)
    expect(outcome, RULE, must=[*kinds.DONE, kinds.REFUSED])
