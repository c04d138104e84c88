"""Universal addresses of data servers (RFC 5665 5.2.3.3, 5.2.3.4)."""

import contextlib
import socket

from steertag.suite import case, client_kinds as kinds, expect
from .striped_server import (
    bent_device,
    NEEDS,
    own_uses_data_servers,
    StripedServer,
    use_striped,
)

IPV4, IPV6 = "RFC5665-5.2.3.3-1", "RFC5665-5.2.3.4-1"
LOOPBACK = "iwarp://[::1]:0"


class OneFamily(StripedServer):
    """Data servers have the addresses of one netid alone."""

    def __init__(self, netid):
        super().__init__(results=bent_device(self._keep))
        self.netid = netid
        self.lacks = False  # a data server has no such address

    def _keep(self, device):
        kept = [[way for way in ways if way[0] == self.netid] for ways in device.servers]
        self.lacks |= not all(kept)
        device.servers = kept


def _use(bench, netid, requirement_id, **server):
    script = OneFamily(netid)
    outcome = use_striped(bench, script, **server)
    expect(outcome, requirement_id, must=[kinds.COMPLETED])
    if script.lacks:
        bench.not_testable(f"no --listen gives the data servers an address of netid {netid}")
    what = "the data servers are used by their addresses"
    own_uses_data_servers(bench, script, outcome, requirement_id, what)


@case("client.pnfs.address.ipv4", requirements=[IPV4], needs=NEEDS)
def test_ipv4(bench):
    """The addresses of all data servers have netid rdma, or tcp with `--pnfs-over tcp`. The client reaches them
    there."""
    _use(bench, "tcp" if bench.client.data_servers_by_tcp else "rdma", IPV4)


@case("client.pnfs.address.ipv6", requirements=[IPV6], needs=NEEDS)
def test_ipv6(bench):
    """The addresses of all data servers have netid rdma6. The client reaches them there. For our own client the server
    listens at ::1 besides."""
    near = bench.client.ours and bench.client.provider == "iwarp" and _has_loopback()
    _use(bench, "rdma6", IPV6, also_at=[LOOPBACK] if near else [])


def _has_loopback():
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as trial:
        trial.bind(("::1", 0))
        return True
    return False
