"""Chunks of a client's calls, and what the server does with their memory."""
