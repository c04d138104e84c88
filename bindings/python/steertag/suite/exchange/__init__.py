"""Parts of every connection to the target, over RDMA and TCP: calls, replies, outcomes,
deadlines."""
