"""The utilities of libnfs (nfs-cp, nfs-cat, nfs-ls) as clients of NFSv3 and NFSv4.0."""

import pathlib
import random
import shutil
import subprocess
import tempfile

from ci.jobs.peers import listing_time
from ci.jobs.peers.peer_run import CannotRun, PeerRun

PROGRAMS = ("nfs-cp", "nfs-cat", "nfs-ls")
VERSIONS = (3, 4)
# Several READs, and a part of one.
FILE_BYTES = 3 * 1024 * 1024 + 5
# libnfs 4.0 encodes calls of NFSv4 into 4096 octets: a longer WRITE never leaves the client.
WRITTEN_BYTES = {3: FILE_BYTES, 4: 2000}
# A listing of many READDIRs.
ENTRIES = 200
# One command takes a fraction of a second.
LIMIT_S = 60


class ToolFailed(Exception):
    """A utility ended with an error, or gave something else than what is there."""


def check():
    """Raises CannotRun unless the utilities are installed."""
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        raise CannotRun(f"{', '.join(missing)} missing: install the Debian package libnfs-utils")


def run(port):
    """All tests against 127.0.0.1:`port`; a PeerRun."""
    passed, failed = 0, {}
    for version in VERSIONS:
        for name, test in TESTS.items():
            try:
                test(Export(port, version))
                passed += 1
            except ToolFailed as error:
                failed[f"{name}-v{version}"] = str(error)
    ratios = listing_time.ratios()
    sentences = {
        name: f"a long listing takes {name} {ratio:.2f} times as long as nfs-ls"
        for name, ratio in ratios.items()
    }
    for sentence in sentences.values():
        print(f"libnfs: {sentence}")
    if ratios[listing_time.NAMES] > listing_time.MOST_RATIO:
        failed["listing-time"] = sentences[listing_time.NAMES]
    else:
        passed += 1
    return PeerRun(passed, failed)


class Export:
    """The export, as one version of NFS shows it."""

    def __init__(self, port, version):
        self._port = port
        self.version = version

    def url(self, path):
        ports = f"nfsport={self._port}&mountport={self._port}"
        return f"nfs://127.0.0.1/export/{path}?version={self.version}&{ports}"

    def of_version(self, version):
        """The same export by another version of NFS."""
        return Export(self._port, version)

    def call(self, program, *arguments):
        """The standard output of a utility."""
        command = [program, *map(str, arguments)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=LIMIT_S, check=False)
        except subprocess.TimeoutExpired as error:
            raise ToolFailed(f"{program} did not end within {LIMIT_S} s") from error
        if done.returncode != 0:
            text = " ".join((done.stderr or done.stdout).decode(errors="replace").split())
            raise ToolFailed(f"{program} ended with status {done.returncode}: {text}")
        return done.stdout


def copy_and_read(export, writer, name, length):
    """A new file of `length` octets that `writer` copies there is the same when `export` reads it."""
    content = random.Random(length).randbytes(length)
    with tempfile.NamedTemporaryFile(prefix="steertag-peers-") as source:
        pathlib.Path(source.name).write_bytes(content)
        writer.call("nfs-cp", source.name, writer.url(name))
    if export.call("nfs-cat", export.url(name)) != content:
        raise ToolFailed("nfs-cat gave other octets than nfs-cp took")


def copy(export):
    """A file that one version writes is the same when it reads it."""
    copy_and_read(export, export, f"copied-{export.version}", WRITTEN_BYTES[export.version])


def read(export):
    """A long file that NFSv3 writes is the same in each version."""
    copy_and_read(export, export.of_version(3), f"read-{export.version}", FILE_BYTES)


def list_all(export):
    """A listing has each entry of a directory once."""
    expected = [f"entry-{export.version}-{number}" for number in range(ENTRIES)]
    with tempfile.NamedTemporaryFile(prefix="steertag-peers-") as source:
        for name in expected:
            export.call("nfs-cp", source.name, export.url(name))
    lines = export.call("nfs-ls", export.url("")).decode().splitlines()
    listed = [line.split()[-1] for line in lines if f"entry-{export.version}-" in line]
    if sorted(listed) != sorted(expected):
        raise ToolFailed(f"nfs-ls lists {len(set(listed))} of {ENTRIES} entries")


TESTS = {"copy": copy, "read": read, "list": list_all}
