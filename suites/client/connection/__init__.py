"""Connections with their private data, and what these settle: credits, sizes, invalidation."""
