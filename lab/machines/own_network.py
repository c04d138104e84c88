"""A network of this host's and one machine's own, without a translation of addresses.

Those of a RoCEv2 packet are under its CRC, so qemu's user network cannot carry it. The host's end are two tap
devices in a network name space, with the addresses that the user network would have."""

from __future__ import annotations

import os
import subprocess

from lab import host
from lab.failure import LabFailure
from lab.target import Target

# Device of the host -> its address: the ways of client A and of client B.
TAPS = {"tap0": "10.0.2.2/24", "tap1": "10.0.3.2/24"}
ADDRESS = TAPS["tap0"].partition("/")[0]
MACHINE_ADDRESS = "10.0.2.15"
PROGRAMS = {"ip": "iproute2", "nsenter": "util-linux", "unshare": "util-linux"}
READY = "ready"
COMMAND_LIMIT_S = 10


class OwnNetwork:
    """The name space, which lives as long as a process that only keeps it."""

    def __init__(self) -> None:
        host.need(PROGRAMS)
        # Who is not root gets a name space of users too, in which the network is theirs.
        is_root = os.geteuid() == 0
        rights = [] if is_root else ["--user", "--map-current-user", "--keep-caps"]
        keep = ["setpriv", "--pdeathsig", "KILL", "sh", "-c", f"echo {READY}; exec sleep infinity"]
        self._keeper = subprocess.Popen(
            ["unshare", "--net", *rights, *keep],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._enter = ["nsenter", f"--target={self._keeper.pid}", "--net"]
        self._enter += [] if is_root else ["--user", "--preserve-credentials"]
        try:
            if self._keeper.stdout.readline().strip() != READY:
                raise LabFailure("this host gives no network name space, which roce:// needs")
            self._make_devices()
        except BaseException:
            self.close()
            raise

    def _make_devices(self) -> None:
        commands = [["ip", "link", "set", "lo", "up"]]
        for device, address in TAPS.items():
            commands += [
                ["ip", "tuntap", "add", device, "mode", "tap"],
                ["ip", "address", "add", address, "dev", device],
                ["ip", "link", "set", device, "up"],
            ]
        for command in commands:
            host.run(self.inside(command), COMMAND_LIMIT_S)

    def inside(self, command: list[str]) -> list[str]:
        """The command, run with this network instead of the host's."""
        return [*self._enter, *command]

    def close(self) -> None:
        """What still runs inside keeps the network until its end."""
        self._keeper.kill()
        self._keeper.wait(COMMAND_LIMIT_S)
        self._keeper.stdout.close()


def make_network(target: Target) -> OwnNetwork | None:
    """A network that leaves addresses as they are, if the provider needs one. Whoever makes it closes it."""
    return OwnNetwork() if target.provider == "roce" else None


def inside(network: OwnNetwork | None, command: list[str]) -> list[str]:
    return network.inside(command) if network else command
