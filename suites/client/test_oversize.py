"""Sends that are longer than the client's receives: the connection ends, nothing is cut silently, and the
call is made again on another connection."""

import pytest

from steertag.suite import case, client_kinds as kinds, expect
from .places import expect_or, patience, PLACES, speaks_nfs3, survives


def oversize(reply, excess):
    """The reply with octets behind it, so that it is longer than the threshold by `excess`."""
    draft = reply.draft()
    draft.append = bytes(reply.line.thresholds.to_client_bytes + excess - len(reply.message))
    return draft


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("excess", [1, 1024, 65536])
@case("client.oversize.by-{excess}.{place}", requirements=["RFC8166-3.3.2-1"], hostile=True)
def test_once(bench, excess, place):
    """One Send beyond the inline threshold; the calls that went with the connection are made again."""

    def bend(reply):
        reply.send(oversize(reply, excess))

    survives(bench, bench.use(reply=bend, when=PLACES[place]), "RFC8166-3.3.2-1")


@pytest.mark.parametrize("place", ["plain", "read"])
@case("client.oversize.always.{place}", requirements=["RFC8166-4.5.5-1"], hostile=True)
def test_always(bench, place):
    """Every such reply is too long: the client is told by lost connections, and gives up or goes on
    trying."""

    def bend(reply):
        reply.send(oversize(reply, 1))

    outcome = bench.use(reply=bend, when=PLACES[place], times=None)
    latitude = {kinds.COMPLETED: "it did without such calls", **patience(bench)}
    expect(outcome, "RFC8166-4.5.5-1", must=[kinds.REFUSED], latitude=latitude)


@case("client.oversize.exactly", requirements=["RFC8166-3.3.2-1"], hostile=True)
def test_exact(bench):
    """A reply of exactly the threshold arrives. What stands behind the RPC message in it means nothing to
    the transport, and the RPC layer may take the reply for one that does not decode."""

    def bend(reply):
        reply.send(oversize(reply, 0))

    outcome = bench.use(reply=bend, when=PLACES["plain"])
    refused = "octets behind the results are an error to it"
    ours = kinds.REFUSED if speaks_nfs3(bench) else kinds.COMPLETED
    expect_or(bench, outcome, "RFC8166-3.3.2-1", kinds.COMPLETED, {kinds.REFUSED: refused}, ours)
    what = "the connection survives it"
    expect.true(not outcome.lost_one(), "RFC8166-3.3.2-1", what, outcome=outcome)
