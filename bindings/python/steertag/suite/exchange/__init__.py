"""What every connection to the target has, over RDMA and over TCP: calls, replies, outcomes, deadlines."""
