"""NFS: its bindings to RPC-over-RDMA, sessions of version 4.1, and repeated calls."""
