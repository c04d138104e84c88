"""Between a client and the server that is fuzzed: passes their octets on, and changes messages of the client."""

import selectors
import socket
import time

from fuzz_changes import BREAK, END, LATER, SPLIT

RECEIVE_OCTETS = 1 << 16
# Of one use: a client that is refused connects again.
MOST_CONNECTIONS = 6
# A peer that takes nothing for so long is given up.
SEND_LIMIT_S = 5


class _Link:
    """One connection of the client and its twin to the server."""

    def __init__(self, client, server, stream):
        self.client, self.server, self.stream = client, server, stream
        self.later = b""
        for each in (client, server):
            each.settimeout(SEND_LIMIT_S)


class Proxy:
    """Listens at `port`. `changes` are applied by the numbers of messages, counted over all connections."""

    def __init__(self, server_address, make_stream, changes):
        self._server_address, self._make_stream = server_address, make_stream
        self._changes = changes
        self._number = 0
        self._links = 0
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)

    @property
    def messages(self):
        """How many the client has sent."""
        return self._number

    def run_until_ready(self, descriptor, limit_s):
        """Passes octets on until the descriptor is ready; False if that takes longer than the limit."""
        self._selector.register(descriptor, selectors.EVENT_READ, None)
        end = time.monotonic() + limit_s
        while (left := end - time.monotonic()) > 0:
            for key, _ in self._selector.select(left):
                if key.data is None:
                    return True
                key.data()
        return False

    def close(self):
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        self._selector.close()

    def _accept(self):
        client, _ = self._listener.accept()
        if self._links == MOST_CONNECTIONS:
            client.close()
            return
        self._links += 1
        try:
            server = socket.create_connection(self._server_address, SEND_LIMIT_S)
        except OSError:
            client.close()
            return
        link = _Link(client, server, self._make_stream())
        self._selector.register(client, selectors.EVENT_READ, lambda: self._from_client(link))
        self._selector.register(server, selectors.EVENT_READ, lambda: self._from_server(link))

    def _from_server(self, link):
        try:
            octets = link.server.recv(RECEIVE_OCTETS)
            if octets:
                link.client.sendall(octets)
        except OSError:
            octets = b""
        if not octets:
            self._end(link)

    def _from_client(self, link):
        try:
            octets = link.client.recv(RECEIVE_OCTETS)
            goes_on = bool(octets) and all(
                [self._pass(link, message) for message in link.stream.take(octets)]
            )
        except OSError:
            goes_on = False
        if not goes_on:
            self._end(link)

    def _pass(self, link, message):
        """Sends what the changes make of a message; False if they end the connection."""
        changes = [each for each in self._changes if each.message == self._number]
        self._number += 1
        messages = [message]
        for change in changes:
            messages = [made for each in messages for made in change.apply(each)]
        kinds = {each.kind for each in changes}
        octets = b"".join(
            link.stream.carried(each, BREAK in kinds, _piece_octets(changes, each))
            for each in messages
        )
        if END in kinds:
            link.server.sendall(octets[: len(octets) // 2])
            return False
        if LATER in kinds:
            link.later += octets
            return True
        link.server.sendall(octets + link.later)
        link.later = b""
        return True

    def _end(self, link):
        for each in (link.client, link.server):
            if each.fileno() >= 0:
                self._selector.unregister(each)
                each.close()


def _piece_octets(changes, message):
    """How many octets of the message a piece of it has; 0: it stays whole."""
    pieces = [each.piece_octets(message) for each in changes if each.kind == SPLIT]
    return min(pieces, default=0)
