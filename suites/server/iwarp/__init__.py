"""MPA, DDP and RDMAP below the messages, octet by octet."""
