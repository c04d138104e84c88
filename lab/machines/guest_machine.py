"""A machine that is a client, and its agent, which takes orders over a serial port."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

from lab import host
from lab.images.image import Image
from lab.kernel_client import workload
from lab.machines.agent import Agent
from lab.machines.channel import Channel
from lab.machines.machine import Machine
from lab.machines.own_network import OwnNetwork
from lab.target import Target

NETWORKS = ("10.0.2.0/24", "10.0.3.0/24")  # of client A and of client B


class Guest:
    """The machine that is a client, replaced by a fresh one when it hangs or dies."""

    def __init__(
        self,
        target: Target,
        image: Image,
        directory: pathlib.Path,
        add: Callable[[pathlib.Path], None] | None = None,
        network: OwnNetwork | None = None,
    ) -> None:
        """`add` puts more files into the guest's root file system. Without a `network` it has qemu's."""
        self._target = target
        self._image = image
        self._directory = directory
        self._network = network
        self._root = workload.pack(image.root, directory / "scratch", add)
        self._console = directory / "console.log"
        self._console.write_bytes(b"")
        self.machine = None
        self.channel = None

    def boot(self) -> None:
        """Makes sure that a machine is there whose agent listens."""
        if self.machine is not None:
            return
        self.channel = Channel(self._directory / "channel")
        self.machine = Machine(
            *(self._target, self._image.kernel, self._root, {}, self._console),
            serials=(self.channel.serial(),),
            networks=NETWORKS,
            own_network=self._network,
        )
        host.say(f"booting {self._target.name}")
        seconds = self.machine.boot(lambda: self.channel.open(self.machine))
        host.say(f"ready after {seconds:.1f} s")
        Agent("guest", self.channel, self.machine).await_ready()

    def power_off(self) -> None:
        """Ends the machine, if there is one; the next `boot` makes a fresh one."""
        if self.machine is not None:
            for complaint in self.machine.complaints():
                host.say(f"the guest's console has: {complaint}")
            self.machine.power_off()
        if self.channel is not None:
            self.channel.close()
        self.machine = self.channel = None
