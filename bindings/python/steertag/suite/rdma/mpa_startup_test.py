"""Whether a connection has a CRC, by its startup frames."""

import pytest

from steertag import trace
from .mpa_startup import has_crc

REQUEST, REPLY = b"MPA ID Req Frame", b"MPA ID Rep Frame"


def capture_of(request, reply):
    ends = {"client": ("192.0.2.1", 50000), "server": ("192.0.2.2", 20049)}
    made = trace.StreamCapture(**ends)
    made.on_bytes(1, trace.Role.client, request)
    made.on_bytes(2, trace.Role.server, reply)
    return made


def frame(key, flags):
    return key + bytes((flags, 2, 0, 0))


@pytest.mark.parametrize(
    "request_, reply, wanted", [(0, 0, False), (0x40, 0, True), (0, 0x50, True)]
)
def test_one_frame_that_asks_is_enough(request_, reply, wanted):
    assert has_crc(capture_of(frame(REQUEST, request_), frame(REPLY, reply))) is wanted


def test_a_capture_without_startup_shows_nothing():
    assert has_crc(capture_of(frame(REQUEST, 0), b"")) is None
    assert has_crc(capture_of(b"", frame(REPLY, 0))) is None
    assert has_crc(trace.DatagramCapture()) is None
