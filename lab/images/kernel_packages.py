"""The kernel packages of a target: those of its pin, or the newest of the series that apt has."""

from __future__ import annotations

from lab import host
from lab.failure import LabFailure
from lab.images.debian import Archive, Package
from lab.target import Kernel, Target

ANY_RELEASE = "amd64"  # how the name of a package ends that depends on the newest release
IMAGE = "linux-image-"
# In the target's directory: the packages of the pin, so that apt is asked for them once only.
KEPT = "kernel.packages"


def of(target: Target, archive: Archive) -> list[Package]:
    """The exact packages. If apt has those of the pin no more, it is the newest of the series, and a
    sentence says so. LabFailure if apt has none of the series."""
    kernel = target.kernel
    if kernel.pin is None:
        return _newest(kernel, archive)
    wanted = pinned(kernel)
    kept = _kept(target, archive, wanted)
    if kept:
        return kept
    try:
        packages = _of_kernel(archive, wanted)
        archive.fetch(packages)  # what apt lists may be gone
    except LabFailure as failure:
        packages = _newest(kernel, archive)
        host.say(_instead(target, version(packages), str(failure)))
        return packages
    target.directory.mkdir(parents=True, exist_ok=True)
    lines = [" ".join(wanted), *(package.file for package in packages)]
    (target.directory / KEPT).write_text("\n".join(lines) + "\n")
    return packages


def pinned(kernel: Kernel) -> list[str]:
    """The packages of the pin as apt takes them: NAME=VERSION."""
    names = [
        name.removesuffix(ANY_RELEASE) + kernel.pin.release if name.endswith(ANY_RELEASE) else name
        for name in kernel.packages
    ]
    return [f"{name}={kernel.pin.version}" for name in names]


def version(packages: list[Package]) -> str:
    """The version of the kernel's own package."""
    return next(package.version for package in packages if package.name.startswith(IMAGE))


def _newest(kernel: Kernel, archive: Archive) -> list[Package]:
    packages = _of_kernel(archive, kernel.packages)
    found = version(packages)
    if not found.startswith(f"{kernel.series}."):
        raise LabFailure(
            f"this machine's apt offers kernel {found}, but the target needs {kernel.series}"
        )
    return packages


def _of_kernel(archive: Archive, names: list[str]) -> list[Package]:
    return [package for package in archive.closure(names) if package.name.startswith("linux-")]


def _kept(target: Target, archive: Archive, wanted: list[str]) -> list[Package]:
    """The packages that an earlier build has found and fetched; none if one of them is missing."""
    path = target.directory / KEPT
    if not path.exists():
        return []
    first, *files = path.read_text().splitlines()
    if first != " ".join(wanted) or not all((archive.directory / file).exists() for file in files):
        return []
    return [Package.of_file(file) for file in files]


def _instead(target: Target, found: str, failure: str) -> str:
    why = next((line for line in failure.splitlines() if line.startswith("E: ")), failure)
    return (
        f"this machine's apt does not have kernel {target.kernel.pin.version}, on which the rows of "
        f"{target.name} were seen ({why.removeprefix('E: ')}): it boots {found}, and verdicts may differ"
    )
