"""Disks as a loss of power leaves them, from a log that was made by hand."""

import random

import pytest

from lab.power import cut, written_log
from lab.power.cut import ALL, NONE, SOME, Cut
from lab.power.write_log import DISCARD, FLUSH, FUA, WriteLog
from lab.power.written_log import SECTOR

DISK_SECTORS = 32
BLOCK_SECTORS = cut.BLOCK_BYTES // SECTOR


def sector(letter):
    return letter.encode() * SECTOR


# By entry: A; a flush; B; a flush that writes C itself; D at once; E over A; a discard of B.
LOG = [
    (0, sector("A"), 0),
    (0, b"", FLUSH),
    (1, sector("B"), 0),
    (2, sector("C"), FLUSH),
    (3, sector("D"), FUA),
    (0, sector("E"), 0),
    (1, sector(" "), DISCARD),
]


def disk(image):
    """The first letters of the first four sectors; a dot is what was never written."""
    octets = image.read_bytes()
    return "".join(chr(octets[i * SECTOR] or ord(".")) for i in range(4))


def disks(tmp_path, entries, cuts, seed=1):
    log = WriteLog(written_log.write(tmp_path / "log", entries))
    base = tmp_path / "base"
    base.write_bytes(bytes(DISK_SECTORS * SECTOR))
    rng = random.Random(seed)
    found = [
        (image.read_bytes(), disk(image))
        for _, image in cut.images(log, base, cuts, tmp_path / "scratch", rng)
    ]
    log.close()
    return found


@pytest.mark.parametrize(
    "fate, expected",
    [
        (ALL, ["....", "A...", "A...", "AB..", "ABC.", "ABCD", "EBCD", "E.CD"]),
        # B is forced by the flush that writes C, C by nothing, and D goes past the cache.
        (NONE, ["....", "....", "A...", "A...", "AB..", "AB.D", "AB.D", "AB.D"]),
    ],
)
def test_a_cut_behind_each_entry(tmp_path, fate, expected):
    cuts = [Cut(entries, fate) for entries in range(len(LOG) + 1)]
    assert [told for _, told in disks(tmp_path, LOG, cuts)] == expected


def test_some_of_what_was_not_forced_is_there_in_whole_blocks(tmp_path):
    entries = [(0, sector("A"), 0), (0, b"", FLUSH), (0, b"B" * 3 * cut.BLOCK_BYTES, 0)]
    seen = set()
    for seed in range(32):
        ((octets, _),) = disks(tmp_path, entries, [Cut(3, SOME)], seed)
        blocks = [octets[i * cut.BLOCK_BYTES : (i + 1) * cut.BLOCK_BYTES] for i in range(3)]
        written = tuple(block == b"B" * cut.BLOCK_BYTES for block in blocks)
        assert all(done or b"B" not in block for done, block in zip(written, blocks))
        assert written[0] or octets.startswith(sector("A")), "what was forced is there"
        seen.add(written)
    assert len(seen) == 8, "each block comes and goes by itself"


def test_cuts_are_planned_where_something_was_acknowledged(tmp_path):
    log = WriteLog(written_log.write(tmp_path / "log", [(i, sector("x"), 0) for i in range(20)]))
    acknowledged = [log.entries[i].end for i in (4, 4, 9, 14)]
    acknowledged.append(log.entries[17].end - 1)  # the entry was being written
    planned = cut.plan(log, acknowledged, 12, random.Random(1))
    assert planned == sorted(planned) and len(planned) == 12
    assert {5, 10, 15, 18} <= {one.entries for one in planned}
    assert {one.fate for one in planned} == {ALL, NONE, SOME}
    assert all(5 <= one.entries <= 20 for one in planned)
    log.close()


def test_a_log_in_which_nothing_was_acknowledged(tmp_path):
    log = WriteLog(written_log.write(tmp_path / "log", [(0, sector("x"), 0)]))
    assert len(cut.plan(log, [], 3, random.Random(1))) == 3
    log.close()
