"""The targets of the lab in a table: what each one is, and what of it is on the disk."""

from __future__ import annotations

from lab import disk, target as targets
from lab.images.image import built_kernel
from lab.kernel_client import client_suite
from lab.target import Target

HEAD = ("target", "role", "kernel", "provider", "memory", "baseline", "image", "disk")
NONE = "-"
MACHINES = {"pair": 2}  # of a role; others have one


def text() -> str:
    """A line for each target, then what they share. `kernel` is the pinned version, `image` the one that
    is built."""
    lines = [HEAD, *(_line(targets.load(name)) for name in targets.names())]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    shared, total = (disk.size_bytes(path) for path in (targets.BUILD / "packages", targets.BUILD))
    where = targets.BUILD.relative_to(targets.PROJECT)
    last = f"{where}: {_mb(total)}, {_mb(shared)} of it are fetched packages"
    return "\n".join([*shown, "", last])


def _line(target: Target) -> tuple[str, ...]:
    kernel = target.kernel
    machines = MACHINES.get(target.role, 1)
    size = disk.size_bytes(target.directory)
    return (
        target.name,
        target.role,
        kernel.pin.version if kernel.pin else f"newest {kernel.series}",
        target.provider,
        (f"{machines} x " if machines > 1 else "") + f"{target.memory_mb} MB",
        ", ".join(_baselines(target)) or NONE,
        built_kernel(target) or NONE,
        _mb(size) if size else NONE,
    )


def _baselines(target: Target) -> list[str]:
    """`yes`, or the versions of NFS of a client whose suite has a baseline with each."""
    if target.baseline.exists():
        return ["yes"]
    subjects = [client_suite.Subject(target, version) for version in client_suite.VERSIONS]
    return [subject.version for subject in subjects if subject.baseline.exists()]


def _mb(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:.0f} MB"
