"""Sends that are longer than the client's receives: the connection ends, nothing is cut silently, and the
call is made again on another connection."""

import pytest

from places import PLACES
from steertag.suite import case, client_kinds as kinds, expect
from steertag.suite.script import Script


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

    outcome = bench.use(reply=bend, when=PLACES[place])
    refused = "it takes the lost connection for the end"
    expect(outcome, "RFC8166-3.3.2-1", must=[kinds.COMPLETED], latitude={kinds.REFUSED: refused})


@pytest.mark.parametrize("place", ["plain", "read"])
@case("client.oversize.always.{place}", requirements=["RFC8166-4.5.5-1"], hostile=True)
def test_always(bench, place):
    """Every such reply is too long: the client is told by lost connections, and gives up."""

    def bend(reply):
        reply.send(oversize(reply, 1))

    outcome = bench.use(reply=bend, when=PLACES[place], times=None)
    inline = "it did without such calls"
    expect(outcome, "RFC8166-4.5.5-1", must=[kinds.REFUSED], latitude={kinds.COMPLETED: inline})


@case("client.oversize.exactly", requirements=["RFC8166-3.3.2-1"], hostile=True)
def test_exact(bench):
    """A message of exactly the threshold arrives; what stands behind the RPC message in it means
    nothing to the transport, and the reply may fail to decode."""

    class Exact(Script):
        def __init__(self):
            self.waits = True

        def on_departure(self, reply):
            if not self.waits or not PLACES["plain"](reply):
                return False
            self.waits = False
            # A reply to nobody, as long as a receive.
            draft = oversize(reply, 0)
            draft.xid ^= 0x5A5A0000
            reply.send(draft)
            reply.conform()
            return True

    outcome = bench.use(Exact())
    expect(outcome, "RFC8166-3.3.2-1", must=[kinds.COMPLETED])
    lost = any(conn.reason and conn.reason.terminate for conn in outcome.connections)
    expect.true(not lost, "RFC8166-3.3.2-1", "the connection survives it", outcome=outcome)
