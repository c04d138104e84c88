"""Recordings of failures: what a case did to its target, and the file that keeps it."""
