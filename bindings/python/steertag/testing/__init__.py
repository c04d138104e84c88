"""Helpers of the package's tests. Not installed."""
