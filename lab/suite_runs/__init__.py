"""Runs of the server suite and of test programs against or inside machines."""
