"""The reverse direction: calls of the server, and backchannels that carry them."""
