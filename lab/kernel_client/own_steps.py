"""A user's own programs and steps, which run in a guest as those of the workload do."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import shutil

from lab.failure import LabFailure
from lab.images import program
from lab.kernel_client import workload
from lab.kernel_client.workload import Step
from lab.target import LAB

RECIPES = LAB / "recipes"  # steps for the programs of others
GUEST_DIRECTORY = "lab/own"
LIMIT_S = 600
LARGEST_LIMIT_S = 6 * 3600
# The guest has all of it in its memory, twice for a moment.
MOST_BYTES = 256 << 20
MOST_FILES = 20_000
# A step's name is a word of the agent's protocol and of the table.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")
SHELL = re.compile(rb"#! ?(/usr)?/bin/(env )?(sh|busybox sh)( -[a-z]+)?\n")
ELF = b"\x7fELF"
# In an ELF header behind its first 16 octets: the type, of a program or a library.
RUNS = (b"\x02\x00", b"\x03\x00")
# Libraries that belong to the guest's loader.
OF_LIBC = re.compile(
    r"ld-linux.*|lib(anl|c|dl|m|mvec|nss_\w+|pthread|resolv|rt|util)\.so\.\d+", re.ASCII
)


@dataclasses.dataclass(frozen=True)
class OwnSteps:
    """Scripts of sh, which are the steps, and a directory with what they need."""

    scripts: tuple[pathlib.Path, ...]
    programs: pathlib.Path | None
    limit_s: int

    def steps(self) -> tuple[Step, ...]:
        return tuple(Step(script.name, self.limit_s) for script in self.scripts)

    def copy(self, root: pathlib.Path) -> None:
        """Adds them to a root file system that has the workload."""
        folder = root / GUEST_DIRECTORY
        for name in ("libraries", "steps"):
            (folder / name).mkdir(parents=True)
        for script in self.scripts:
            shutil.copy(script, folder / "steps" / script.name)
            step = root / workload.GUEST_DIRECTORY / "steps" / script.name
            step.write_text(f"/{workload.GUEST_DIRECTORY}/own-step {script.name}\n")
        if self.programs is None:
            (folder / "programs").mkdir()
            return
        try:
            shutil.copytree(self.programs, folder / "programs", symlinks=True)
        except (OSError, shutil.Error) as error:
            raise LabFailure(f"{self.programs} cannot be copied: {error}")
        for library in _libraries(self.programs):
            shutil.copy(library, folder / "libraries")


def load(scripts: list[str], programs: str | None, limit_s: int) -> OwnSteps | None:
    """What the options name by absolute paths, None if they name nothing; LabFailure if it cannot be run, before a machine
    is booted in vain."""
    if not scripts:
        if programs is not None:
            raise LabFailure("--programs needs a --step that runs them")
        return None
    folder = None
    if programs is not None:
        folder = pathlib.Path(programs).resolve()
        _check_programs(folder)
    paths = [pathlib.Path(script).resolve() for script in scripts]
    for path in paths:
        _check_script(path)
    names = [path.name for path in paths]
    for name in names:
        if name in workload.WORDS:
            raise LabFailure(f"{name} is a word of the workload; a step needs another file name")
        if names.count(name) > 1:
            raise LabFailure(f"two steps are called {name}")
    return OwnSteps(tuple(paths), folder, limit_s)


def _check_script(path: pathlib.Path) -> None:
    if not path.is_file():
        raise LabFailure(f"{path} is no file, so it is no step")
    if not NAME.fullmatch(path.name):
        raise LabFailure(
            f"{path.name} is no name of a step: letters, digits, '.', '_' and '-', at most 32"
        )
    with open(path, "rb") as script:
        first = script.readline(256)
    if first.startswith(ELF) or (first.startswith(b"#!") and not SHELL.fullmatch(first)):
        raise LabFailure(f"{path} is no script of sh, the only shell that the guest has")


def _check_programs(folder: pathlib.Path) -> None:
    """Whether the guest has room for it and every link in it leads somewhere inside."""
    if not folder.is_dir():
        raise LabFailure(f"{folder} is no directory of programs")
    size = 0
    for number, path in enumerate(folder.rglob("*"), 1):
        if path.is_symlink() and not path.resolve().is_relative_to(folder):
            raise LabFailure(f"{path} leads out of {folder}, and the guest has nothing else")
        size += path.lstat().st_size
        if size > MOST_BYTES or number > MOST_FILES:
            raise LabFailure(
                f"{folder} is too large for the guest's memory: more than {MOST_BYTES >> 20} MiB "
                f"or {MOST_FILES} files"
            )


def _libraries(folder: pathlib.Path) -> set[str]:
    """What the programs in a directory are linked with, but for the C library: the guest has one."""
    found = set()
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and _runs(path):
            found.update(program.libraries(path))
    return {file for file in found if not OF_LIBC.fullmatch(pathlib.Path(file).name)}


def _runs(path: pathlib.Path) -> bool:
    with open(path, "rb") as file:
        head = file.read(18)
    return head.startswith(ELF) and head[16:18] in RUNS
