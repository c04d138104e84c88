"""Messages of the target that wait for whoever reads them, within limits."""

import collections

# A target that sends more unasked is cut off: no case asks for as much at a time.
MOST_MESSAGES = 4096
MOST_OCTETS = 16 << 20


class Backlog:
    """Received messages, the oldest first."""

    def __init__(self):
        self._messages = collections.deque()
        self._octets = 0

    def __len__(self):
        return len(self._messages)

    def append(self, message):
        self._messages.append(message)
        self._octets += len(message.bytes)

    def popleft(self):
        message = self._messages.popleft()
        self._octets -= len(message.bytes)
        return message

    @property
    def is_full(self):
        """Whether there is more than a case can have asked for."""
        return len(self) > MOST_MESSAGES or self._octets > MOST_OCTETS
