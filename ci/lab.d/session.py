"""A session: the exclusive use of one target's machine, from boot to a power-off that always comes."""

from __future__ import annotations

import contextlib
import fcntl
import pathlib
import signal
import types
from collections.abc import Iterator

import yaml

import host
from failure import LabFailure
from image import Image
from machine import HOST, Machine
from target import PROJECT, Target

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal asked the lab to stop."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.number = number


def catch_signals() -> None:
    """Turns the first stop signal into Interrupted; later ones must not disturb the power-off."""

    def stop(number: int, _: types.FrameType | None) -> None:
        for other in STOP_SIGNALS:
            signal.signal(other, signal.SIG_IGN)
        raise Interrupted(number)

    for number in STOP_SIGNALS:
        signal.signal(number, stop)


@contextlib.contextmanager
def exclusive(target: Target) -> Iterator[None]:
    """Holds the target's lock: one build or one machine at a time in one checkout."""
    target.directory.mkdir(parents=True, exist_ok=True)
    with open(target.directory / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LabFailure(f"another ci/lab is using {target.name} in this checkout")
        yield


@contextlib.contextmanager
def booted(target: Target) -> Iterator[Machine]:
    """A machine that is ready, with its profile written; leaving the block powers it off."""
    with exclusive(target):
        host.need(host.MACHINE_PROGRAMS)
        image = Image(target)
        image.build()
        with Machine(target, image.kernel, image.root) as machine:
            host.say(f"booting {target.name}")
            seconds = machine.wait_ready()
            _write_profile(target, image, machine)
            host.say(f"ready after {seconds:.1f} s")
            yield machine


def url(target: Target, machine: Machine) -> str:
    """The target URL under which the machine's server is reached from the host."""
    return f"{target.provider}://{HOST}:{machine.ports['rdma']}{target.export}"


def profile_path(target: Target) -> pathlib.Path:
    return target.directory / "profile.yaml"


def _write_profile(target: Target, image: Image, machine: Machine) -> None:
    """Declares to the suite what it cannot find out over the target URL."""
    profile = {
        "name": target.name,
        "mount": {"transport": "tcp", "host": HOST, "port": machine.ports["mountd"]},
        "export": target.export,
        # The machine is ours and is thrown away: cases may do their worst.
        "destructive": True,
        "software": image.version(),
        "console": str(machine.console_log.relative_to(PROJECT)),
    }
    profile_path(target).write_text(yaml.safe_dump(profile, sort_keys=False))
