"""The image of a target: a kernel and a root file system, made of Debian packages."""

from __future__ import annotations

import contextlib
import fcntl
import fnmatch
import hashlib
import lzma
import os
import pathlib
import shutil
import struct
import subprocess
from collections.abc import Iterator

from lab import host
from lab.failure import LabFailure
from lab.images import debian, kernel_packages
from lab.target import BUILD, LAB, PATCHES, ExtraModule, Target

GUEST = LAB / "guest"
# In the target's directory.
ROOT, MODULES = "root.cpio", "modules"
KERNEL_PACKAGE = "package"  # beside the modules: the version of the kernel's package

SOURCE_LIMIT_S = 180
COMPILE_LIMIT_S = 300
DEPENDENCY_LIMIT_S = 60
PACK_LIMIT_S = 180
DECOMPRESS_LIMIT_S = 60

MERGED_DIRECTORIES = ("bin", "sbin", "lib", "lib64")
# What the packages' installation scripts, which do not run here, would have made.
EMPTY_DIRECTORIES = (
    "dev proc root run sys tmp var/lib/nfs/nfsdcld var/lib/nfs/rpc_pipefs var/lib/nfs/v4recovery"
).split()
EMPTY_FILES = ("var/lib/nfs/etab", "var/lib/nfs/rmtab")

# The kernel's x86 boot protocol: sectors of setup code, then offset and length of the payload.
SETUP_SECTORS_OFFSET = 0x1F1
PAYLOAD_OFFSET = 0x248
SECTOR_BYTES = 512
XZ_MAGIC, ZSTD_MAGIC = b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
PAYLOAD_SIZE_BYTES = 4  # the size of the plain kernel, behind the compressed one


class Image:
    """The files that a machine boots: `vmlinux` and `root.cpio` in the target's directory."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.kernel = target.directory / "vmlinux"
        self.root = target.directory / ROOT
        self._software = target.directory / "software"
        self._modules = target.directory / MODULES
        self._archive = debian.Archive(BUILD / "packages")
        self._kernel_archive = debian.Archive(BUILD / "packages", target.kernel.suite)

    def build(self) -> None:
        """Builds what is missing or was made from other inputs than today's; else does nothing."""
        host.need(host.BUILD_PROGRAMS)
        with _one_builder():
            self._build()

    def _build(self) -> None:
        packages = kernel_packages.of(self.target, self._kernel_archive)
        guest_packages = self._guest_packages()
        sources = _contents(LAB / "images" / "image.py", LAB / "images" / "debian.py", PATCHES)
        kernel_stamp = Stamp(
            self.target.directory / "kernel.stamp",
            [self.target.kernel, packages, sources],
        )
        root_stamp = Stamp(
            self.target.directory / "root.stamp",
            [self.target, guest_packages, kernel_stamp.digest, _contents(GUEST)],
        )
        if not (kernel_stamp.holds() and self.kernel.exists() and self._modules.exists()):
            kernel_stamp.clear()
            self._build_kernel(packages)
            kernel_stamp.set()
        if not (root_stamp.holds() and self.root.exists()):
            root_stamp.clear()
            self._build_root(guest_packages)
            root_stamp.set()

    def version(self) -> str:
        """What serves, if it is a package. The kernel's release, as `uname -r` in the guest says it, its
        package and our patches."""
        kernel = (self._modules / "version").read_text().strip()
        return f"{self._software.read_text()} on {kernel}" if self.target.software else kernel

    def size_mb(self) -> float:
        """The size of both files in units of 10^6 octets."""
        return (self.kernel.stat().st_size + self.root.stat().st_size) / 1e6

    def _guest_packages(self) -> list[debian.Package]:
        packages = self._archive.closure(self.target.packages)
        unwanted = self.target.without
        return [p for p in packages if not any(fnmatch.fnmatch(p.name, w) for w in unwanted)]

    def _build_kernel(self, packages: list[debian.Package]) -> None:
        """Leaves the kernel, and in modules/ the wanted modules with those they depend on."""
        files = self._kernel_archive.fetch(packages)
        with _scratch(self.target.directory) as tree:
            version = kernel_packages.version(packages)
            host.say(f"unpacking kernel {version}")
            _make_root(tree)
            for file in files:
                debian.unpack(file, tree)
            (folder,) = (tree / "lib/modules").iterdir()
            release = folder.name
            for module in self.target.kernel.extra_modules:
                host.say(f"compiling {module.name} for {release}")
                _compile(module, tree, release)
            host.run(["depmod", "-b", str(tree), release], DEPENDENCY_LIMIT_S)
            shutil.rmtree(self._modules, ignore_errors=True)
            kept = self._modules / "usr/lib/modules" / release
            for file in self._with_dependencies(tree, release):
                path = kept / file.relative_to(folder.resolve())
                path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, path)
            for listing in folder.glob("modules.builtin*"):
                shutil.copy(listing, kept)
            shutil.copy(folder / "modules.order", kept)
            patches = [name for m in self.target.kernel.extra_modules for name in m.patches]
            told = [f"Linux {release} (Debian {version})", *patches]
            (self._modules / "version").write_text(" with ".join(told))
            (self._modules / KERNEL_PACKAGE).write_text(version)
            _decompress_kernel(tree / "boot" / f"vmlinuz-{release}", self.kernel)

    def _with_dependencies(self, tree: pathlib.Path, release: str) -> list[pathlib.Path]:
        """The files of the target's modules and of all modules that they depend on."""
        modprobe = ["modprobe", "-d", str(tree), "-S", release, "--show-depends"]
        listings = [
            host.run([*modprobe, name], DEPENDENCY_LIMIT_S) for name in self.target.kernel.modules
        ]
        # Each line is `insmod FILE` or `builtin NAME`.
        lines = sorted({line for listing in listings for line in listing.splitlines()})
        return [pathlib.Path(line.split()[1]).resolve() for line in lines if "insmod" in line]

    def _build_root(self, packages: list[debian.Package]) -> None:
        files = self._archive.fetch(packages)
        for package in packages:
            if package.name == self.target.software:
                self._software.write_text(f"{package.name} {package.version} (Debian)")
        with _scratch(self.target.directory) as scratch:
            host.say("packing the root file system")
            root = scratch / "root"
            _make_root(root)
            for file in files:
                debian.unpack(file, root)
            for path in self.target.drop:
                if not (root / path).is_dir():
                    raise LabFailure(f"the packages have no {path}, which the target drops")
                shutil.rmtree(root / path)
            shutil.copytree(self._modules / "usr", root / "usr", dirs_exist_ok=True)
            (folder,) = (root / "lib/modules").iterdir()
            host.run(["depmod", "-b", str(root), folder.name], DEPENDENCY_LIMIT_S)
            shutil.copytree(GUEST, root, symlinks=True, dirs_exist_ok=True)
            for path in EMPTY_DIRECTORIES:
                (root / path).mkdir(parents=True, exist_ok=True)
            for path in EMPTY_FILES:
                (root / path).touch()
            pack(root, scratch / "packed")
            (scratch / "packed").rename(self.root)


def built_kernel(target: Target) -> str:
    """The version of the kernel's package in a target's image; empty if there is no image."""
    path = target.directory / MODULES / KERNEL_PACKAGE
    return path.read_text() if path.exists() and (target.directory / ROOT).exists() else ""


class Stamp:
    """A file that remembers from which inputs something was made."""

    def __init__(self, path: pathlib.Path, inputs: list[object]) -> None:
        self.path = path
        self.digest = hashlib.sha256(repr(inputs).encode()).hexdigest()

    def holds(self) -> bool:
        return self.path.exists() and self.path.read_text() == self.digest

    def clear(self) -> None:
        """Forgets, so that what a cut-off build leaves behind counts as nothing."""
        self.path.unlink(missing_ok=True)

    def set(self) -> None:
        self.path.write_text(self.digest)


@contextlib.contextmanager
def _one_builder() -> Iterator[None]:
    """The fetched packages and apt's state belong to all targets of the checkout. The wait ends because
    every program that a builder runs has a limit."""
    with open(BUILD / "packages" / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _scratch(directory: pathlib.Path) -> Iterator[pathlib.Path]:
    """An empty directory that goes away; one that a killed build has left goes away first."""
    scratch = directory / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _contents(*paths: pathlib.Path) -> list[tuple[str, int, bytes]]:
    """Names, modes and contents of the given files and of all files in the given folders."""
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*"))]
    described = []
    for file in sorted(files):
        if file.is_symlink():
            described.append((str(file.relative_to(LAB)), 0, os.readlink(file).encode()))
        elif file.is_file():
            mode = file.stat().st_mode
            described.append((str(file.relative_to(LAB)), mode, file.read_bytes()))
    return described


def _make_root(root: pathlib.Path) -> None:
    """Makes an empty root with the merged /usr that Debian packages expect."""
    for name in MERGED_DIRECTORIES:
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")


def _compile(module: ExtraModule, tree: pathlib.Path, release: str) -> None:
    """Compiles a module from the kernel source package into the tree of the kernel's modules."""
    (archive,) = (tree / "usr/src").glob("linux-source-*.tar.xz")
    folder = f"{archive.name.removesuffix('.tar.xz')}/{module.directory}"
    host.run(["tar", "-xf", str(archive), "-C", str(tree), folder], SOURCE_LIMIT_S)
    for name in module.patches:
        patch = ["patch", "--strip=1", "--fuzz=0", "--input", str(PATCHES / name)]
        host.run(patch, SOURCE_LIMIT_S, cwd=tree / folder)
    headers = tree / "usr/src" / f"linux-headers-{release}"
    # The packaged Makefile includes the common headers by the path that they have when installed.
    common = headers.with_name(headers.name.removesuffix("-amd64") + "-common")
    (headers / "Makefile").write_text(f"include {common}/Makefile\n")
    make = ["make", "-C", str(headers), f"-j{os.cpu_count()}", f"M={tree / folder}"]
    # Type information for BPF would need one more program, and nothing here reads it.
    host.run([*make, module.config, "CONFIG_DEBUG_INFO_BTF_MODULES=", "modules"], COMPILE_LIMIT_S)
    built = tree / folder / f"{module.name}.ko"
    host.run(["strip", "--strip-debug", str(built)], COMPILE_LIMIT_S)
    extra = tree / "lib/modules" / release / "extra"
    extra.mkdir(exist_ok=True)
    shutil.move(built, extra)


def _decompress_kernel(packaged: pathlib.Path, plain: pathlib.Path) -> None:
    """Takes the ELF kernel out of its self-extracting form.

    An emulated processor needs 5 s to do that at each boot; qemu boots the plain form (by PVH).
    """
    data = packaged.read_bytes()
    start = (data[SETUP_SECTORS_OFFSET] + 1) * SECTOR_BYTES
    offset, length = struct.unpack_from("<II", data, PAYLOAD_OFFSET)
    payload = data[start + offset : start + offset + length]
    if payload.startswith(XZ_MAGIC):
        plain.write_bytes(lzma.LZMADecompressor().decompress(payload))
    elif payload.startswith(ZSTD_MAGIC):
        compressed = plain.with_suffix(".zst")
        compressed.write_bytes(payload[:-PAYLOAD_SIZE_BYTES])
        host.run(["zstd", "-dfq", "-o", str(plain), str(compressed)], DECOMPRESS_LIMIT_S)
        compressed.unlink()
    else:
        raise LabFailure(f"{packaged.name} is compressed neither by xz nor by zstd")


def pack(root: pathlib.Path, packed: pathlib.Path) -> None:
    """Packs a directory as an initramfs whose files belong to root.

    It stays uncompressed: the emulated processor would need longer than qemu needs to load it.
    """
    script = (
        "set -e -o pipefail; find . -mindepth 1 -printf '%P\\0' | LC_ALL=C sort -z"
        ' | cpio --null --create --format=newc --owner=0:0 --reproducible --quiet > "$0"'
    )
    try:
        subprocess.run(["bash", "-c", script, packed], cwd=root, check=True, timeout=PACK_LIMIT_S)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise LabFailure(f"the root file system cannot be packed: {error}")


def extend(root: pathlib.Path, directory: pathlib.Path, whole: pathlib.Path) -> pathlib.Path:
    """Makes `whole`, a packed root with the files of a directory added: a second archive behind it.

    The kernel unpacks both, one after the other."""
    added = whole.with_suffix(".added")
    pack(directory, added)
    with open(whole, "wb") as target:
        for part in (root, added):
            with open(part, "rb") as source:
                shutil.copyfileobj(source, target)
    added.unlink()
    return whole
