"""`steertag grade`: judges the RPC-over-RDMA connections in capture files by the rules of live runs."""
