"""A port of this machine to connect from, where a case chooses it."""

import contextlib
import socket

# Above the ports that Linux gives to sockets by itself.
OWN_PORTS = range(61000, 65536)
# Ports that are tried. Few are ever in use.
MOST_PORTS = 64


def free_port(rng, in_a_row=1):
    """The first of so many TCP ports that no socket has. Raises OSError if none are found."""
    for port in rng.sample(OWN_PORTS[: 1 - in_a_row or None], MOST_PORTS):
        with contextlib.ExitStack() as trials:
            try:
                for each in range(port, port + in_a_row):
                    trials.enter_context(socket.socket()).bind(("", each))
            except OSError:
                continue
            return port
    raise OSError(f"{MOST_PORTS} ports from {OWN_PORTS.start} on are all in use")
