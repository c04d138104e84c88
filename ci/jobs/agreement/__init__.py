"""Findings of live runs, of `steertag grade` and of the Wireshark plugin, held against each other."""
