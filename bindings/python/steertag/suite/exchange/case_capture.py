"""The captures of a case: the endpoints of its connections, and the file."""

import pathlib

from ... import trace

# One client address, with a port for each connection of a case. Analysers recognise the protocol by
# the server's port.
_CLIENT, _FIRST_PORT = "192.0.2.1", 50000
_SERVER = "192.0.2.2"
RDMA_PORT, TCP_PORT = 20049, 2049
LARGEST_CAPTURE = 16 << 20  # octets of one connection that are kept


def client_port(number):
    """The client's port in the capture of the connection of a case with this number."""
    return _FIRST_PORT + number


def make_capture(number, server_port, limit_octets=LARGEST_CAPTURE):
    """A trace.StreamCapture for the connection of a case with this number."""
    ends = {"client": (_CLIENT, client_port(number)), "server": (_SERVER, server_port)}
    return trace.StreamCapture(**ends, limit_bytes=limit_octets)


def make_rdma_capture(provider, number, limit_octets=LARGEST_CAPTURE):
    """The capture of a connection over the provider of this name. That of RoCE keeps whole datagrams,
    because their CRC covers their addresses."""
    if provider == "roce":
        return trace.DatagramCapture(limit_bytes=limit_octets)
    return make_capture(number, RDMA_PORT, limit_octets)


def write_capture(directory, run, captures):
    """Writes the capture file of a case, with the verdict as a comment. Without captures it writes
    none."""
    captures = [capture for capture in captures if capture.kept_bytes]
    if not captures:
        return
    path = pathlib.Path(directory) / f"{run.case_id}.pcapng"
    trace.write_captures(path, captures, comments=run.comments())
    run.capture = path
