"""Captures for tests of grading: a test chooses the messages of both ends of an iWARP
connection."""

from steertag import fabric, trace, wire

WAIT_MS = 10000
PRIVATE_DATA = wire.encode(wire.PrivateData(send_bytes=4096, receive_bytes=4096))


def words(*values):
    return b"".join(value.to_bytes(4, "big") for value in values)


def call(xid, credit=32):
    """An RDMA_MSG with a call of an unknown program."""
    rpc = words(xid, 0, 2, 400000, 1, 1, 0, 0, 0, 0)
    return words(xid, 1, credit, 0, 0, 0, 0) + rpc


def reply(xid, grant=32):
    return words(xid, 1, grant, 0, 0, 0, 0) + words(xid, 1, 0, 0, 0, 0)


def padded_write(xid):
    """A WRITE of NFSv3 with a read chunk that breaks a SHOULD NOT: it has the roundup of its 4097
    octets."""
    arguments = words(0, 0, 0, 4097, 2, 4097)
    rpc = words(xid, 0, 2, 100003, 3, 7, 0, 0, 0, 0) + arguments
    read_list = words(1, len(rpc), 0x30, 4100, 0, 0x1000, 0)
    return words(xid, 1, 32, 0) + read_list + words(0, 0) + rpc


class Talk:
    """A captured connection between two ends in one thread. The context ends it in order."""

    def __init__(self, number=0, private_data=PRIVATE_DATA, port=20049):
        self.capture = trace.StreamCapture(
            client=("192.0.2.1", 700 + number), server=("192.0.2.2", port)
        )
        self.provider = fabric.Provider("iwarp", seed=1)
        options = fabric.ConnectionOptions(
            private_data=private_data, receives=8, receive_bytes=4096
        )
        self._listener = self.provider.listen("iwarp://127.0.0.1:0")
        self._domains = self.provider.make_domain(), self.provider.make_domain()
        url = f"iwarp://127.0.0.1:{self._listener.port}"
        self.client = self.provider.connect(
            url, self._domains[0], options, wait=False, octets=self.capture
        )
        self.server = self._listener.wait(WAIT_MS).accept(self._domains[1], options)
        self._next(self.client, "established")
        self._next(self.server, "established")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.disconnect()
        self._next(self.client, "closed")

    def call(self, message):
        self.client.send(message)
        self._next(self.server, "received")
        return self

    def reply(self, message):
        self.server.send(message)
        self._next(self.client, "received")
        return self

    def exchange(self, xid, grant=32):
        return self.call(call(xid)).reply(reply(xid, grant))

    @staticmethod
    def _next(connection, kind):
        while (notice := connection.wait(WAIT_MS)) is not None:
            if notice.kind == kind:
                return
        raise AssertionError(f"no notice of the kind {kind}")


def write(path, *talks):
    """The capture file of these connections."""
    trace.write_captures(path, [talk.capture for talk in talks])
    return path


def clean(path):
    with Talk() as talk:
        talk.exchange(1).exchange(2)
    return write(path, talk)


def violating(path):
    """A capture whose second reply grants no credit."""
    with Talk() as talk:
        talk.exchange(1).exchange(2, grant=0).exchange(3)
    return write(path, talk)


def warned(path, times=1):
    """A capture of `times` read chunks with roundup."""
    with Talk() as talk:
        talk.exchange(1)
        for xid in range(2, 2 + times):
            talk.call(padded_write(xid)).reply(reply(xid))
    return write(path, talk)
