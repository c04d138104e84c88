"""What all topics meet in: combinations, random conversations, and RDMA beside TCP."""
