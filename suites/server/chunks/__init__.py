"""Chunks of calls and replies: their shapes, their memory, and what goes inline without them."""
