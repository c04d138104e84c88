"""The plugin's display when memory runs out in the middle of a capture."""

import os
import pathlib
import shutil
import subprocess

import pytest

import tshark

SOURCE = pathlib.Path(__file__).parent / "little_memory.cpp"
CAPTURE = tshark.CAPTURES / "linux-6.1-siw-v4.1.pcapng"
COMPILER_LIMIT_S = 60
# Vectors hold the capture's data: an allocation of one of these sizes occurs in the middle of this
# one.
MOST_BYTES = (64 << 10, 32 << 10, 16 << 10, 8 << 10, 4 << 10)


@pytest.fixture(scope="module")
def little_memory(home):
    """A library that lets allocations fail."""
    if "STEERTAG_PRELOAD" in os.environ:
        pytest.skip(
            "a sanitizer has an allocator of its own, and ends the program when memory runs out"
        )
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    assert compiler, "there is no C++ compiler"
    library = home / "little_memory.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"]
    subprocess.run(command, check=True, timeout=COMPILER_LIMIT_S)
    library.chmod(0o755)
    return library


def stopped(frames):
    return [frame.number for frame in frames if frame.all("stopped")]


@pytest.fixture(scope="module")
def limited(home, little_memory):
    """Wireshark's programs with a memory limit that stops the plugin in the middle, and that
    frame's number."""
    folder = home / "limited"
    folder.mkdir()
    folder.chmod(0o777)
    wireshark = tshark.Wireshark(folder)
    for most in MOST_BYTES:
        wireshark.preload(little_memory, STEERTAG_MOST_BYTES=most)
        if found := stopped(wireshark.frames(CAPTURE)):
            return wireshark, found[0]
    raise AssertionError("memory never ran out")


def test_where_judging_stops_is_shown_once(limited, wireshark, passes):
    programs, place = limited
    frames = programs.frames(CAPTURE, passes=passes)
    whole = wireshark.frames(CAPTURE, passes=passes)
    assert stopped(frames) == [place] and stopped(whole) == []
    shown = {frame.number for frame in frames if not frame.empty}
    assert max(shown) == place, "nothing is judged behind it"
    before = {frame.number for frame in whole if not frame.empty and frame.number < place}
    assert before and before <= shown, "what was found before is kept"
    said = programs.tshark(CAPTURE, "-q", "-z", "expert", passes=passes)
    assert "Not judged, from this frame on: memory ran out" in said


def test_the_statistics_tell_that_judging_stopped(limited, passes):
    programs, _ = limited
    assert "memory ran out" in programs.tshark(CAPTURE, "-q", "-z", "steertag,tree", passes=passes)
