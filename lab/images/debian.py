"""Debian packages by the machine's own apt sources, and if wanted by a further suite of Debian's:
resolved, fetched and unpacked, not installed."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import time
import urllib.parse

from lab import host
from lab.failure import LabFailure

RESOLVE_LIMIT_S = 60
FETCH_LIMIT_S = 600
UNPACK_LIMIT_S = 180
UNKNOWN_PACKAGE = "Unable to locate package"
# A suite's mirror keeps only the newest packages, so what old lists name may be gone.
MOST_LISTS_AGE_S = 3 * 24 * 3600
SOURCES = pathlib.Path("/etc/apt/sources.list")
SOURCE_PARTS = pathlib.Path("/etc/apt/sources.list.d")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

# What `apt-get install --print-uris` prints for one package: 'URI' FILE SIZE [HASH]
URI_LINE = re.compile(r"^'(?P<uri>[^']+)' (?P<file>\S+\.deb) \d+")


@dataclasses.dataclass(frozen=True, order=True)
class Package:
    """One exact package: `file` is the name under which apt stores it."""

    name: str
    version: str
    file: str

    @classmethod
    def of_file(cls, file: str) -> Package:
        """The package in a file as apt names it: NAME_VERSION_ARCHITECTURE.deb."""
        name, version, _ = file.split("_", 2)
        return cls(name, urllib.parse.unquote(version), file)


class Archive:
    """The packages that apt can fetch, seen as if none were installed on this machine."""

    def __init__(self, directory: pathlib.Path, suite: str | None = None) -> None:
        """`directory` keeps the fetched packages and the state that hides the installed ones. A suite
        (bookworm-backports) is preferred to the machine's sources, which it does not change."""
        self.directory = directory
        self._suite = suite
        self._state = directory / (f"state-{suite}" if suite else "state")
        (self._state / "archives" / "partial").mkdir(parents=True, exist_ok=True)
        status = self._state / "status"
        if not status.exists():  # rewriting it would void apt's caches
            status.write_text("")

    def closure(self, names: list[str]) -> list[Package]:
        """The named packages and everything they depend on, in the exact versions to fetch."""
        if self._suite:
            self._update_suite()
        arguments = ["install", "--print-uris", "--yes", *names]
        try:
            listing = self._apt(arguments, RESOLVE_LIMIT_S)
        except LabFailure as failure:
            if self._suite or UNKNOWN_PACKAGE not in str(failure) or os.geteuid() != 0:
                raise
            host.say("apt does not know every package yet; running apt-get update")
            host.run(["apt-get", "update"], host.UPDATE_LIMIT_S)
            listing = self._apt(arguments, RESOLVE_LIMIT_S)
        files = [match["file"] for match in map(URI_LINE.match, listing.splitlines()) if match]
        return sorted(map(Package.of_file, files))

    def fetch(self, packages: list[Package]) -> list[pathlib.Path]:
        """Downloads what is not here yet; apt verifies it. Returns the files, in order."""
        wanted = [package for package in packages if not (self.directory / package.file).exists()]
        if wanted:
            host.say(f"fetching {len(wanted)} Debian packages")
            exact = [f"{package.name}={package.version}" for package in wanted]
            self._apt(["download", *exact], FETCH_LIMIT_S, cwd=self.directory)
        return [self.directory / package.file for package in packages]

    def _update_suite(self) -> None:
        """Fetches the lists of the machine's sources and of the suite into a place of their own."""
        fresh = self._state / "lists.fresh"
        if fresh.exists() and time.time() - fresh.stat().st_mtime < MOST_LISTS_AGE_S:
            return
        host.say(f"fetching the package lists of {self._suite}")
        (self._state / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        parts = self._state / "sources"
        shutil.rmtree(parts, ignore_errors=True)
        parts.mkdir()
        for path in [SOURCES, *sorted(SOURCE_PARTS.glob("*"))]:
            if path.is_file():
                (parts / path.name).symlink_to(path)
        source = f"deb [signed-by={KEYRING}] {mirror()} {self._suite} main\n"
        (parts / "steertag-lab.list").write_text(source)
        self._apt(["update"], host.UPDATE_LIMIT_S)
        fresh.touch()

    def _apt(self, arguments: list[str], limit_s: float, cwd: pathlib.Path | None = None) -> str:
        options = {
            "APT::Install-Recommends": "0",
            "APT::Sandbox::User": "",
            "Debug::NoLocking": "1",
            "Dir::Cache": self._state,
            "Dir::Cache::pkgcache": self._state / "pkgcache.bin",
            "Dir::Cache::srcpkgcache": self._state / "srcpkgcache.bin",
            "Dir::State::status": self._state / "status",
        }
        if self._suite:
            options |= {
                "Dir::State::lists": self._state / "lists",
                "Dir::Etc::sourcelist": "/dev/null",
                "Dir::Etc::sourceparts": self._state / "sources",
            }
            # Unknown before the suite's lists are there.
            if arguments != ["update"]:
                options["APT::Default-Release"] = self._suite
        flags = [part for key, value in options.items() for part in ("-o", f"{key}={value}")]
        return host.run(["apt-get", *flags, *arguments], limit_s, cwd)


def mirror() -> str:
    """The address from which this machine takes Debian."""
    listing = host.run(
        ["apt-get", "indextargets", "--format", "$(LABEL) $(REPO_URI)"], RESOLVE_LIMIT_S
    )
    for line in listing.splitlines():
        label, _, address = line.rpartition(" ")
        if label == "Debian":
            return address
    raise LabFailure("this machine's apt has no source of Debian itself to take another suite from")


def unpack(file: pathlib.Path, directory: pathlib.Path) -> None:
    """Unpacks one package into a root where /bin, /sbin and /lib are links into /usr."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", file], stdout=subprocess.PIPE) as reader:
        writer = ["tar", "-x", "-C", directory, "--keep-directory-symlink", "--no-same-owner"]
        try:
            subprocess.run(writer, stdin=reader.stdout, check=True, timeout=UNPACK_LIMIT_S)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            reader.kill()
            raise LabFailure(f"{file.name} cannot be unpacked: {error}")
    if reader.returncode != 0:
        raise LabFailure(f"{file.name} is not a readable Debian package")
