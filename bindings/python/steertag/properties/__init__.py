"""Property-based tests of a server: strategies, a stateful conversation, and the source of found
cases."""
