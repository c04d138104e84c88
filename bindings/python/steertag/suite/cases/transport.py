"""The RPC transports of a server, and the ledger rows that bind it over each."""

from ... import requirements as ledger

RDMA, TCP = "rdma", "tcp"
ANY = (RDMA, TCP)

# Why a case does not run over this transport, and the option with which it does.
LACKS = {
    RDMA: (
        "needs TCP: the target is reached over RDMA, which has no record marking",
        "--target tcp://HOST",
    ),
    TCP: (
        "needs RDMA: the target is reached over TCP, which has no transport header, chunks or credits",
        "the URL of the server over RDMA, or --over rdma for the bundled server",
    ),
}
# Documents on RPC and NFS over any transport; all others of the ledger are about RDMA.
_BOUND_OVER_TCP = ("RFC5531-", "RFC1813-", "RFC7530-", "RFC8881-")
# Subjects of their rows that only RDMA has.
_OF_RDMA = ("credits", "memory", "padding")


def binds(requirement_id, transport):
    """Whether the requirement binds a server over this transport. Every row binds over RDMA: its
    cases compare with TCP too."""
    if transport == RDMA:
        return True
    of_any = requirement_id.startswith(_BOUND_OVER_TCP)
    return of_any and ledger.find(requirement_id).subject not in _OF_RDMA


def transport_of(url):
    """The transport of a parsed URL: RDMA for every provider but tcp."""
    return TCP if url.provider == TCP else RDMA
