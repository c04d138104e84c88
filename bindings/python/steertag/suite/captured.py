"""The endpoints under which captures show the connections of a case."""

from .. import trace

# One client address, with another port for each connection of a case; the server has the port by
# which analysers know what is spoken.
_CLIENT, _FIRST_PORT = "192.0.2.1", 50000
_SERVER = "192.0.2.2"
RDMA_PORT, TCP_PORT = 20049, 2049


def make_capture(number, server_port):
    """A trace.Capture for the connection of a case with this number."""
    return trace.Capture(client=(_CLIENT, _FIRST_PORT + number), server=(_SERVER, server_port))
