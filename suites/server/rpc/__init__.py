"""RPC itself: calls, credentials, and records over TCP."""
