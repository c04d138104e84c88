"""A deadline is one of all octets that are asked for: a target may send each in time."""

from steertag.suite.exchange import deadline
from steertag.suite.tcp.stream import Stream


class Dripping(Stream):
    """Gives an octet a second, on a clock of its own."""

    def __init__(self, clock):  # pylint: disable=super-init-not-called
        self._early, self.limit_ms, self._clock = b"", 2500, clock
        self.limits_ms = []

    def take(self, limit_ms):
        self.limits_ms.append(limit_ms)
        if limit_ms < 1000:
            return None
        self._clock[0] += 1
        return b"x"


def test_octets_one_by_one_have_one_deadline(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(deadline.time, "monotonic", lambda: clock[0])
    stream = Dripping(clock)
    assert stream.receive(65535) is None
    assert stream.limits_ms == [2500, 1500, 500]
