"""Where our server, or the client suite in its place, listens for a client in a machine."""

from __future__ import annotations

from lab.machines import own_network
from lab.machines.machine import HOST
from lab.machines.own_network import OwnNetwork

ANY_ADDRESS = "0.0.0.0"
# The host's loopback, as a machine knows it without a network of its own.
HOST_FOR_MACHINE = "10.0.2.2"


def options(network: OwnNetwork | None, ports: dict[str, int]) -> list[str]:
    """The options --listen, of the server as of the suite."""
    if network:
        rdma, tcp = f"roce://{own_network.ADDRESS}", f"tcp://{ANY_ADDRESS}"
    else:
        rdma, tcp = f"iwarp://{HOST}", f"tcp://{HOST}"
    return ["--listen", f"{rdma}:{ports['rdma']}", "--listen", f"{tcp}:{ports['tcp']}"]


def data_server_options(network: OwnNetwork | None) -> list[str]:
    """The options that name our data servers as the client knows them, of the server as of the suite."""
    return [] if network else ["--pnfs-host", HOST_FOR_MACHINE]
