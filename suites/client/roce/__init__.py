"""Packets of InfiniBand below the messages, over RoCE."""
