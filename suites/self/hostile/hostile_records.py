"""A proxy before a server over TCP, which bends the records of the server (RFC 5531 11)."""

import selectors
import socket

from steertag import rpc, wire

READ_BYTES = 65536
# A reply that is accepted, without results: that of a NULL call.
EMPTY_REPLY_OCTETS = 24


class Way:
    """One socket of a connection, and the one to which its octets go."""

    def __init__(self, source, bends):
        self.socket = source
        self.to = None
        self.reader = rpc.RecordReader() if bends else None


class Proxy:
    """Passes octets on when `serve` is called; never waits."""

    def __init__(self, place, server_port, extremes):
        self._server_port, self._extremes = server_port, extremes
        self._listener = socket.create_server(place)
        self.port = self._listener.getsockname()[1]
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)

    def serve(self):
        """Takes what is there; whether there was something."""
        ready = self._selector.select(0)
        for key, _ in ready:
            if key.fileobj is self._listener:
                self._accept()
            else:
                self._pass_on(key.data)
        return bool(ready)

    def _accept(self):
        accepted, _ = self._listener.accept()
        server = socket.create_connection(("127.0.0.1", self._server_port))
        calls, replies = Way(accepted, False), Way(server, True)
        calls.to, replies.to = replies, calls
        for way in (calls, replies):
            self._selector.register(way.socket, selectors.EVENT_READ, way)

    def _pass_on(self, way):
        if way.socket.fileno() < 0:
            return  # ended by the other one in this turn
        try:
            octets = way.socket.recv(READ_BYTES)
            bent = octets
            if way.reader is not None:
                bent = b"".join(map(self._bent, way.reader.feed(octets)))
            way.to.socket.sendall(bent)
        except (OSError, wire.DecodeError):
            octets = b""
        if octets:
            return
        for each in (way, way.to):
            self._selector.unregister(each.socket)
            each.socket.close()

    def _bent(self, record):
        if len(record) > EMPTY_REPLY_OCTETS:
            record = self._extremes.bent(("record", len(record)), bytes(record))
        return rpc.record(record)
