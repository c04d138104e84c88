"""The client suite against Linux: the suite is on the host, every use of the client in the guest."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import selectors
import shlex
import shutil
import sys
import time

import yaml

from lab import host
from lab.failure import LabFailure
from lab.images.image import Image
from lab.kernel_client import listening
from lab.kernel_client.client_uses import Uses
from lab.machines import own_network, session
from lab.machines.control import Control
from lab.machines.guest_machine import Guest
from lab.machines.machine import free_ports
from lab.suite_runs import suite
from lab.target import LAB, PROJECT, Judged, Target

CASES = "suites/client"
VERSIONS = ("v4.1", "v3")
RUN_LIMIT_S = 5400
# Above what the kernel's client waits for before it gives up, with the options of workload/use.
CLIENT_TIMEOUT_S = 45
DIED = "died"  # a file of the directory: there is no machine
MOST_LINES = 1000  # of the agent at a time


@dataclasses.dataclass(frozen=True)
class Subject(Judged):
    """A client with one version of NFS."""

    target: Target
    version: str

    @property
    def name(self) -> str:
        return f"{self.target.name}-{self.version}"

    @property
    def directory(self) -> pathlib.Path:
        return self.target.directory / f"suite-{self.version}"


def run(subject: Subject, arguments: list[str]) -> int:
    """Runs the client suite with the extra pytest arguments; returns pytest's exit code."""
    target = subject.target
    with session.exclusive(target):
        host.need(host.MACHINE_PROGRAMS)
        image = Image(target)
        image.build()
        shutil.rmtree(subject.report, ignore_errors=True)
        subject.directory.mkdir(parents=True, exist_ok=True)
        client = Client(subject, image)
        try:
            client.boot()
            return suite.run_pytest(command(client, arguments), client.serve, RUN_LIMIT_S)
        finally:
            client.close()


def command(client: Client, arguments: list[str]) -> list[str]:
    """The suite's command line."""
    words = [
        *(str(suite.PYTEST), CASES),
        *listening.options(client.network, client.ports),
        *listening.data_server_options(client.network),
        *("--client-command", client.use_command()),
        *("--client-timeout", str(CLIENT_TIMEOUT_S)),
        *("--profile", str(client.write_profile().relative_to(PROJECT))),
        *("--report", str(client.subject.report.relative_to(PROJECT))),
        *arguments,
    ]
    return own_network.inside(client.network, words)


class Client:
    """The guest in which the client is used, and that is replaced when the suite wants a fresh one."""

    def __init__(self, subject: Subject, image: Image) -> None:
        self.subject = subject
        self.ports = free_ports(["rdma", "tcp"])
        self._image = image
        self._socket = subject.directory / "uses"
        self._died = subject.directory / DIED
        self.network = own_network.make_network(subject.target)
        self._guest = Guest(subject.target, image, subject.directory, network=self.network)
        self._control = Control(subject.target)
        self._uses = Uses(self._socket, subject.version, self.ports)

    def boot(self) -> None:
        self._guest.boot()
        self._died.unlink(missing_ok=True)

    def restart(self) -> None:
        """A fresh machine instead of one that died, hangs or is wanted clean."""
        self._uses.drop()
        self._guest.power_off()
        self.boot()

    def close(self) -> None:
        self._guest.power_off()
        if self.network:
            self.network.close()
        self._uses.close()
        self._control.close()
        shutil.rmtree(self.subject.directory / "scratch", ignore_errors=True)

    def use_command(self) -> str:
        """What the suite runs for one use."""
        script, path = (
            each.relative_to(PROJECT) for each in (LAB / "kernel_client" / "use.py", self._socket)
        )
        return shlex.join([sys.executable, "-SE", str(script), str(path)])

    def write_profile(self) -> pathlib.Path:
        """Declares to the suite what it cannot find out by using the client."""
        target = self.subject.target
        profile = {
            "name": self.subject.name,
            # The machine is ours and is thrown away: cases may do their worst.
            "destructive": True,
            "software": self._image.version(),
            "console": str((self.subject.directory / "console.log").relative_to(PROJECT)),
            "restart": [str(PROJECT / "ci" / "lab"), "restart", target.name],
            "died": ["test", "-e", str(self._died.relative_to(PROJECT))],
        }
        path = self.subject.directory / "profile.yaml"
        path.write_text(yaml.safe_dump(profile, sort_keys=False))
        return path

    def serve(self, until: int, limit_s: float) -> bool:
        """Does what the suite wants until the descriptor `until` is readable; False if that takes longer
        than the limit."""
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            if until in self._turn(until, deadline):
                return True
        return False

    def _turn(self, until: int, deadline: float) -> set:
        """Waits for something to happen and deals with it; what it was."""
        machine, channel = self._guest.machine, self._guest.channel
        with contextlib.ExitStack() as stack:
            selector = stack.enter_context(selectors.DefaultSelector())
            for source in (until, self._control, self._uses.listener, *self._uses.users):
                selector.register(source, selectors.EVENT_READ)
            if not self._died.exists():
                selector.register(channel, selectors.EVENT_READ)
                end = machine.open_end()
                stack.callback(os.close, end)
                selector.register(end, selectors.EVENT_READ, machine)
            left_s = max(0, deadline - time.monotonic())
            ready = {key.data or key.fileobj for key, _ in selector.select(left_s)}
        if self._control in ready:
            self._control.answer(self.restart)
            return ready & {until}
        try:
            self._deal_with(ready)
        except LabFailure:
            ready.add(machine)  # it does not take orders any more
        if machine in ready:
            self._mourn()
        return ready

    def _deal_with(self, ready: set) -> None:
        channel = self._guest.channel
        for user in [user for user in self._uses.users if user in ready]:
            self._uses.hang_up(user, channel)
        if channel in ready:
            for line in channel.lines(MOST_LINES):
                self._uses.hear(line, channel)
        if self._uses.listener in ready:
            self._uses.accept(channel)

    def _mourn(self) -> None:
        host.say(f"the machine died; {self._guest.machine.last_words()}")
        self._died.touch()
        self._uses.drop()
