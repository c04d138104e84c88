"""References of direct access with absurd fields, and more of them than were asked for."""

import itertools

import pytest

from steertag import wire
from steertag.nfs import direct
from steertag.suite import case, client_kinds as kinds, expect
from ..direct_server import (
    BLOCK,
    DirectServer,
    encoded,
    expect_copied,
    need_references,
    OWED,
    REFERENCE_OCTETS,
    use_direct,
)

EVICTS = "ODAFS-21"
LARGEST = (1 << 32) - 1
LARGEST_OFFSET = (1 << 64) - 1
FAR = 1 << 40  # octets, behind the end of the file


def _bent(**fields):
    """Replaces fields of each reference: by values, or by functions of the value."""

    def bend(reference):
        for name, value in fields.items():
            old = getattr(reference, name)
            setattr(reference, name, value(old) if callable(value) else value)
        return reference

    return bend


BENDS = {
    "length-zero": _bent(length=0),
    "length-less": _bent(length=lambda length: length - 8),
    "length-more": _bent(length=lambda length: length + 1),
    "length-wraps": _bent(length=LARGEST - 23),  # with the octets of a frame that are no data
    "length-largest": _bent(length=LARGEST),
    "offset-between": _bent(offset=lambda offset: offset + 1),
    "offset-largest": _bent(offset=LARGEST_OFFSET),
    "offset-far": _bent(offset=lambda offset: offset + FAR),
    "base-zero": _bent(base=0),
    "base-wraps": _bent(base=LARGEST_OFFSET - 7),
    "base-next": _bent(base=lambda base: (base + 1) & LARGEST_OFFSET),
    "stag-zero": _bent(stag=0),
    "stag-largest": _bent(stag=LARGEST),
    "stag-next": _bent(stag=lambda stag: stag ^ 1),
    "generation-zero": _bent(generation=0),
    "generation-next": _bent(generation=lambda generation: generation ^ 1),
}


# Of these none is ever used: for a block that is not read, or of a length that no memory has.
UNUSED = ("length-wraps", "length-largest", "offset-largest", "offset-far")


@case(
    "client.direct.reference-{name}",
    requirements=OWED,
    hostile=True,
    unfailed={f"client.direct.reference-{name}": "It is not used." for name in UNUSED},
)
@pytest.mark.parametrize("name", BENDS)
def test_bent(bench, name):
    """Each reference is bent. What it leads to is not what the client believes, or ends the connection."""
    script = DirectServer(references=lambda found, _: [BENDS[name](each) for each in found])
    outcome = use_direct(bench, script)
    expect_copied(bench, script, outcome)
    need_references(bench, script)


def _numbered(found, number):
    """Claims so many, and has those that were granted."""
    return number.to_bytes(4, "big") + encoded(found)[4:]


LISTS = {
    "none": lambda found: [],
    "twice": lambda found: found + found[: len(found) // 2],
    "reversed": lambda found: found[::-1],
    "one-less": lambda found: _numbered(found, max(0, len(found) - 1)),
    "one-more": lambda found: _numbered(found, len(found) + 1),
    "above-limit": lambda found: _numbered(found, direct.MOST_REFERENCES + 1),
    "number-largest": lambda found: _numbered(found, LARGEST),
    "cut": lambda found: encoded(found)[:-4],
}


# Of these each reference is right.
RIGHT = ("none", "twice", "reversed")


@case(
    "client.direct.list-{name}",
    requirements=OWED,
    hostile=True,
    unfailed={f"client.direct.list-{name}": "Each reference is right." for name in RIGHT},
)
@pytest.mark.parametrize("name", LISTS)
def test_list(bench, name):
    """The list of references is empty, repeats some, or has another length than it says."""
    script = DirectServer(references=lambda found, _: LISTS[name](found))
    outcome = use_direct(bench, script)
    expect_copied(bench, script, outcome)
    need_references(bench, script)


@case("client.direct.list-without-end", requirements=[*OWED, EVICTS], hostile=True)
def test_without_end(bench):
    """Each reply has as many references as fit, to blocks that were not asked for. No frame is valid, so that there
    are many replies: thousands of references. A client that forgets some completes its copy."""
    number = itertools.count(1)

    def more(found, reply):
        room = reply.raw.thresholds.to_client_bytes - len(reply.message)
        for _ in range(room // REFERENCE_OCTETS if found and _is_inline(reply) else 0):
            far = direct.Reference.decode(found[0].encode())
            far.offset = FAR + BLOCK * next(number)
            found.append(far)
        return found

    script = DirectServer(references=more, frame=lambda frame, _: bytes(len(frame)))
    outcome = use_direct(bench, script)
    expect(outcome, EVICTS, must=[kinds.COMPLETED])
    expect_copied(bench, script, outcome)
    need_references(bench, script)


def _is_inline(reply):
    return reply.header.proc == wire.Procedure.MSG
