"""Hosts of the rows with limited links: a network namespace for each server, joined with the client's by a bridge.

A host has a veth of its own, whose rate tbf limits at both ends: each end limits what it sends. The client's end has the
rate of all data servers together.
"""

import os

from ci.jobs.bench_nfs.bench_servers import Place
from ci.jobs.bench_nfs.namespaces import namespace, run

BRIDGE, LINK = "bridge", "stripes"  # LINK is at each host's end
NETWORK = "10.0.0"
CLIENT, METADATA_SERVER = 1, 2  # numbers of hosts; data servers are behind them
# What tbf sends at once for each link's rate. TCP hands over up to 64 KiB in one piece, which with the headers of its
# packets is more. A smaller burst makes tbf cut it into packets, at twice the client's processor time.
BURST_KIB = 128
# What tbf keeps waiting at most. Of 20 ms it dropped packets of WRITEs, whose calls are some MiB.
LATENCY = "60ms"


class Host:
    """A network namespace. Its servers listen at `place`."""

    def __init__(self, place, enter_bridge, port):
        self.place = place
        self._set = (*enter_bridge, "ip", "link", "set", port)

    def vanish(self):
        """The bridge has no link to it any more. Neither end of the link goes down, and nothing ends a connection."""
        run(*self._set, "nomaster")

    def restore(self):
        """It is there again."""
        run(*self._set, "master", BRIDGE)


class ShapedHosts:
    """A metadata server's Host and those of so many data servers. They last as long as the ExitStack."""

    def __init__(self, stack, rate_mbit, data_servers):
        self._rate_mbit = rate_mbit
        self._enter_bridge = _enter(stack.enter_context(namespace()))
        run(*self._enter_bridge, "ip", "link", "add", "name", BRIDGE, "type", "bridge")
        run(*self._enter_bridge, "ip", "link", "set", BRIDGE, "up")
        self._join(CLIENT, os.getpid(), (), links=data_servers)
        # A namespace that ends takes its links along, but some time later: the next one needs the name now.
        stack.callback(run, "ip", "link", "delete", LINK)
        self.metadata_server, *self.data_servers = (
            self._host(stack, METADATA_SERVER + each) for each in range(1 + data_servers)
        )

    def _host(self, stack, number):
        pid = stack.enter_context(namespace())
        enter = _enter(pid)
        port = self._join(number, pid, enter, links=1)
        return Host(Place(f"{NETWORK}.{number}", enter), self._enter_bridge, port)

    def _join(self, number, pid, enter, links):
        """Joins the namespace of a process with the bridge, by so many times the rate; the bridge's port."""
        port = f"port{number}"
        pair = ("ip", "link", "add", "name", port, "type", "veth", "peer", "name", LINK)
        run(*self._enter_bridge, *pair, "netns", pid)
        run(*self._enter_bridge, "ip", "link", "set", port, "master", BRIDGE, "up")
        run(*enter, "ip", "address", "add", f"{NETWORK}.{number}/24", "dev", LINK)
        run(*enter, "ip", "link", "set", LINK, "up")
        for side, link in ((self._enter_bridge, port), (enter, LINK)):
            limit = ("rate", f"{links * self._rate_mbit}mbit", "burst", f"{links * BURST_KIB}kb")
            run(*side, "tc", "qdisc", "add", "dev", link, "root", "tbf", *limit, "latency", LATENCY)
        return port


def _enter(pid):
    """The command that runs another one in the network namespace of a process."""
    return ("nsenter", f"--target={pid}", "--net")
