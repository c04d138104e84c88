"""Programs of the host, packed with their libraries for the guest: a second part of its initramfs."""

from __future__ import annotations

import pathlib
import re
import shlex
import shutil

from lab import host
from lab.failure import LabFailure
from lab.images.image import extend

LIST_LIMIT_S = 60
GUEST_DIRECTORY = "lab/program"

# What ldd prints for a library, and for the loader: `NAME => PATH (0x...)` or `PATH (0x...)`.
LIBRARY_LINE = re.compile(r"^\s+(?:\S+ => )?(/\S+) \(0x")
LOADER_NAME = re.compile(r"^ld-linux.*\.so\.\d+$")
NO_LIBRARIES = "not a dynamic executable"


def append(
    program: pathlib.Path,
    arguments: list[str],
    environment: dict[str, str],
    root: pathlib.Path,
    scratch: pathlib.Path,
    beside: tuple[pathlib.Path, ...] = (),
) -> pathlib.Path:
    """Returns a root file system with the program added. Programs keep the libraries that they were
    linked with, whatever the guest has. The guest runs `program`, which may run those `beside` it by
    guest_path(). `scratch` is emptied."""
    shutil.rmtree(scratch, ignore_errors=True)
    folder = scratch / "root" / GUEST_DIRECTORY
    (folder / "lib").mkdir(parents=True)
    (folder / "bin").mkdir()
    variables = [f"{name}={shlex.quote(value)}" for name, value in environment.items()]
    line = " ".join([*variables, "exec", *_copy(program, folder), *map(shlex.quote, arguments)])
    _write_script(folder / "run", line)
    for other in beside:
        line = " ".join(["exec", *_copy(other, folder), '"$@"'])
        _write_script(folder / "bin" / other.name, line)
    return extend(root, scratch / "root", scratch / "root.cpio")


def guest_path(program: pathlib.Path) -> str:
    """Where the guest has a program that was packed beside the one that it runs."""
    return f"/{GUEST_DIRECTORY}/bin/{program.name}"


def _copy(program: pathlib.Path, folder: pathlib.Path) -> list[str]:
    """Copies a program and its libraries; returns the words of the guest that start it."""
    shutil.copy(program, folder / program.name)
    loader = _copy_libraries(program, folder / "lib")
    place = f"/{GUEST_DIRECTORY}"
    return [f"{place}/lib/{loader}", "--library-path", f"{place}/lib", f"{place}/{program.name}"]


def _write_script(path: pathlib.Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def libraries(program: pathlib.Path) -> list[str]:
    """The files that a program is linked with, its loader among them; none if it is no dynamic one."""
    try:
        listing = host.run(["ldd", str(program)], LIST_LIMIT_S)
    except LabFailure as failure:
        if NO_LIBRARIES in str(failure):
            return []
        raise
    if "not found" in listing:
        raise LabFailure(f"{program.name} lacks libraries on this machine:\n{listing}")
    return [match[1] for match in map(LIBRARY_LINE.match, listing.splitlines()) if match]


def _copy_libraries(program: pathlib.Path, folder: pathlib.Path) -> str:
    """Copies what the program is linked with; returns the loader's file name."""
    files = libraries(program)
    for file in files:
        shutil.copy(file, folder)
    loaders = [name for name in (pathlib.Path(f).name for f in files) if LOADER_NAME.match(name)]
    if len(loaders) != 1:
        raise LabFailure(f"{program.name} is not a dynamically linked program")
    return loaders[0]
