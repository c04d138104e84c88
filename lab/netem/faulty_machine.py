"""A machine of the role `netem`: a network with faults, and an agent that runs the host's program over it."""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib
from collections.abc import Iterator

from lab import host
from lab.failure import LabFailure
from lab.images.image import Image
from lab.machines.agent import Agent
from lab.machines.channel import Channel
from lab.machines.machine import Machine
from lab.machines.own_network import OwnNetwork
from lab.netem.faults import Faults
from lab.target import Target


@dataclasses.dataclass(frozen=True)
class FaultyMachine:
    machine: Machine
    agent: Agent


@contextlib.contextmanager
def booted(
    target: Target,
    root: pathlib.Path,
    faults: Faults,
    console: pathlib.Path,
    network: OwnNetwork | None = None,
) -> Iterator[FaultyMachine]:
    """`root` has the program. What the kernel says stays in `console`. With a network the host reaches the machine."""
    image = Image(target)
    console.write_bytes(b"")
    channel = Channel(console.parent / "channel")
    machine = Machine(
        *(target, image.kernel, root, {}, console),
        serials=(channel.serial(),),
        own_network=network,
        parameters=faults.parameters(),
    )
    agent = Agent("guest", channel, machine)
    try:
        host.say(f"booting {target.name} with {image.version()}; {faults.text()}")
        seconds = machine.boot(lambda: channel.open(machine))
        host.say(f"ready after {seconds:.1f} s")
        agent.await_ready()
        try:
            yield FaultyMachine(machine, agent)
        except LabFailure as failure:
            raise LabFailure(f"{failure}; {machine.last_words()}")
        for complaint in machine.complaints():
            host.say(f"the guest's console has: {complaint}")
    finally:
        machine.power_off()
        channel.close()
