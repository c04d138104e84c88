"""Cases for clients of a metadata server with data servers (RFC 8881 12, 13)."""
