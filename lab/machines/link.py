"""A network of two machines, without the host: what one sends reaches the other alone."""

from __future__ import annotations

import dataclasses
import pathlib

# Of the machine that serves, and of the one that tests.
SERVER_ADDRESS, TESTER_ADDRESS = "10.0.9.1", "10.0.9.2"
PREFIX_LENGTH = 24
# Locally administered; the last octet is that of the address.
MAC_PREFIX = "52:54:00:0a:00"


@dataclasses.dataclass(frozen=True)
class Link:
    """One machine's end: the socket that it has and the one that it sends to. A frame to a machine that
    is not there is lost, as on any network."""

    address: str
    own: pathlib.Path
    other: pathlib.Path

    def options(self) -> list[str]:
        """The network card, as options of qemu."""
        last = int(self.address.rsplit(".", 1)[1])
        ends = (("local", self.own), ("remote", self.other))
        sockets = "".join(f",{end}.type=unix,{end}.path={path}" for end, path in ends)
        card = f"virtio-net-pci,netdev=link,romfile=,mac={MAC_PREFIX}:{last:02x}"
        return ["-netdev", f"dgram,id=link{sockets}", "-device", card]

    def parameters(self) -> str:
        """What the guest's kernel command line says of it."""
        return f"address={self.address}/{PREFIX_LENGTH}"


def pair(directory: pathlib.Path) -> tuple[Link, Link]:
    """The ends of the server and of the tester; their sockets are in the directory."""
    sockets = directory / "link-server", directory / "link-tester"
    return Link(SERVER_ADDRESS, *sockets), Link(TESTER_ADDRESS, *reversed(sockets))
