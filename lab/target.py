"""A target: what one virtual machine of the lab is made of, loaded from targets/NAME.yaml."""

from __future__ import annotations

import dataclasses
import pathlib

import yaml

from lab.failure import LabFailure

LAB = pathlib.Path(__file__).resolve().parent
PROJECT = LAB.parent
TARGETS = LAB / "targets"
PATCHES = LAB / "patches"
BUILD = PROJECT / "build" / "lab"
MOST_LIKENESS = 3  # a target that is like one that is like one
BASELINES = PROJECT / "fixtures" / "baselines"


@dataclasses.dataclass(frozen=True)
class ExtraModule:
    """A kernel module that Debian does not build. It has its directory in the kernel source and the
    make variable that selects it. `patches` are files of patches/ to apply to that directory."""

    name: str
    directory: str
    config: str
    patches: list[str]


@dataclasses.dataclass(frozen=True)
class Pin:
    """One exact kernel: the version of its packages, and its release as in their names. Debian's archive
    keeps the packages of a release after newer ones have come, those that name no release (linux-image-amd64)
    it replaces."""

    version: str
    release: str


@dataclasses.dataclass(frozen=True)
class Kernel:
    """The kernel packages, the modules to take from them and the modules to compile. The packages come
    from this machine's apt sources, or from another suite of Debian's. `pin` is the kernel that the rows of
    the baseline were seen on; without it the newest of the series is taken."""

    series: str
    packages: list[str]
    extra_modules: list[ExtraModule]
    modules: list[str]
    suite: str | None = None
    pin: Pin | None = None


class Judged:
    """What a report and a baseline are of: has a `name` and a `directory`."""

    @property
    def baseline(self) -> pathlib.Path:
        return BASELINES / f"{self.name}.yaml"

    @property
    def report(self) -> pathlib.Path:
        return self.directory / "report"


@dataclasses.dataclass(frozen=True)
class Target(Judged):
    """One target; `ports` are those of the guest, by service name (rdma, tcp, mountd). `device` is the kind
    of its RDMA device (siw, rxe, none). `software` is the package that serves, if the kernel does not.
    """

    name: str
    provider: str
    device: str
    role: str
    export: str
    ports: dict[str, int]
    cpus: int
    memory_mb: int
    kernel: Kernel
    packages: list[str]
    without: list[str]
    drop: list[str]
    software: str | None = None

    @property
    def directory(self) -> pathlib.Path:
        """Where everything that is built or written for this target lives."""
        return BUILD / self.name

    @property
    def gated(self) -> bool:
        """Whether there are rows to compare with. Those of one kernel say little about the newest."""
        return self.kernel.pin is not None


def names() -> list[str]:
    """The names of all targets that the lab knows."""
    return sorted(path.stem for path in TARGETS.glob("*.yaml"))


def load(name: str) -> Target:
    """Loads targets/NAME.yaml; raises LabFailure with one sentence if it cannot."""
    if name not in names():
        raise LabFailure(f"there is no target {name}; the lab knows: {', '.join(names())}")
    path = TARGETS / f"{name}.yaml"
    try:
        document = _document(path)
        machine = document.pop("machine")
        kernel = document.pop("kernel")
        extra_modules = [ExtraModule(**module) for module in kernel.pop("extra_modules")]
        pin = kernel.pop("pin", None)
        kernel |= {"extra_modules": extra_modules, "pin": Pin(**pin) if pin else None}
        target = Target(kernel=Kernel(**kernel), **machine, **document)
    except (OSError, yaml.YAMLError, AttributeError, KeyError, TypeError) as error:
        raise LabFailure(f"{path.relative_to(PROJECT)} does not describe a target: {error}")
    if target.name != name:
        raise LabFailure(f"{path.relative_to(PROJECT)} calls its target {target.name}")
    return target


def _document(path: pathlib.Path, depth: int = 0) -> dict:
    """The keys of a target. With `like: OTHER` those of the other target hold which it does not name;
    of `kernel` each key counts by itself."""
    if depth > MOST_LIKENESS:
        raise LabFailure(f"{path.relative_to(PROJECT)} is like too many others")
    document = yaml.safe_load(path.read_text())
    if "like" not in document:
        return document
    other = _document(TARGETS / f"{document.pop('like')}.yaml", depth + 1)
    kernel = other["kernel"] | document.pop("kernel", {})
    return other | document | {"kernel": kernel}
