"""The workload of the machines that are clients: its steps, and its programs packed for the guest."""

from __future__ import annotations

import dataclasses
import pathlib
import shutil
from collections.abc import Callable

from lab import host
from lab.failure import LabFailure
from lab.images.image import extend
from lab.kernel_client.server import DIRECTORY, STORAGES
from lab.target import LAB

SOURCES = LAB / "workload"
COMPILE_LIMIT_S = 120
GUEST_DIRECTORY = "lab/workload"

# `local` mounts nothing of ours: it is the test of the workload itself.
LOCAL = "local"
WITHOUT_PNFS = ("v3", "v4.0", "v4.1")
# Version 4.1 with data servers.
PNFS = "v4.1-pnfs"
VERSIONS = (*WITHOUT_PNFS, PNFS)
WITH_STATE = ("v4.0", "v4.1", PNFS)


@dataclasses.dataclass(frozen=True)
class Step:
    """One step, a file of workload/steps/. `limit_s` is about five times what an emulated machine on
    two shared cores needs."""

    name: str
    limit_s: int
    versions: tuple[str, ...] = VERSIONS
    storages: tuple[str, ...] = STORAGES
    local: bool = True


STEPS = (
    Step("mount", 60),
    Step("mount-b", 60),
    Step("names", 60),
    Step("build", 180),
    Step("tar", 180),
    Step("fsx", 600),
    # A tmpfs of Linux 6.1 knows no O_DIRECT.
    Step("fsx-direct", 600, local=False),
    Step("append", 120),
    Step("locks", 180),
    # Its files are empty: layouts change nothing.
    Step("many", 1800, versions=WITHOUT_PNFS),
    # More than the memory of a server holds.
    Step("big", 1200, storages=(DIRECTORY,)),
    # Only with version 4.1 the call-back goes over the RDMA connection itself.
    Step("delegation", 120, versions=("v4.1", PNFS), local=False),
    # What was in memory does not come back.
    Step("restart", 600, storages=(DIRECTORY,), local=False),
    Step("restart-lock", 600, versions=WITH_STATE, storages=(DIRECTORY,), local=False),
    Step("layouts", 120, versions=(PNFS,), local=False),
    Step("unmount", 60),
)
NAMES = tuple(step.name for step in STEPS)
WORDS = frozenset({*VERSIONS, LOCAL, *STORAGES, *NAMES})
# Without these the other steps have nothing to work on.
ALWAYS = ("mount", "mount-b", "unmount")


@dataclasses.dataclass(frozen=True)
class Selection:
    """What of the workload is run."""

    storages: tuple[str, ...]
    versions: tuple[str, ...]
    steps: tuple[Step, ...]

    def runs(self) -> list[tuple[str, str]]:
        """Storage and version of each run; `local` has no storage."""
        runs = [
            (storage, version)
            for storage in self.storages
            for version in self.versions
            if version != LOCAL
        ]
        return runs + [("", LOCAL)] * (LOCAL in self.versions)

    def applies(self, step: Step, storage: str, version: str) -> bool:
        if version == LOCAL:
            return step.local
        return version in step.versions and storage in step.storages


def select(words: list[str], own: tuple[Step, ...] = ()) -> Selection:
    """Words name versions, storages and steps; of what no word names, everything is run. With a user's
    `own` steps those that words name run before them, and no others."""
    for word in words:
        if word not in WORDS:
            raise LabFailure(f"the workload has no `{word}`; it has {', '.join(sorted(WORDS))}")
    named = [name for name in NAMES if name in words]
    if not named and not own:
        named = NAMES
    *steps, unmount = [step for step in STEPS if step.name in (*named, *ALWAYS)]
    return Selection(
        storages=tuple(name for name in STORAGES if name in words) or STORAGES,
        versions=tuple(name for name in (*VERSIONS, LOCAL) if name in words) or VERSIONS,
        steps=(*steps, *own, unmount),
    )


def pack(
    root: pathlib.Path, scratch: pathlib.Path, add: Callable[[pathlib.Path], None] | None = None
) -> pathlib.Path:
    """Returns a root file system with the workload added, and what `add` puts beside it; `scratch` is
    emptied."""
    shutil.rmtree(scratch, ignore_errors=True)
    folder = scratch / "root" / GUEST_DIRECTORY
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("*.h", "*.c"))
    shutil.copytree(SOURCES / "project", folder / "project", dirs_exist_ok=True)
    (folder / "bin").mkdir()
    for source in sorted(SOURCES.glob("*.c")):
        compile_program(source, folder / "bin" / source.stem)
    if add is not None:
        add(scratch / "root")
    return extend(root, scratch / "root", scratch / "root.cpio")


def compile_program(source: pathlib.Path, program: pathlib.Path) -> None:
    """Compiles one program of the workload; it needs no library of the guest."""
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-static", "-s"]
    host.run(["gcc-12", *flags, "-o", str(program), source.name], COMPILE_LIMIT_S, cwd=SOURCES)
