"""A session: the exclusive use of one target's machine, from boot to a power-off that always comes."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import selectors
import signal
import time
import types
from collections.abc import Iterator

import yaml

from lab import host
from lab.failure import LabFailure
from lab.images.image import Image
from lab.machines import own_network
from lab.machines.control import Control
from lab.machines.link import Link
from lab.machines.machine import HOST, Machine, free_ports
from lab.target import PROJECT, Target

DIED = "died"  # a file of the target's directory: there is no machine
SERVER = "server"  # the role of the machine that serves, of a pair
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
    with held(target.directory / "lock", target.name):
        yield


@contextlib.contextmanager
def held(path: pathlib.Path, name: str) -> Iterator[None]:
    """Holds a lock file; LabFailure if another ci/lab has it."""
    with open(path, "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LabFailure(f"another ci/lab is using {name} in this checkout")
        yield


class Session:
    """A machine that serves, and that can be replaced by a fresh one at the same address and ports."""

    def __init__(self, target: Target, link: Link | None = None) -> None:
        """With a `link` another machine reaches it, otherwise the host does."""
        self.target = target
        self.network = None if link else own_network.make_network(target)
        at = own_network.MACHINE_ADDRESS if self.network else HOST
        self.address = link.address if link else at
        # Of qemu's network the host reaches ports of its own.
        translated = link is None and self.network is None
        self.ports = free_ports(list(target.ports)) if translated else target.ports
        self._translated = translated
        self.profile = target.directory / "profile.yaml"
        self.console_log = target.directory / "console.log"
        self.console_log.write_bytes(b"")
        self._died = target.directory / DIED
        self._died.unlink(missing_ok=True)
        self._link = link
        self._image = Image(target)
        self._control = Control(target)
        self.machine = self._new_machine()

    def url(self) -> str:
        """The target URL under which the machine's server is reached."""
        port = self.ports["tcp" if self.target.provider == "tcp" else "rdma"]
        return f"{self.target.provider}://{self.address}:{port}{self.target.export}"

    def boot(self) -> None:
        """Starts the machine and waits until its role is up."""
        host.say(f"booting {self.target.name}")
        host.say(f"ready after {self.machine.boot():.1f} s")

    def restart(self) -> None:
        """A fresh machine instead of one that died, hangs or is wanted clean."""
        self.machine.power_off()
        self.machine = self._new_machine()
        self.boot()
        self._died.unlink(missing_ok=True)

    def serve(self, until: int | None, limit_s: float | None) -> bool:
        """Answers `ci/lab restart` and reports deaths until the descriptor `until` is readable;
        False if that takes longer than the limit. None and None: until a signal."""
        deadline = None if limit_s is None else time.monotonic() + limit_s
        mourned = None
        while True:
            with contextlib.ExitStack() as stack:
                selector = stack.enter_context(selectors.DefaultSelector())
                selector.register(self._control, selectors.EVENT_READ, self._control)
                if until is not None:
                    selector.register(until, selectors.EVENT_READ, until)
                if mourned is not self.machine:
                    end = self.machine.open_end()
                    stack.callback(os.close, end)
                    selector.register(end, selectors.EVENT_READ, self.machine)
                left_s = None if deadline is None else max(0, deadline - time.monotonic())
                ready = {key.data for key, _ in selector.select(left_s)}
            if until is not None and until in ready:
                return True
            if self._control in ready:
                self._control.answer(self.restart)
            elif self.machine in ready:
                mourned = self.machine
                self._died.touch()
                host.say(f"the machine died; {self.machine.last_words()}")
            if deadline is not None and time.monotonic() >= deadline:
                return False

    def close(self) -> None:
        self.machine.power_off()
        if self.network:
            self.network.close()
        self._control.close()

    def write_profile(
        self, console: str, restart: list[str], died: list[str] | None = None
    ) -> None:
        """Declares to the suite what it cannot find out over the target URL. `console` is the console's
        log, and `restart` the command for a fresh machine. The command `died` tells whether there is
        none. All three are the suite's words."""
        profile = {
            "name": self.target.name,
            "tcp": f"tcp://{self.address}:{self.ports['tcp']}",
            "mount": {"transport": "tcp", "host": self.address, "port": self.ports["mountd"]},
            "export": self.target.export,
            # The machine is ours and is thrown away: cases may do their worst.
            "destructive": True,
            "translated": self._translated,  # qemu forwards ports of this host
            "software": self._image.version(),
            "console": console,
            # A kernel that a case kills is replaced, so that the cases after it are still run.
            "restart": restart,
            # A dead machine at an address of its own does not refuse a connection: it says nothing.
            "died": died or self._died_command(),
        }
        self.profile.write_text(yaml.safe_dump(profile, sort_keys=False))

    def _died_command(self) -> list[str]:
        return ["test", "-e", str(self._died.relative_to(PROJECT))] if self.network else []

    def _new_machine(self) -> Machine:
        image = self._image
        return Machine(
            *(self.target, image.kernel, image.root, self.ports if self._translated else {}),
            *(self.console_log, SERVER if self._link else self.target.role),
            link=self._link,
            own_network=self.network,
        )


@contextlib.contextmanager
def booted(target: Target, link: Link | None = None) -> Iterator[Session]:
    """A session whose machine is ready and whose profile, as the host has it, is written; its end powers
    it off."""
    with exclusive(target):
        host.need(host.MACHINE_PROGRAMS)
        Image(target).build()
        session = Session(target, link)
        try:
            session.boot()
            session.write_profile(
                str(session.console_log.relative_to(PROJECT)),
                [str(PROJECT / "ci" / "lab"), "restart", target.name],
            )
            yield session
        finally:
            session.close()
