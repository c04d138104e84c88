"""An image with ext4: made, mended as at a boot after a loss of power, and read. All of it without a mount."""

from __future__ import annotations

import os
import pathlib
import shutil
import stat
import subprocess

from lab import host
from lab.failure import LabFailure
from lab.power.rpc_stream import GID, UID
from lab.power.tree import Directory, File, Link, Tree

PROGRAMS = {name: "e2fsprogs" for name in ("mkfs.ext4", "e2fsck", "debugfs")}
IMAGE_BYTES = 64 << 20
JOURNAL_MB = 4
BLOCK_BYTES = 4096
LIMIT_S = 60
MOST_MENDED = 1  # e2fsck's status: the errors that were there are corrected
LOST_AND_FOUND = "lost+found"


def make(path: pathlib.Path) -> None:
    """A new file system whose root belongs to the caller."""
    with open(path, "wb") as file:
        file.truncate(IMAGE_BYTES)
    # What is initialized later would be writes of the kernel's own.
    extended = f"root_owner={UID}:{GID},lazy_itable_init=0,lazy_journal_init=0"
    options = ["-q", "-F", "-b", str(BLOCK_BYTES), "-J", f"size={JOURNAL_MB}", "-E", extended]
    host.run(["mkfs.ext4", *options, str(path)], LIMIT_S)


def mend(path: pathlib.Path) -> str:
    """Replays the journal and checks the file system; what is wrong that this cannot mend, or nothing."""
    environment = dict(os.environ, PATH=host.SEARCH_PATH, LC_ALL="C")
    done = subprocess.run(
        ["e2fsck", "-f", "-p", str(path)],
        env=environment,
        timeout=LIMIT_S,
        capture_output=True,
        text=True,
    )
    if done.returncode <= MOST_MENDED:
        return ""
    return f"the file system is damaged: {' '.join((done.stdout + done.stderr).split())}"


def read(path: pathlib.Path, scratch: pathlib.Path) -> dict[str, Tree]:
    """The tree below each directory of the root."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    host.run(["debugfs", "-R", f"rdump / {scratch}", str(path)], LIMIT_S)
    return {
        entry.name: _tree(entry)
        for entry in sorted(scratch.iterdir())
        if entry.is_dir() and entry.name != LOST_AND_FOUND
    }


def _tree(top: pathlib.Path) -> Tree:
    tree = Tree()
    for path in (top, *top.rglob("*")):
        name = "" if path == top else str(path.relative_to(top))
        status = path.lstat()
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISLNK(status.st_mode):
            tree.objects[name] = Link(os.readlink(path))
        elif stat.S_ISDIR(status.st_mode):
            tree.objects[name] = Directory(mode)
        elif stat.S_ISREG(status.st_mode):
            tree.objects[name] = File(mode, bytearray(path.read_bytes()))
        else:
            raise LabFailure(f"{name} on the disk is of a type that no caller makes")
    return tree
