"""The scripted server's side over TCP: records (RFC 5531 11) with NULL calls, and the defects of record
marking that tests of the harness need."""

import selectors
import socket

from steertag import rpc, wire

READ_BYTES = 65536
# The first three are those of calls of another procedure than NULL.
DEFECTS = ("sends-no-record", "cuts-its-reply", "keeps-silent", "hangs-over-tcp")


class Stream:
    """One connection."""

    def __init__(self, accepted):
        self.socket = accepted
        self.reader = rpc.RecordReader()


class RecordServer:
    """Serves all connections when `serve` is called; never waits."""

    def __init__(self, host, port, defects):
        self.defects = defects
        self.listener = socket.create_server((host, port))
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ)

    def serve(self, timeout_s=0):
        """Takes what is there."""
        for key, _ in self.selector.select(timeout_s):
            if key.fileobj is self.listener:
                accepted, _ = self.listener.accept()
                self.selector.register(accepted, selectors.EVENT_READ, Stream(accepted))
            else:
                self.work(key.data)

    def work(self, stream):
        try:
            octets = stream.socket.recv(READ_BYTES)
            records = stream.reader.feed(octets)
        except (OSError, wire.DecodeError):
            octets = b""
        if not octets:
            self.end(stream)
            return
        for record in records:
            self.answer(stream, record)

    def end(self, stream):
        self.selector.unregister(stream.socket)
        stream.socket.close()

    def answer(self, stream, record):
        if rpc.direction(record) != rpc.MessageType.CALL:
            return
        call, _ = rpc.Call.decode(record)
        octets = rpc.record(rpc.Reply(xid=call.xid).encode())
        if "hangs-over-tcp" in self.defects:
            return
        if "sends-no-record" in self.defects and call.procedure != 0:
            octets = b"HTTP/1.1 400 Bad Request\r\n\r\n"
        if "cuts-its-reply" in self.defects and call.procedure != 0:
            stream.socket.sendall(octets[:-4])
            self.end(stream)
            return
        if "keeps-silent" in self.defects and call.procedure != 0:
            return
        stream.socket.sendall(octets)
