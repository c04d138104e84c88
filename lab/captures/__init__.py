"""Captures of Linux as client and as server."""
