"""The lines of a capture file."""

import os
import pathlib

from .. import trace
from ..failure import Failure
from .connection_trace import ConnectionTrace
from .event import of_engine


def lines_of_capture(source, violations=None):
    """[Line] of every RPC-over-RDMA connection in a capture, in the order of time; connections count from 1, as in
    `steertag grade`. `source` is a path, or octets. `violations` are {connection: [Violation]}. Raises Failure
    with one sentence if it is no capture."""
    connections = events_of_capture(source)
    start_ns = min((events[0].time_ns for events in connections if events), default=0)
    found = [
        line
        for number, events in enumerate(connections, start=1)
        for line in lines_of_events(events, (violations or {}).get(number, ()), number, start_ns)
    ]
    return sorted(found, key=lambda line: line.time_s)


def events_of_capture(source):
    """[[trace.Event]] by connection; raises Failure."""
    try:
        octets = source
        if isinstance(source, (str, os.PathLike)):
            octets = pathlib.Path(source).read_bytes()
        return trace.events_of_capture(octets)
    except OSError as error:
        raise Failure(f"{os.fsdecode(source)}: {error.strerror}") from None
    except ValueError as error:
        raise Failure(f"a capture that cannot be read: {error}") from None


def lines_of_events(events, violations=(), connection=1, start_ns=None):
    """[Line] of one connection's trace.Events, of a Recorder or a capture. Each Violation marks the line of its
    event. Times count from `start_ns`, or from the first event."""
    made = ConnectionTrace(connection, start_ns=start_ns)
    return list(made.lines(map(of_engine, events), violations))
