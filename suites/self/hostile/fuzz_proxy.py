"""Between a client and the server that is fuzzed: passes their octets on, and changes messages of the client."""

import selectors
import socket
import time

from fuzz_changes import BREAK, END, LATER

from suites.server.iwarp.fpdus import crc32c, CRC_OCTETS, LENGTH_OCTETS

# Startup frames (RFC 5044 7.1.1).
STARTUP_OCTETS, STARTUP_LENGTH_AT = 20, 18
MARK_OCTETS, LAST_FRAGMENT = 4, 1 << 31
RECEIVE_OCTETS = 1 << 16
# Of one use: a client that is refused connects again.
MOST_CONNECTIONS = 6
# A peer that takes nothing for so long is given up.
SEND_LIMIT_S = 5


class IwarpStream:
    """Octets of the client as messages: its startup frame, then ULPDUs."""

    def __init__(self):
        self._octets = b""
        self._has_startup = self._sent_startup = False

    def take(self, octets):
        """[message] that are complete now."""
        self._octets += octets
        found = []
        while (message := self._next()) is not None:
            found.append(message)
        return found

    def _next(self):
        octets = self._octets
        if not self._has_startup:
            if len(octets) < STARTUP_OCTETS:
                return None
            end = STARTUP_OCTETS + int.from_bytes(octets[STARTUP_LENGTH_AT:STARTUP_OCTETS], "big")
            if len(octets) < end:
                return None
            self._octets = octets[end:]
            self._has_startup = True
            return octets[:end]
        if len(octets) < LENGTH_OCTETS:
            return None
        length = int.from_bytes(octets[:LENGTH_OCTETS], "big")
        end = LENGTH_OCTETS + length
        whole = end + -end % 4 + CRC_OCTETS
        if len(octets) < whole:
            return None
        self._octets = octets[whole:]
        return octets[LENGTH_OCTETS:end]

    def carried(self, message, broken):
        """The octets on the wire."""
        if not self._sent_startup:
            self._sent_startup = True
            return bytes(len(message)) if broken else message
        message = message[:0xFFFF]
        body = len(message).to_bytes(LENGTH_OCTETS, "big") + message
        body += bytes(-len(body) % 4)
        crc = crc32c(body)
        return body + (bytes(each ^ 1 for each in crc) if broken else crc)


class RecordStream:
    """Octets of the client as records of one fragment (RFC 5531 11)."""

    def __init__(self):
        self._octets = b""

    def take(self, octets):
        self._octets += octets
        found = []
        while len(self._octets) >= MARK_OCTETS:
            mark = int.from_bytes(self._octets[:MARK_OCTETS], "big")
            end = MARK_OCTETS + (mark & ~LAST_FRAGMENT)
            if len(self._octets) < end:
                break
            found.append(self._octets[MARK_OCTETS:end])
            self._octets = self._octets[end:]
        return found

    def carried(self, message, broken):
        mark = len(message) if broken else LAST_FRAGMENT | len(message)
        return mark.to_bytes(MARK_OCTETS, "big") + message


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
        octets = b"".join(link.stream.carried(each, BREAK in kinds) for each in messages)
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
