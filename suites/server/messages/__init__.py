"""The transport header of each message, its octets, and errors over it."""
