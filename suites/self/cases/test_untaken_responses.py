"""What ends RDMA Read Responses that were not taken: all octets, the end of the stream, or silence."""

import struct

import pytest

from suites.server.iwarp.fpdus import make_fpdu, READ_RESPONSE, TERMINATE, TERMINATE_QUEUE
from suites.server.iwarp.fpdus import UNTAGGED_FIELDS
from suites.server.iwarp.test_iwarp_direct import SINK_STAG, take_responses

LENGTH = 40
ENDED, SILENT = b"", None


class Stream:
    """Has these octets, and then ends or stays silent."""

    def __init__(self, octets, then):
        self._octets, self._then = octets, then

    def first_octets(self, length):
        if len(self._octets) < length and self._then is SILENT:
            return None
        found, self._octets = self._octets[:length], self._octets[length:]
        return found


def response(offset, octets):
    return make_fpdu(struct.pack(">BBIQ", 0xC1, 0x40 | READ_RESPONSE, SINK_STAG, offset) + octets)


def terminate():
    head = UNTAGGED_FIELDS.pack(0x41, 0x40 | TERMINATE, 0, TERMINATE_QUEUE, 1, 0)
    return make_fpdu(head + bytes(4))


FIRST, SECOND = response(0, bytes([1]) * LENGTH), response(LENGTH, bytes([2]) * LENGTH)


@pytest.mark.parametrize(
    "octets, then, ended",
    [
        (FIRST + SECOND, SILENT, True),
        (FIRST, ENDED, True),
        (FIRST + SECOND[:5], ENDED, True),
        (FIRST + terminate(), SILENT, True),
        (FIRST, SILENT, False),
        (FIRST + SECOND[:5], SILENT, False),
        (b"", SILENT, False),
    ],
    ids=["all", "ended", "ended-inside", "terminate", "silent", "silent-inside", "nothing"],
)
def test_silence_is_no_end(octets, then, ended):
    sinks = [bytearray(LENGTH), bytearray(LENGTH)]
    assert take_responses(Stream(octets, then), b"", sinks) is ended
    if octets.startswith(FIRST):
        assert sinks[0] == bytes([1]) * LENGTH
    assert sinks[1] == bytes([2 if octets.endswith(SECOND) else 0]) * LENGTH
