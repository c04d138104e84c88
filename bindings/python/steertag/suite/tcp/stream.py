"""A plain TCP stream to the target: for what comes before MPA startup is over, and for records.
Captured like a connection."""

import socket
import struct
import time

from ... import fabric, trace
from ..exchange.deadline import Limit

# Octets taken off the socket at a time.
_READ_BYTES = 65536
# Asked for where little is to be held; a system that wants more takes its own least.
_LEAST_HELD_BYTES = 4096
# Of a TCP segment, where the target is to hold little too: it makes its FPDUs and its buffers from that.
_SMALL_SEGMENT_BYTES = 1024


def _narrow_socket(place, seconds, own):
    """A socket that was connected with small segments and a small window."""
    family, kind, protocol, _, address = socket.getaddrinfo(*place, type=socket.SOCK_STREAM)[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.settimeout(seconds)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _LEAST_HELD_BYTES)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, _SMALL_SEGMENT_BYTES)
        if own:
            made.bind(own)
        made.connect(address)
    except OSError:
        made.close()
        raise
    return made


class Stream:
    """Octets to and from the target. A context manager: leaving it closes the socket."""

    def __init__(self, url, capture, limit_ms, local_port=0, narrow=False):
        """`limit_ms` is the deadline of the connection and of each wait. `local_port` is ours; 0:
        any. `narrow`: TCP holds few octets of either side. Raises OSError."""
        target = fabric.parse_url(url)
        self.ended = ""  # how the target ended its half, in words
        self._capture = capture
        self.limit_ms = limit_ms
        self._early = b""  # came with what was asked for
        place, own = (target.host, target.port), ("", local_port) if local_port else None
        if narrow:
            self._socket = _narrow_socket(place, limit_ms / 1000, own)
        else:
            self._socket = socket.create_connection(place, limit_ms / 1000, own)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def hold_little(self):
        """Has the system hold few octets that were not taken: the target's data stay with the target."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _LEAST_HELD_BYTES)

    def send(self, octets):
        """Sends octets; what the target does not take any more is left."""
        self._socket.settimeout(self.limit_ms / 1000)
        try:
            self._socket.sendall(octets)
        except (ConnectionError, socket.timeout):
            return
        self._capture.on_bytes(time.time_ns(), trace.Role.client, octets)

    def end(self):
        """Ends our half of the stream."""
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            return
        self._capture.on_end(time.time_ns(), trace.Role.client)

    def reset(self):
        """Ends the stream hard: the target gets a TCP reset."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()
        self._capture.on_end(time.time_ns(), trace.Role.client, clean=False)

    def close(self):
        """Ends both halves in order; nothing if that was done before."""
        if self._socket.fileno() >= 0:
            self._socket.close()
            self._capture.on_end(time.time_ns(), trace.Role.client)

    def take(self, limit_ms):
        """The octets that are there, at least one; none if the target has ended its half; None if
        nothing comes in time."""
        self._socket.settimeout(limit_ms / 1000)
        try:
            octets = self._socket.recv(_READ_BYTES)
        except (socket.timeout, BlockingIOError):
            return None
        except ConnectionError:
            self._note_end("the target reset the stream", clean=False)
            return b""
        if octets:
            self._capture.on_bytes(time.time_ns(), trace.Role.server, octets)
        else:
            self._note_end("the target ended the stream", clean=True)
        return octets

    def _note_end(self, how, clean):
        self.ended = how
        self._capture.on_end(time.time_ns(), trace.Role.server, clean=clean)

    def receive(self, length):
        """The next `length` octets, fewer if the stream ends before; None if neither comes in time."""
        limit = Limit(self.limit_ms)
        while len(self._early) < length:
            part = self.take(limit.left_ms)
            if part is None:
                return None
            if not part:
                break
            self._early += part
        octets, self._early = self._early[:length], self._early[length:]
        return octets
