"""Connections over RDMA, the memory that cases offer on them, and the memory oracle."""
