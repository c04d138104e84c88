"""What the transfer `optimistic` says of its reads."""


def sentence(counts):
    """How the data came, by the counts of peer.Files.optimistic."""
    rpc = counts["rpc_reads"] + counts["nfs_reads"]
    failed = f" ({counts['failed']} after a failed RDMA Read)" if counts["failed"] else ""
    return f"{counts['valid']} reads by RDMA, {rpc} by RPC{failed}"
