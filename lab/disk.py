"""What the lab keeps on the disk, all of it in one directory: how much that is, and its removal."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
from collections.abc import Iterable

from lab import target as targets
from lab.failure import LabFailure
from lab.machines import session

BLOCK_BYTES = 512  # the unit of st_blocks
LOCK = "lock"


def size_bytes(path: pathlib.Path) -> int:
    """What a file or directory takes; a file with two names counts once, and no link is followed."""
    seen, total = set(), 0
    for file in (path, *path.rglob("*")):
        try:
            status = file.lstat()
        except FileNotFoundError:  # another ci/lab has just removed it
            continue
        if (status.st_dev, status.st_ino) not in seen:
            seen.add((status.st_dev, status.st_ino))
            total += status.st_blocks * BLOCK_BYTES
    return total


def clean(names: Iterable[str] = ()) -> int:
    """Removes what the lab has built, fetched and written for these targets, or for all; the octets that
    this frees. LabFailure, and nothing is removed, while a ci/lab uses one of them."""
    with contextlib.ExitStack() as stack:
        found = [targets.BUILD / name for name in names] or _entries(targets.BUILD)
        chosen = [path for path in found if os.path.lexists(path)]
        for path in chosen:
            if path.is_dir() and not path.is_symlink():
                stack.enter_context(session.held(path / LOCK, path.name))
        freed = sum(map(size_bytes, chosen))
        for path in chosen:
            _remove(path)
    return freed


def _entries(directory: pathlib.Path) -> list[pathlib.Path]:
    return sorted(directory.iterdir()) if directory.is_dir() else []


def _remove(path: pathlib.Path) -> None:
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    except OSError as error:
        raise LabFailure(f"{error.filename or path} cannot be removed: {error.strerror}")
