"""Puts taps on what a case uses: connections over RDMA and TCP, and plain streams."""

from .fabric_tap import FabricTap
from .stream_tap import StreamTap


def tap_connection(log, conn, kind, **fields):
    """Logs a connection that was just made. `kind` and `fields` are those of its step."""
    name = log.name("c")
    log.posted(kind, name, **fields)
    _tap(log, conn, name)


def tap_helper(log, conn):
    """Logs what passes on a connection of the file helper, which every replay has too."""
    _tap(log, conn, log.name("h"))


def _tap(log, conn, name):
    tap_of = FabricTap if conn.has_header else StreamTap
    conn.tap(lambda below: log.tapped(tap_of(below, conn, name, log)))


def tap_stream(log, stream):
    """The tap to use in place of a plain stream."""
    name = log.name("s")
    log.posted("stream", name)
    return log.tapped(StreamTap(stream, None, name, log))
