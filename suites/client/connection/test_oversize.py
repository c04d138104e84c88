"""Sends that are longer than the client's receives: the connection ends, nothing is truncated.

The client makes the call again on another connection.
"""

import pytest

from steertag import mutate
from steertag.suite import case, client_kinds as kinds, expect
from ..call_kinds import CALL_KINDS
from ..client_verdicts import done_otherwise, expect_or, may_hang, speaks_nfs3, survives


def oversize(reply, excess):
    """The reply with octets behind it, so that it is longer than the threshold by `excess`."""
    return mutate.padded(reply.draft(), reply.raw.thresholds.to_client_bytes + excess)


@pytest.mark.parametrize("call_kind", CALL_KINDS)
@pytest.mark.parametrize("excess", [1, 1024, 65536])
@case("client.oversize.by-{excess}.{call_kind}", requirements=["RFC8166-3.3.2-1"], hostile=True)
def test_once(bench, excess, call_kind):
    """One Send beyond the inline threshold; the calls that went with the connection are made again."""

    def interpose(reply):
        reply.send(oversize(reply, excess))

    outcome = bench.use(reply=interpose, when=CALL_KINDS[call_kind])
    survives(bench, outcome, "RFC8166-3.3.2-1", either_ends=True)


@pytest.mark.parametrize("call_kind", ["plain", "read"])
@case("client.oversize.always.{call_kind}", requirements=["RFC8166-4.5.5-1"], hostile=True)
def test_always(bench, call_kind):
    """Every such reply is too long, so each connection is lost: the client gives up or goes on trying."""

    def interpose(reply):
        reply.send(oversize(reply, 1))

    outcome = bench.use(reply=interpose, when=CALL_KINDS[call_kind], times=None)
    latitude = done_otherwise("it did without such calls") | may_hang(bench)
    expect(outcome, "RFC8166-4.5.5-1", must=[kinds.REFUSED], latitude=latitude)


@case("client.oversize.exactly", requirements=["RFC8166-3.3.2-1"], hostile=True)
def test_exact(bench):
    """A reply of exactly the threshold arrives. The octets behind its RPC message have no meaning
    to the transport. The RPC layer may take the reply for one that does not decode."""

    def interpose(reply):
        reply.send(oversize(reply, 0))

    outcome = bench.use(reply=interpose, when=CALL_KINDS["plain"])
    refused = "octets behind the results are an error to it"
    ours = kinds.REFUSED if speaks_nfs3(bench) else kinds.COMPLETED
    expect_or(bench, outcome, "RFC8166-3.3.2-1", kinds.COMPLETED, {kinds.REFUSED: refused}, ours)
    what = "the connection survives it"
    expect.true(not outcome.lost_one(), "RFC8166-3.3.2-1", what, outcome=outcome)
