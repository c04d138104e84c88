"""A program of the host, packed with its libraries for the guest: a second part of its initramfs."""

from __future__ import annotations

import pathlib
import re
import shlex
import shutil

import host
from failure import LabFailure
from image import extend

LIST_LIMIT_S = 60
GUEST_DIRECTORY = "lab/program"

# What ldd prints for a library, and for the loader: `NAME => PATH (0x...)` or `PATH (0x...)`.
LIBRARY_LINE = re.compile(r"^\s+(?:\S+ => )?(/\S+) \(0x")
LOADER_NAME = re.compile(r"^ld-linux.*\.so\.\d+$")


def append(
    program: pathlib.Path,
    arguments: list[str],
    environment: dict[str, str],
    root: pathlib.Path,
    scratch: pathlib.Path,
) -> pathlib.Path:
    """Returns a root file system with the program added. It keeps the libraries that it was linked
    with, whatever the guest has; `scratch` is emptied."""
    shutil.rmtree(scratch, ignore_errors=True)
    folder = scratch / "root" / GUEST_DIRECTORY
    (folder / "lib").mkdir(parents=True)
    shutil.copy(program, folder / program.name)
    loader = _copy_libraries(program, folder / "lib")
    place = f"/{GUEST_DIRECTORY}"
    variables = [f"{name}={shlex.quote(value)}" for name, value in environment.items()]
    command = [f"{place}/lib/{loader}", "--library-path", f"{place}/lib", f"{place}/{program.name}"]
    run = folder / "run"
    line = " ".join([*variables, "exec", *command, *map(shlex.quote, arguments)])
    run.write_text(f"#!/bin/sh\n{line}\n")
    run.chmod(0o755)
    return extend(root, scratch / "root", scratch / "root.cpio")


def _copy_libraries(program: pathlib.Path, folder: pathlib.Path) -> str:
    """Copies what the program is linked with; returns the loader's file name."""
    listing = host.run(["ldd", str(program)], LIST_LIMIT_S)
    if "not found" in listing:
        raise LabFailure(f"{program.name} lacks libraries on this machine:\n{listing}")
    files = [match[1] for match in map(LIBRARY_LINE.match, listing.splitlines()) if match]
    for file in files:
        shutil.copy(file, folder)
    loaders = [name for name in (pathlib.Path(f).name for f in files) if LOADER_NAME.match(name)]
    if len(loaders) != 1:
        raise LabFailure(f"{program.name} is not a dynamically linked program:\n{listing}")
    return loaders[0]
