"""For tests: a log of writes, made by hand."""

from __future__ import annotations

import pathlib

from lab.power.write_log import DISCARD, ENTRY, MAGIC, SUPER, VERSION

SECTOR = 512
Written = tuple[int, bytes, int]  # the first sector, the data, the flags


def write(path: pathlib.Path, entries: list[Written], count: int | None = None) -> pathlib.Path:
    """A log of these entries; its first sector claims `count` of them. Data of a discard only has a length."""
    log = SUPER.pack(MAGIC, VERSION, len(entries) if count is None else count, SECTOR)
    log = log.ljust(SECTOR, b"\0")
    for first, data, flags in entries:
        log += ENTRY.pack(first, len(data) // SECTOR, flags, 0).ljust(SECTOR, b"\0")
        log += b"" if flags & DISCARD else data
    path.write_bytes(log)
    return path
