"""A port of this machine to connect from, where a case chooses it."""

import socket

# Above the ports that Linux gives to sockets by itself.
OWN_PORTS = range(61000, 65536)
# Ports that are tried. Few are ever in use.
MOST_PORTS = 64


def free_port(rng):
    """A TCP port that no socket has. Raises OSError if none is found."""
    for port in rng.sample(OWN_PORTS, MOST_PORTS):
        with socket.socket() as trial:
            try:
                trial.bind(("", port))
            except OSError:
                continue
            return port
    raise OSError(f"{MOST_PORTS} ports from {OWN_PORTS.start} on are all in use")
