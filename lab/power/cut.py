"""Cuts of a write log: the disk as a loss of power leaves it."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import random
import shutil
from collections.abc import Iterator

from lab.power.write_log import DISCARD, FLUSH, FUA, Entry, WriteLog

# What became of the writes that no flush has forced: all are there, none is, or some are.
ALL, NONE, SOME = "all", "none", "some"
FATES = (NONE, SOME, ALL)
BLOCK_BYTES = 4096  # a disk writes a physical sector as a whole


@dataclasses.dataclass(frozen=True, order=True)
class Cut:
    """The power goes when the disk has got the first `entries` of the log; `fate` is that of the writes
    that were not forced."""

    entries: int
    fate: str


def plan(log: WriteLog, acknowledged: list[int], count: int, rng: random.Random) -> list[Cut]:
    """`count` cuts in the order of the log, most of them just when something was acknowledged: those are the
    tightest. `acknowledged` are lengths of the log, as Entry.end."""
    ends = [entry.end for entry in log.entries]
    tight = sorted({_entries_within(ends, length) for length in acknowledged})
    chosen = rng.sample(tight, min(len(tight), count * 3 // 4))
    first = tight[0] if tight else 0
    chosen += [rng.randint(first, len(ends)) for _ in range(count - len(chosen))]
    return sorted(Cut(entries, FATES[i % len(FATES)]) for i, entries in enumerate(chosen))


def images(
    log: WriteLog, base: pathlib.Path, cuts: list[Cut], scratch: pathlib.Path, rng: random.Random
) -> Iterator[tuple[Cut, pathlib.Path]]:
    """Each cut with the image of its disk, which is `base` before the first entry. The next cut takes the
    place of the image. The cuts have to be in order."""
    scratch.mkdir(parents=True, exist_ok=True)
    forced, image = scratch / "forced", scratch / "image"
    shutil.copyfile(base, forced)
    done = 0
    for cut in cuts:
        end = _forced(log.entries, cut.entries)
        with open(forced, "r+b") as disk:
            for entry in log.entries[done:end]:
                _apply(disk, log, entry)
        done = max(done, end)
        shutil.copyfile(forced, image)
        with open(image, "r+b") as disk:
            for entry in log.entries[done : cut.entries]:
                _apply_unforced(disk, log, entry, cut.fate, rng)
        yield cut, image


def _entries_within(ends: list[int], length: int) -> int:
    """How many entries a log of this length had, those counted that were being written."""
    return next((number for number, end in enumerate(ends, 1) if end >= length), len(ends))


def _forced(entries: list[Entry], count: int) -> int:
    """How many of the first `count` entries the last flush among them forced. What a flush writes itself it
    does not force."""
    for i in range(count, 0, -1):
        if entries[i - 1].flags & FLUSH:
            return i - 1 if entries[i - 1].writes else i
    return 0


def _apply(disk, log: WriteLog, entry: Entry) -> None:
    if entry.writes:
        disk.seek(entry.offset)
        disk.write(log.data(entry))
    elif entry.flags & DISCARD:
        disk.seek(entry.offset)
        disk.write(bytes(entry.length))


def _apply_unforced(disk, log: WriteLog, entry: Entry, fate: str, rng: random.Random) -> None:
    if fate == ALL or entry.flags & FUA:
        _apply(disk, log, entry)
    elif fate == SOME and entry.writes:
        data = log.data(entry)
        for at in range(0, len(data), BLOCK_BYTES):
            if rng.getrandbits(1):
                disk.seek(entry.offset + at, os.SEEK_SET)
                disk.write(data[at : at + BLOCK_BYTES])
