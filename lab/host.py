"""The host's side of the lab: programs it must have, and running them with a time limit."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

from lab.failure import LabFailure

# Program -> Debian package that brings it, looked for in this order on PATH and in /usr/sbin.
BUILD_PROGRAMS = {
    "cpio": "cpio",
    "depmod": "kmod",
    "dpkg-deb": "dpkg",
    "gcc-12": "gcc-12",
    "make": "make",
    "modprobe": "kmod",
    "patch": "patch",
    "strip": "binutils",
    "tar": "tar",
    "xz": "xz-utils",
    "zstd": "zstd",
}
MACHINE_PROGRAMS = {"qemu-system-x86_64": "qemu-system-x86", "setpriv": "util-linux"}

INSTALL_LIMIT_S = 600
UPDATE_LIMIT_S = 300
APT_LOCK_LIMIT_S = 300
ERROR_LINES = 15  # of a failed program's output, shown to the person at the terminal

SEARCH_PATH = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"


def say(text: str) -> None:
    """Tells the person at the terminal what the lab is doing."""
    print(f"lab: {text}", file=sys.stderr, flush=True)


def run(arguments: list[str], limit_s: float, cwd: pathlib.Path | None = None) -> str:
    """Runs a program to its end and returns its standard output; failure is one LabFailure."""
    environment = dict(os.environ, PATH=SEARCH_PATH, LC_ALL="C", DEBIAN_FRONTEND="noninteractive")
    shown = " ".join(str(argument) for argument in arguments[:3])
    try:
        done = subprocess.run(
            arguments, cwd=cwd, env=environment, timeout=limit_s, capture_output=True, text=True
        )
    except subprocess.TimeoutExpired:
        raise LabFailure(f"`{shown} ...` did not end within {limit_s:.0f} s")
    except OSError as error:
        raise LabFailure(f"`{shown} ...` cannot be started: {error}")
    if done.returncode != 0:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-ERROR_LINES:])
        raise LabFailure(f"`{shown} ...` failed with status {done.returncode}:\n{last}")
    return done.stdout


def need(programs: dict[str, str]) -> None:
    """Makes sure that the programs exist, installing their Debian packages when we are root."""
    missing = {program for program in programs if not shutil.which(program, path=SEARCH_PATH)}
    packages = sorted({programs[program] for program in missing})
    if not packages:
        return
    install = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    if os.geteuid() != 0:
        raise LabFailure(f"programs are missing; install them with `{' '.join(install)}`")
    say(f"installing {', '.join(packages)}")
    install[1:1] = ["-o", f"DPkg::Lock::Timeout={APT_LOCK_LIMIT_S}"]
    try:
        run(install, INSTALL_LIMIT_S)
    except LabFailure:  # apt's lists are absent in fresh containers; the second try counts
        run(["apt-get", "update"], UPDATE_LIMIT_S)
        run(install, INSTALL_LIMIT_S)
