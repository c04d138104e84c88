"""The end of a connection after its case: what the target still does to offered memory until then."""

import types

import pytest

from steertag import fabric
from steertag.suite.exchange.deadline import Deadlines
from steertag.suite.rdma import oracle
from steertag.suite.rdma.connection import Connection

OFFERED, LENGTH = 16, 64


class EndingConnection:
    """A fabric connection whose peer uses the memory for the last time while it ends."""

    private_data = b""
    closed = None

    def __init__(self, domain, last_use):
        self.domain = domain
        self.capabilities = None  # memory with a base of its own needs none
        self.open = True
        self._last_use = last_use

    def disconnect(self):
        self._last_use()

    def wait(self, timeout_ms):
        self.open = False
        return types.SimpleNamespace(kind="closed")


@pytest.fixture
def ended():
    """A function: ends a connection with an offer in the middle of a `last_use(offer)`; gives both."""
    provider = fabric.Provider("iwarp", seed=1)

    def end(last_use):
        raw = EndingConnection(provider.make_domain(), lambda: last_use(offer))
        settings = types.SimpleNamespace(credential=None)
        conn = Connection(raw, None, settings, Deadlines(), seed=1)
        offer = conn.offer(LENGTH, write=True, base=0x10000)
        offer.segment(OFFERED)
        conn.settle()
        return conn, offer

    return end


def test_memory_is_open_until_the_connection_has_ended(ended):
    states = []
    _, offer = ended(lambda offer: states.append(offer.open))
    assert states == [True], "a Write that the network held back was refused"
    assert not offer.open


def test_the_last_write_is_checked(ended):
    conn, _ = ended(lambda offer: offer.region.write(OFFERED, bytes([offer.filled[OFFERED] ^ 1])))
    assert [requirement for requirement, _ in conn.violations] == [oracle.OUTSIDE]


def test_a_last_write_to_what_was_offered_is_in_order(ended):
    conn, _ = ended(lambda offer: offer.region.write(0, bytes(OFFERED)))
    assert conn.violations == []
