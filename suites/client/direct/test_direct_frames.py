"""Frames of direct access that are not what was granted: the client refuses them, and reads by RPC."""

import itertools

import pytest

from steertag.nfs import direct
from steertag.suite import case
from ..direct_server import (
    BELIEVES,
    DirectServer,
    expect_copied,
    need_references,
    OWED,
    use_direct,
)

MIXTURE = "ODAFS-24"
HEAD = direct.FRAME_HEAD_OCTETS
VALID_FRAMES = 5
GENERATION = 8  # octets of the generation in front of the check, and of that behind the data


def _other(octets):
    """Other data of the same length; no zeros, like the source."""
    return bytes((octet ^ 0x80) or 0x5A for octet in octets)


def _data(frame):
    return frame[HEAD:-GENERATION]


def _with_data(frame, data):
    return frame[:HEAD] + data + frame[-GENERATION:]


def _first_generation(frame, generation):
    """Valid under another generation, but for the one behind the data."""
    return (
        direct.make_frame(_other(_data(frame)), generation ^ 1)[:-GENERATION] + frame[-GENERATION:]
    )


def _last_generation(frame, generation):
    """Valid, but for the generation behind the data."""
    made = direct.make_frame(_other(_data(frame)), generation)
    return made[:-GENERATION] + (generation ^ 1).to_bytes(GENERATION, "big")


def _mixture(frame, _):
    """Another state of the block in its second half."""
    half = len(_data(frame)) // 2
    return _with_data(frame, _data(frame)[:half] + _other(_data(frame)[half:]))


BENDS = {
    "first-generation": _first_generation,
    "last-generation": _last_generation,
    "generations": lambda frame, generation: direct.make_frame(
        _other(_data(frame)), generation ^ 1
    ),
    "check": lambda frame, _: _with_data(frame, _other(_data(frame))),
    "check-zero": lambda frame, _: frame[:GENERATION] + bytes(8) + _other(frame[HEAD:]),
    "half": _mixture,
    "first-octet": lambda frame, _: _with_data(frame, b"\xa5" + _data(frame)[1:]),
    "last-octet": lambda frame, _: _with_data(frame, _data(frame)[:-1] + b"\xa5"),
    "revoked": lambda frame, _: bytes(len(frame)),
    "revoked-first": lambda frame, _: bytes(HEAD) + _other(frame[HEAD:]),
}


@case(
    "client.direct.frames",
    requirements=[BELIEVES, *OWED],
    unfailed={
        "client.direct.frames": "All is right with valid frames, for who checks nothing too."
    },
)
def test_frames(bench):
    """The server conforms: the client reads by references, and asks for no octet twice."""
    script = DirectServer()
    outcome = use_direct(bench, script)
    expect_copied(bench, script, outcome, BELIEVES)
    if not script.frame_reads:
        bench.not_testable("the client starts no RDMA Read")


@case("client.direct.bent-{name}", requirements=[BELIEVES, MIXTURE, *OWED], hostile=True)
@pytest.mark.parametrize("name", BENDS)
def test_bent(bench, name):
    """Each frame is bent after its grant: it has octets that are not the file's, or no data."""
    script = DirectServer(frame=BENDS[name])
    outcome = use_direct(bench, script)
    wrong = MIXTURE if name == "half" else BELIEVES
    expect_copied(bench, script, outcome, wrong)
    need_references(bench, script)


@case("client.direct.bent-later", requirements=[BELIEVES, *OWED], hostile=True)
def test_bent_later(bench):
    """The first frames are valid, and those behind them are revoked."""
    number = itertools.count()

    def frame(octets, _):
        return octets if next(number) < VALID_FRAMES else bytes(len(octets))

    script = DirectServer(frame=frame)
    outcome = use_direct(bench, script)
    expect_copied(bench, script, outcome, BELIEVES)
    need_references(bench, script)
