"""The image of a target: a kernel and a packed root file system, made of Debian packages."""

from __future__ import annotations

import fnmatch
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

import debian
import host
from failure import LabFailure
from target import BUILD, LAB, Target

GUEST = LAB / "guest"

SOURCE_LIMIT_S = 180
COMPILE_LIMIT_S = 300
DEPENDENCY_LIMIT_S = 60
PACK_LIMIT_S = 180

MERGED_DIRECTORIES = ("bin", "sbin", "lib", "lib64")
EMPTY_DIRECTORIES = (
    "dev proc run sys tmp root var/run var/lib/nfs/sm var/lib/nfs/sm.bak "
    "var/lib/nfs/rpc_pipefs var/lib/nfs/v4recovery var/lib/nfs/nfsdcld"
).split()
EMPTY_FILES = ("var/lib/nfs/etab", "var/lib/nfs/rmtab", "var/lib/nfs/state")


class Image:
    """The files that a machine boots: `vmlinuz` and `root.zst` in the target's directory."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.kernel = target.directory / "vmlinuz"
        self.root = target.directory / "root.zst"
        self._modules = target.directory / "modules"
        self._archive = debian.Archive(BUILD / "packages")

    def build(self) -> None:
        """Builds whatever is missing or made from other inputs than today's; else does nothing."""
        host.need(host.BUILD_PROGRAMS)
        self.target.directory.mkdir(parents=True, exist_ok=True)
        kernel_packages = self._kernel_packages()
        guest_packages = self._guest_packages()
        kernel_stamp = Stamp(
            self._modules / "stamp",
            [self.target.kernel, kernel_packages, *_contents(LAB / "image.py", LAB / "debian.py")],
        )
        root_stamp = Stamp(
            self.target.directory / "root.stamp",
            [self.target, kernel_stamp.digest, guest_packages, *_contents(GUEST)],
        )
        if not kernel_stamp.holds() or not self.kernel.exists():
            self._build_kernel(kernel_packages)
            kernel_stamp.set()
        if not root_stamp.holds() or not self.root.exists():
            self._build_root(guest_packages)
            root_stamp.set()
        size_mb = self.root.stat().st_size / 1e6
        host.say(f"{self.target.name} is built: {self.version()}, root of {size_mb:.0f} MB")

    def version(self) -> str:
        """The kernel's release, as `uname -r` in the guest says it, and the package version."""
        return (self._modules / "version").read_text().strip()

    def _kernel_packages(self) -> list[debian.Package]:
        series = self.target.kernel.series
        packages = self._archive.closure(self.target.kernel.packages)
        packages = [package for package in packages if package.name.startswith("linux-")]
        image = next(package for package in packages if package.name == "linux-image-amd64")
        if not image.version.startswith(f"{series}."):
            raise LabFailure(
                f"this machine's apt offers kernel {image.version}, "
                f"but {self.target.name} needs the {series} series"
            )
        return packages

    def _guest_packages(self) -> list[debian.Package]:
        packages = self._archive.closure(self.target.packages)
        unwanted = self.target.without
        return [p for p in packages if not any(fnmatch.fnmatch(p.name, w) for w in unwanted)]

    def _build_kernel(self, packages: list[debian.Package]) -> None:
        """Leaves the kernel, and in modules/ the wanted modules with those they depend on."""
        with tempfile.TemporaryDirectory(dir=self.target.directory) as scratch:
            tree = pathlib.Path(scratch)
            _make_root(tree)
            files = self._archive.fetch(packages)
            host.say(f"unpacking kernel {packages[0].version}")
            for file in files:
                debian.unpack(file, tree)
            (modules,) = (tree / "lib/modules").iterdir()
            release = modules.name
            for module in self.target.kernel.extra_modules:
                host.say(f"compiling {module.name} for {release}")
                self._compile(module, tree, release)
            host.run(["depmod", "-b", str(tree), release], DEPENDENCY_LIMIT_S)
            shutil.rmtree(self._modules, ignore_errors=True)
            self._modules.mkdir()
            for file in self._dependencies(tree, release):
                kept = self._modules / "tree" / file.relative_to(tree.resolve() / "usr")
                kept.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, kept)
            for listing in modules.glob("modules.*"):
                shutil.copy(listing, self._modules / "tree/lib/modules" / release)
            version = next(p.version for p in packages if p.name == "linux-image-amd64")
            (self._modules / "version").write_text(f"Linux {release} (Debian {version})\n")
            shutil.move(tree / "boot" / f"vmlinuz-{release}", self.kernel)

    def _compile(self, module, tree: pathlib.Path, release: str) -> None:
        """Compiles one module from the kernel source package into the kernel's module tree."""
        (archive,) = (tree / "usr/src").glob("linux-source-*.tar.xz")
        source = archive.name.removesuffix(".tar.xz")
        folder = f"{source}/{module.directory}"
        host.run(["tar", "-xf", str(archive), "-C", str(tree), folder], SOURCE_LIMIT_S)
        headers = tree / "usr/src" / f"linux-headers-{release}"
        # The packaged file includes the common headers by the path they have when installed.
        common = headers.with_name(headers.name.removesuffix("-amd64") + "-common")
        (headers / "Makefile").write_text(f"include {common}/Makefile\n")
        make = ["make", "-C", str(headers), f"-j{os.cpu_count()}", f"M={tree / folder}"]
        host.run([*make, module.config, "modules"], COMPILE_LIMIT_S)
        built = tree / folder / f"{module.name}.ko"
        host.run(["strip", "--strip-debug", str(built)], COMPILE_LIMIT_S)
        extra = tree / "lib/modules" / release / "extra"
        extra.mkdir(exist_ok=True)
        shutil.move(built, extra)

    def _dependencies(self, tree: pathlib.Path, release: str) -> list[pathlib.Path]:
        modprobe = ["modprobe", "-d", str(tree), "-S", release, "--show-depends"]
        listing = "".join(
            host.run([*modprobe, name], DEPENDENCY_LIMIT_S) for name in self.target.kernel.modules
        )
        lines = sorted(set(listing.splitlines()))
        return [pathlib.Path(line.split()[1]).resolve() for line in lines if "insmod" in line]

    def _build_root(self, packages: list[debian.Package]) -> None:
        with tempfile.TemporaryDirectory(dir=self.target.directory) as scratch:
            root = pathlib.Path(scratch) / "root"
            _make_root(root)
            files = self._archive.fetch(packages)
            host.say("packing the root file system")
            for file in files:
                debian.unpack(file, root)
            for path in self.target.drop:
                if not (root / path).is_dir():
                    raise LabFailure(f"the packages have no {path}, which the target drops")
                shutil.rmtree(root / path)
            shutil.copytree(self._modules / "tree", root / "usr", dirs_exist_ok=True)
            host.run(["depmod", "-b", str(root), *os.listdir(root / "lib/modules")], 60)
            shutil.copytree(GUEST, root, symlinks=True, dirs_exist_ok=True)
            for path in EMPTY_DIRECTORIES:
                (root / path).mkdir(parents=True, exist_ok=True)
            for path in EMPTY_FILES:
                (root / path).touch()
            (root / "etc/mtab").symlink_to("../proc/mounts")
            packed = pathlib.Path(scratch) / "root.zst"
            _pack(root, packed)
            packed.rename(self.root)


class Stamp:
    """A file that remembers from which inputs something was made."""

    def __init__(self, path: pathlib.Path, inputs: list[object]) -> None:
        self.path = path
        self.digest = hashlib.sha256(repr(inputs).encode()).hexdigest()

    def holds(self) -> bool:
        return self.path.exists() and self.path.read_text() == self.digest

    def set(self) -> None:
        self.path.write_text(self.digest)


def _contents(*paths: pathlib.Path) -> list[tuple[str, int, bytes]]:
    """Names, modes and contents of the given files and of all files in the given folders."""
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*"))]
    return [(str(f.relative_to(LAB)), f.stat().st_mode, f.read_bytes()) for f in sorted(files) if f.is_file()]


def _make_root(root: pathlib.Path) -> None:
    """Makes an empty root with the merged /usr that Debian packages expect."""
    for name in MERGED_DIRECTORIES:
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")


def _pack(root: pathlib.Path, packed: pathlib.Path) -> None:
    """Packs a directory as a compressed initramfs whose files all belong to root."""
    script = (
        "set -e -o pipefail; find . -mindepth 1 -printf '%P\\0' | LC_ALL=C sort -z"
        ' | cpio --null --create --format=newc --owner=0:0 --reproducible --quiet | zstd -q -5 -o "$0"'
    )
    try:
        subprocess.run(
            ["bash", "-c", script, packed], cwd=root, check=True, timeout=PACK_LIMIT_S
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise LabFailure(f"the root file system cannot be packed: {error}")
