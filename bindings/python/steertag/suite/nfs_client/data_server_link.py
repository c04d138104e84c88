"""The link to a data server, by the addresses of GETDEVICEINFO."""

from ... import fabric, nfs
from ..cases.case_end import NotTestable
from ..cases.transport import TCP
from ..rdma.rdma_link import RdmaLink
from ..tcp.record_link import RecordLink
from .file_layout import place_of

# Of addresses over each transport (RFC 5665 5.2.3).
NETIDS = {TCP: ("tcp", "tcp6")}
OVER_RDMA = ("rdma", "rdma6")


def data_server_link(link, profile, ways):
    """A link.Link to the first of these (netid, universal address) over the transport of `link`.
    NotTestable if there is none."""
    netids = NETIDS.get(link.transport, OVER_RDMA)
    found = [address for netid, address in ways if netid in netids]
    if not found:
        raise NotTestable(f"the data server has no address of netid {' or '.join(netids)}")
    try:
        host, port = place_of(found[0])
    except ValueError:
        raise NotTestable(f"{found[0]!r} is no universal address") from None
    host = f"[{host}]" if ":" in host else host
    url = f"{fabric.parse_url(link.url).provider}://{host}:{port}"
    over_tcp = link.transport == TCP
    made = RecordLink(url, profile) if over_tcp else RdmaLink(url, profile, link.provider)
    made.null_version = nfs.nfs4.VERSION
    return made
