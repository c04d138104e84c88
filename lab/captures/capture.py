"""Captures of a Linux client and a Linux server over a target's RDMA device.

Two machines have a network of their own. One of them captures it while the client does its workload."""

from __future__ import annotations

import dataclasses
import pathlib
import shutil
import time

from lab import host
from lab.captures import capture_file, capture_workload
from lab.captures.capture_workload import CLIENT, MOUNT, SERVER
from lab.failure import LabFailure
from lab.images.image import Image
from lab.machines import link, session
from lab.machines.agent import Agent, OrderFailed
from lab.machines.channel import Channel
from lab.machines.machine import Machine
from lab.target import PROJECT, Target

CAPTURES = PROJECT / "fixtures" / "captures"
# What is recorded unless something else is named.
TARGETS = ("linux-6.1-siw", "linux-6.1-rxe")
ROLES = {SERVER: "capture-server", CLIENT: "capture-client"}
CLIENT_MODULES = ("nfs", "nfsv3", "nfsv4")
CLIENT_PACKAGES = ("acl", "attr", "util-linux")  # of the workload's programs
# After the unmount the connection's end is on the way until nothing is recorded for so long. Keep-alives and
# broadcasts may go on, hence the limit. qemu tells of its file by nothing but the size, which is looked at so often.
QUIET_S = 3.0
QUIET_LIMIT_S = 60
POLL_S = 0.2
# Now and then two fresh machines have no RDMA connection to each other.
MOST_RUNS = 3
# Captures are kept in the repository.
MOST_CAPTURE_BYTES = 300_000


@dataclasses.dataclass(frozen=True)
class RecordedLink(link.Link):
    """A machine's end of the network whose frames, of both directions, are written to `dump`."""

    dump: pathlib.Path

    def options(self) -> list[str]:
        recorder = f"filter-dump,id=recorder,netdev=link,file={self.dump}"
        return [*super().options(), "-object", recorder]


class Peer:
    """One of the two machines, which takes its commands over its serial port."""

    def __init__(
        self, name: str, target: Target, image: Image, end: link.Link, directory: pathlib.Path
    ) -> None:
        self.name = name
        self.channel = Channel(directory / f"{name}-channel")
        console = directory / f"{name}-console.log"
        console.write_bytes(b"")
        self.machine = Machine(
            *(target, image.kernel, image.root, {}, console, ROLES[name]),
            serials=(self.channel.serial(),),
            link=end,
        )
        self._agent = Agent(name, self.channel, self.machine)

    def boot(self) -> None:
        host.say(f"booting the {self.name}")
        seconds = self.machine.boot(lambda: self.channel.open(self.machine))
        host.say(f"ready after {seconds:.1f} s")
        self._agent.await_ready()

    def do(self, command: str) -> None:
        """Runs one line of shell; LabFailure if it does not end with 0 within its limit."""
        self._agent.do(command)

    def close(self) -> None:
        for complaint in self.machine.complaints():
            host.say(f"the {self.name}'s console has: {complaint}")
        self.machine.power_off()
        self.channel.close()


def both_ways(target: Target) -> Target:
    """The target with what a client needs beside what a server does, built in a place of its own."""
    modules = [*target.kernel.modules, *CLIENT_MODULES]
    kernel = dataclasses.replace(target.kernel, modules=modules)
    packages = [*target.packages, *CLIENT_PACKAGES]
    return dataclasses.replace(
        target, name=f"capture-{target.name}", kernel=kernel, packages=packages
    )


def run(target: Target, versions: tuple[str, ...] = capture_workload.VERSIONS) -> None:
    """Records the target with each version of NFS, into the repository's captures."""
    target = both_ways(target)
    with session.exclusive(target):
        host.need(host.MACHINE_PROGRAMS)
        image = Image(target)
        image.build()
        for version in versions:
            record(target, image, version)


def record(target: Target, image: Image, version: str) -> None:
    """Records one version; machines that die or do not find each other are booted again."""
    for _ in range(MOST_RUNS - 1):
        try:
            return record_once(target, image, version)
        except OrderFailed:
            raise
        except LabFailure as failure:
            host.say(f"{failure}; both machines are booted again")
    return record_once(target, image, version)


def record_once(target: Target, image: Image, version: str) -> None:
    directory = target.directory / version
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    dump = directory / "link.pcap"
    server_end, client_end = link.pair(directory.relative_to(PROJECT))
    client_end = RecordedLink(**dataclasses.asdict(client_end), dump=dump.relative_to(PROJECT))
    steps = capture_workload.steps(version, target.ports["rdma"], target.ports["mountd"])
    peers = {}
    try:
        for name, end in ((SERVER, server_end), (CLIENT, client_end)):
            peers[name] = Peer(name, target, image, end, directory)
            peers[name].boot()
        for step in steps:
            host.say(f"{step.machine}: {step.text}")
            try:
                peers[step.machine].do(step.command)
            except OrderFailed as failure:
                raise LabFailure(str(failure)) if step.text == MOUNT else failure
        await_quiet(dump, peers[CLIENT].machine)
    finally:
        for peer in peers.values():
            peer.close()
    name = target.name.removeprefix("capture-")
    made = CAPTURES / f"{name}-{version}.pcapng"
    size = capture_file.convert(dump, comment(target, image.version(), version, steps), made)
    host.say(f"{made.relative_to(PROJECT)} has {size} octets")
    if size > MOST_CAPTURE_BYTES:
        raise LabFailure(f"{made.relative_to(PROJECT)} has more than {MOST_CAPTURE_BYTES} octets")


def await_quiet(dump: pathlib.Path, recorder: Machine) -> None:
    """Waits until nothing more is recorded; LabFailure if the recording machine ends before."""
    deadline = time.monotonic() + QUIET_LIMIT_S
    size, since = -1, time.monotonic()
    while time.monotonic() - since < QUIET_S and time.monotonic() < deadline:
        if dump.stat().st_size != size:
            size, since = dump.stat().st_size, time.monotonic()
        if recorder.dies(POLL_S):
            raise LabFailure(f"the recording machine has ended; {recorder.last_words()}")


def comment(target: Target, version: str, nfs: str, steps: list[capture_workload.Step]) -> str:
    """What the capture says of itself."""
    lines = [
        f"Client and server: {version}, over {target.device}; NFS {nfs}.",
        "Recorded by `ci/lab capture`, at the client's network card. What they did:",
        *(f"{number}. {step.machine}: {step.text}" for number, step in enumerate(steps, 1)),
    ]
    return "\n".join(lines)
