"""A message that the target sent: a Send, or a record."""

import dataclasses
import struct


@dataclasses.dataclass(frozen=True)
class Message:
    """One received message: a Send with its transport header, or the RPC message of a record."""

    bytes: bytes
    invalidated: int | None = None  # STag of a Send with Invalidate
    number: int = 0  # of all messages on its connection, from 1

    @property
    def xid(self):
        """The first word, or None if the message is shorter."""
        return struct.unpack(">I", self.bytes[:4])[0] if len(self.bytes) >= 4 else None

    @property
    def credit(self):
        """The credit word of a Send, or None."""
        return struct.unpack(">I", self.bytes[8:12])[0] if len(self.bytes) >= 12 else None
