"""Addresses of this machine for our own servers over RoCE: UDP port 4791 of an address has one owner."""

import ipaddress
import random
import socket

_ROCE_UDP_PORT = 4791
_ANY_FREE = "roce://127.0.0.1:0"
# Addresses of 127/8 for servers of a run. Those above are the engine's, for clients and its own tests.
_FIRST, _LAST = (int(ipaddress.IPv4Address(text)) for text in ("127.1.0.0", "127.63.255.255"))
MOST_ADDRESSES = 64  # that are tried


def with_free_address(url):
    """The URL to listen on. For roce://127.0.0.1:0 it has a free address in place of 127.0.0.1, so that
    workers and runs do not meet. Any other URL stays."""
    if url != _ANY_FREE:
        return url
    for _ in range(MOST_ADDRESSES):
        host = str(ipaddress.IPv4Address(random.SystemRandom().randint(_FIRST, _LAST)))
        with socket.socket(type=socket.SOCK_DGRAM) as trial:
            try:
                trial.bind((host, _ROCE_UDP_PORT))
            except OSError:
                continue
            return f"roce://{host}:0"
    return url
