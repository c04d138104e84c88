"""Benchmarks with floors: of the codec and the fabric, and of captures."""
