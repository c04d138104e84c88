"""Frames of direct access that are not what was granted: the client refuses them, and reads by RPC."""

import pytest

from steertag.nfs import direct
from steertag.suite import case, expect
from .direct_server import (
    BELIEVES,
    DELIVERS_NOTHING,
    DirectServer,
    expect_copied,
    OWED,
    use_direct,
)

MIXTURE = "ODAFS-24"
HEAD = direct.FRAME_HEAD_OCTETS
LAST = 8  # octets of the generation behind the data


def _other(octets):
    """Other data of the same length, without zeros like the source."""
    return bytes(octet ^ 0x80 or 0x80 for octet in octets)


def _data(frame):
    return frame[HEAD:-LAST]


def _first_generation(frame, generation):
    """Valid under another generation, but for the last one."""
    return direct.make_frame(_other(_data(frame)), generation ^ 1)[:-LAST] + frame[-LAST:]


def _last_generation(frame, generation):
    return direct.make_frame(_other(_data(frame)), generation)[:-LAST] + frame[:LAST]


BENDS = {
    "check": lambda frame, _: frame[:HEAD] + _other(_data(frame)) + frame[-LAST:],
}


@case("client.direct.bent-{name}", requirements=[BELIEVES, MIXTURE, *OWED], hostile=True)
@pytest.mark.parametrize("name", BENDS)
def test_bent(bench, name):
    """Each frame is bent after its grant, and has octets of no file."""
    script = DirectServer(frame=BENDS[name])
    outcome = use_direct(bench, script)
    expect_copied(bench, script, outcome, BELIEVES)
    if not script.frame_reads:
        bench.not_testable("the client starts no RDMA Read")
