"""Runs test suites and clients of others against our server."""
