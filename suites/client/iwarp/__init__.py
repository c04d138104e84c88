"""Segments of MPA, DDP and RDMAP below the messages, over iWARP."""
