"""Verdicts that depend on the peer alone: not on time, load, order or the network."""
