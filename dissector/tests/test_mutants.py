"""On damaged captures the plugin neither crashes nor gives Wireshark a reason to complain."""

import random
import re

import pytest
import tshark
from frames import Capture

ALL = sorted(tshark.CAPTURES.glob("**/*.pcapng"))
SITUATIONS = [path for path in ALL if path.parent.name == "situations"]
OTHERS = [path for path in ALL if path not in SITUATIONS]
# The situations, and random others, the same in each run.
MOST_CAPTURES = 96
CAPTURES = SITUATIONS + sorted(
    random.Random(1).sample(OTHERS, min(len(OTHERS), MOST_CAPTURES - len(SITUATIONS)))
)
# This many captures are damaged and put into one file, since starting tshark takes the longest.
GROUP = 8
# Copies of each capture, with different damage and different hosts; some hundred in all.
MOST_MUTANTS = 12
# A limit for the time of large captures.
MOST_FRAMES = 400
# One damage in this many frames, and at least one.
FRAMES_A_DAMAGE = 5
ETHERNET_BYTES = 14
ETHERNET_IPV4 = b"\x08\x00"
# The link type of the suites' captures.
RAW_IP = 101
# Of the link and network layers below TCP, or below UDP and a transport header.
HEADER_BYTES = 54
COMPLAINTS = re.compile(
    r"(Malformed Packet|Dissector bug|Unreassembled)[^\n]*steertag", re.IGNORECASE
)


def frames_of(path):
    """The frames of a little-endian pcapng capture. IP packets without a link layer get one."""
    octets, frames, at, head = path.read_bytes(), [], 0, b""
    while at + 12 <= len(octets):
        kind, length = (int.from_bytes(octets[at + n : at + n + 4], "little") for n in (0, 4))
        if length < 12:
            break
        if kind == 1 and octets[at + 8] == RAW_IP:
            head = bytes(12) + ETHERNET_IPV4
        if kind == 6:
            captured = int.from_bytes(octets[at + 20 : at + 24], "little")
            frames.append(head + octets[at + 28 : at + 28 + captured])
        at += length
    return frames


def elsewhere(frame, number):
    """The frame between two other hosts: the second octet of both IPv4 addresses changes."""
    if frame[12:14] != ETHERNET_IPV4 or len(frame) < ETHERNET_BYTES + 20:
        return frame
    frame = bytearray(frame)
    for address in (26, 30):
        frame[address + 1] = number
    return bytes(frame)


def damage(frames, at, chance):
    """Changes, truncates, drops, duplicates or moves one frame."""
    frame = bytearray(frames[at])
    kind = chance.choice(("octets", "octets", "word", "cut", "lose", "double", "move", "longer"))
    if kind == "octets" and len(frame) > ETHERNET_BYTES:
        for _ in range(chance.randint(1, 4)):
            frame[chance.randrange(ETHERNET_BYTES, len(frame))] = chance.randrange(256)
    elif kind == "word" and len(frame) > HEADER_BYTES + 4:
        place = chance.randrange(HEADER_BYTES, len(frame) - 3)
        word = chance.choice((0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF))
        frame[place : place + 4] = word.to_bytes(4, "big")
    elif kind == "cut":
        del frame[chance.randrange(1, len(frame)) :]
    elif kind == "longer":
        frame += bytes(chance.randrange(64))
    frames[at] = bytes(frame)
    if kind == "lose":
        del frames[at]
    elif kind == "double":
        frames.insert(chance.randrange(len(frames) + 1), frames[at])
    elif kind == "move":
        frame = frames.pop(at)
        frames.insert(chance.randrange(len(frames) + 1), frame)


def mutants(paths, chance):
    """Frames of all mutants of some captures."""
    number = 0
    for path in paths:
        frames = frames_of(path)
        for _ in range(min(MOST_MUTANTS, max(1, MOST_FRAMES // max(1, len(frames))))):
            number += 1
            mutant = [elsewhere(frame, number) for frame in frames if frame]
            for _ in range(chance.randint(1, 1 + len(frames) // FRAMES_A_DAMAGE)):
                if mutant:
                    damage(mutant, chance.randrange(len(mutant)), chance)
            yield from mutant


@pytest.mark.parametrize("first", range(0, len(CAPTURES), GROUP))
def test_mutants(wireshark, home, first, passes):
    capture = Capture()
    capture.frames += mutants(CAPTURES[first : first + GROUP], random.Random(first))
    mutant = home / f"mutants-{first}-{passes}.pcapng"
    capture.write(mutant)
    output = wireshark.run(
        *("tshark", "-n", *(["-2"] if passes == 2 else []), "-r", mutant),
        *("-O", "steertag", "-o", "steertag.levels:all", "-z", "steertag,tree"),
    )
    assert output.status == 0, output.errors[-2000:]
    assert not COMPLAINTS.search(output.text + output.errors)
    # Proves that the plugin judged the frames.
    assert "Steertag: verdicts" in output.text
