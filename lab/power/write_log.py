"""A log of the writes to a disk, in the format of Linux's dm-log-writes, which qemu's blklogwrites writes too."""

from __future__ import annotations

import dataclasses
import pathlib
import struct
from typing import BinaryIO

from lab.failure import LabFailure

MAGIC = 0x6A736677736872
VERSION = 1
SUPER = struct.Struct("<QQQI")  # magic, version, entries, octets of a sector
ENTRY = struct.Struct("<QQQQ")  # first sector, sectors, flags, octets of a mark's text
FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8
SECTOR_BYTES = (512, 1024, 2048, 4096)
MOST_ENTRIES = 1_000_000


@dataclasses.dataclass(frozen=True)
class Entry:
    """One request. Its data is in the log at `data`; of a discard there is none. The log before `end` holds
    this entry and all that were before it."""

    offset: int  # on the disk, in octets
    length: int
    flags: int
    data: int
    end: int

    @property
    def writes(self) -> bool:
        return self.length > 0 and not self.flags & (DISCARD | MARK)


class WriteLog:
    """The entries of a log, in the order in which the disk got them."""

    def __init__(self, path: pathlib.Path) -> None:
        self._file = open(path, "rb")
        self.entries = []
        try:
            self._read_entries(path)
        except LabFailure:
            self.close()
            raise

    def data(self, entry: Entry) -> bytes:
        """What a write wrote."""
        self._file.seek(entry.data)
        return self._file.read(entry.length)

    def close(self) -> None:
        self._file.close()

    def _read_entries(self, path: pathlib.Path) -> None:
        magic, version, count, sector = _record(self._file, 0, SUPER, path)
        if (magic, version) != (MAGIC, VERSION) or sector not in SECTOR_BYTES:
            raise LabFailure(f"{path} is no log of writes of version {VERSION}")
        if count > MOST_ENTRIES:
            raise LabFailure(f"{path} has {count} entries, more than {MOST_ENTRIES}")
        length = path.stat().st_size
        at = sector
        for _ in range(count):
            first, sectors, flags, _ = _record(self._file, at, ENTRY, path)
            data = at + sector
            # A mark's text is in the sector of its header.
            held = 0 if flags & (DISCARD | MARK) else sectors * sector
            at = data + held
            if at > length:
                raise LabFailure(f"{path} ends inside entry {len(self.entries)}")
            self.entries.append(Entry(first * sector, sectors * sector, flags, data, at))


def _record(file: BinaryIO, at: int, layout: struct.Struct, path: pathlib.Path) -> tuple:
    file.seek(at)
    octets = file.read(layout.size)
    if len(octets) < layout.size:
        raise LabFailure(f"{path} is cut off at octet {at}")
    return layout.unpack(octets)
