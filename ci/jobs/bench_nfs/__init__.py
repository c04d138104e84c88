"""Repeats the comparison of NFS over TCP and over RDMA of 2003, with our client and server."""
