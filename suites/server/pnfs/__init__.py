"""Cases for servers of pNFS with file layouts (RFC 8881 12, 13)."""
