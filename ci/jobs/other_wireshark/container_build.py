"""Builds the Wireshark plugin against another Debian suite's Wireshark and runs its tests there.

`ci/other-wireshark [SUITE]`, as root, works in a container root of that suite's packages. SUITE is trixie
(Wireshark 4.4) unless given. The root is kept under build/other-wireshark.

Exit status: 0 built and tested, 1 not so, 2 misused, 3 this machine lets not even root mount."""

import contextlib
import os
import shutil
import subprocess
import sys

from ci.jobs import PROJECT
from lab import host
from lab.failure import LabFailure
from lab.images import debian

SUITE = "trixie"
# What a Debian machine has without being asked, as far as the build and the tests use it.
BASE = "base-files base-passwd bash coreutils dash findutils grep libc-bin sed util-linux".split()
WIRESHARK = ["wireshark-dev", "libwireshark-dev", "tshark"]
CHECKOUT = "steertag"  # in the root, a view of the project
STEP_LIMIT_S = 1800
# The lab resolves fewer packages at a time.
debian.RESOLVE_LIMIT_S = 300
PRESET = "release"
NO_MOUNTS = 3  # exit status
OWN_MOUNTS = "STEERTAG_OTHER_WIRESHARK_MOUNTS"


def packages():
    """The project's own list, and Wireshark."""
    lines = (PROJECT / "ci" / "packages.txt").read_text(encoding="utf-8").splitlines()
    names = [line.split("#")[0].strip() for line in lines]
    return [*BASE, *filter(None, names), *WIRESHARK]


def make_root(suite, place):
    """Unpacks the packages and everything that they need. Their scripts do not run: what those would
    have set up and the build needs is done here."""
    archive = debian.Archive(place / "packages", suite)
    wanted = archive.closure(packages())
    listing = "".join(f"{package.file}\n" for package in wanted)
    root, made_of = place / "root", place / "root.packages"
    if made_of.exists() and made_of.read_text(encoding="utf-8") == listing:
        return root
    files = archive.fetch(wanted)
    host.say(f"unpacking {len(files)} packages of {suite}")
    shutil.rmtree(root, ignore_errors=True)
    for folder in ("bin", "lib", "lib64", "sbin"):
        (root / "usr" / folder).mkdir(parents=True)
        (root / folder).symlink_to(f"usr/{folder}")
    for file in files:
        debian.unpack(file, root)
    for name in ("passwd", "group"):
        shutil.copy(root / "usr" / "share" / "base-passwd" / f"{name}.master", root / "etc" / name)
    for folder, mode in ((CHECKOUT, 0o755), ("proc", 0o755), ("dev", 0o755), ("tmp", 0o1777)):
        (root / folder).mkdir(exist_ok=True)
        (root / folder).chmod(mode)
    subprocess.run(["chroot", root, "/sbin/ldconfig"], check=True)
    made_of.write_text(listing, encoding="utf-8")
    return root


@contextlib.contextmanager
def mounted(root, build):
    """The project in the root, read-only but for a build directory of the root's own."""
    mounts = [
        (["--bind", PROJECT], root / CHECKOUT),
        (["--bind", build], root / CHECKOUT / "build"),
        (["--rbind", "/dev"], root / "dev"),
        (["-t", "proc", "proc"], root / "proc"),
    ]
    with contextlib.ExitStack() as stack:
        for source, target in mounts:
            subprocess.run(["mount", *source, target], check=True)
            stack.callback(subprocess.run, ["umount", "--lazy", target], check=False)
        subprocess.run(["mount", "-o", "remount,bind,ro", root / CHECKOUT], check=True)
        yield


def run(root, *command):
    """One step of the build, in the root."""
    print("+", *command, flush=True)
    environment = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/tmp",
        "LC_ALL": "C.UTF-8",
        "CXX": "g++",
        "PYTHONDONTWRITEBYTECODE": "1",
        "STEERTAG_BUILD": f"/{CHECKOUT}/build/{PRESET}",
    }
    inside = ["chroot", root, "/usr/bin/env", "-C", f"/{CHECKOUT}", *command]
    done = subprocess.run(inside, env=environment, timeout=STEP_LIMIT_S, check=False)
    if done.returncode != 0:
        raise LabFailure(f"`{' '.join(command[:3])} ...` failed with status {done.returncode}")


def build_and_test(root):
    off = [f"-DSTEERTAG_{part}=OFF" for part in ("TESTS", "BENCH", "PYTHON")]
    run(root, "cmake", "--preset", PRESET, *off, "-DSTEERTAG_DISSECTOR=ON")
    run(root, "cmake", "--build", "--preset", PRESET, "--target", "steertag_dissector")
    run(root, "tshark", "--version")
    pytest = ["python3", "-m", "pytest", "-q", "-n", str(os.cpu_count())]
    run(root, *pytest, "--junitxml=build/dissector.xml", "dissector")


def main(arguments):
    suite, *rest = arguments or [SUITE]
    if rest or suite.startswith("-"):
        print("usage: ci/other-wireshark [SUITE]", file=sys.stderr)
        return 2
    if os.geteuid() != 0:
        print("other-wireshark: a container root can only be made by root", file=sys.stderr)
        return 2
    # Mounts are made in a name space of this process: none is left behind, however it ends.
    if OWN_MOUNTS not in os.environ:
        tried = subprocess.run(
            ["unshare", "--mount", "true"], capture_output=True, text=True, check=False
        )
        if tried.returncode != 0:
            print(
                f"other-wireshark: no mounts on this machine: {tried.stderr.strip()}",
                file=sys.stderr,
            )
            return NO_MOUNTS
        os.environ[OWN_MOUNTS] = "1"
        again = [sys.executable, "-BP", "-m", "ci.jobs.other_wireshark", *arguments]
        os.execvp("unshare", ["unshare", "--mount", *again])
    place = PROJECT / "build" / "other-wireshark" / suite
    build = place / "build"
    build.mkdir(parents=True, exist_ok=True)
    try:
        root = make_root(suite, place)
        with mounted(root, build):
            build_and_test(root)
    except (LabFailure, subprocess.SubprocessError) as failure:
        print(f"other-wireshark: {failure}", file=sys.stderr)
        return 1
    return 0
