"""The RPC transports by which a server is reached, and what of the ledger binds it over each."""

RDMA, TCP = "rdma", "tcp"
ANY = (RDMA, TCP)

# Why a case does not run over this transport.
LACKS = {
    RDMA: "needs TCP: the target is reached over RDMA, which has no record marking",
    TCP: "needs RDMA: the target is reached over TCP, which has no transport header, chunks or credits",
}
# Documents that say something about RPC over a byte stream; all others of the ledger are about RDMA.
_BOUND_OVER_TCP = ("RFC5531-",)


def binds(requirement_id, transport):
    """Whether the requirement says anything to a server that is reached over this transport. RDMA
    has every row: its cases compare with TCP too."""
    return transport == RDMA or requirement_id.startswith(_BOUND_OVER_TCP)


def transport_of(url):
    """The transport of a parsed URL: each provider but tcp is one of RDMA."""
    return TCP if url.provider == TCP else RDMA
