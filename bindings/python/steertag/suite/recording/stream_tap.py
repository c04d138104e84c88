"""A tap on a TCP stream to the target: it passes every operation on, and logs both directions."""

import bisect

from ..tcp.record_connection import LARGEST_RECORD
from .step import MOST_OCTETS

_LAST_FRAGMENT = 1 << 31


class StreamTap:
    """Stands in place of `stream`, a stream.Stream. `conn` is the record_connection.RecordConnection that
    uses it. Without one, what comes is octets and no records."""

    def __init__(self, stream, conn, name, log):
        self._stream = stream
        self.conn = conn
        self.name = name
        self._log = log
        self.position = 0  # pieces that have come so far
        self._came = []  # (position, kind, fields)
        self._rest = b""  # octets of a record that is not whole
        self._octets = 0  # of all that came

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __getattr__(self, name):
        return getattr(self._stream, name)

    # -- what is posted ------------------------------------------------------------------------

    def send(self, octets):
        self._log.posted("send", self.name, octets=bytes(octets))
        self._stream.send(octets)

    def end(self):
        self._log.posted("end", self.name)
        self._stream.end()

    def reset(self):
        self._log.posted("reset", self.name)
        self._stream.reset()

    def close(self):
        self._log.posted("close", self.name)
        self._stream.close()

    # -- what comes ----------------------------------------------------------------------------

    def take(self, limit_ms):
        octets = self._stream.take(limit_ms)
        if octets is None:
            self._log.quiet(self.name, limit_ms)
        else:
            self._heard(octets, not octets)
        return octets

    def receive(self, length):
        octets = self._stream.receive(length)
        if octets is None:
            self._log.quiet(self.name, self._stream.limit_ms)
        else:
            self._heard(octets, len(octets) < length)
        return octets

    def _heard(self, octets, has_ended):
        self._octets += len(octets)
        if self._octets > MOST_OCTETS:
            self._log.gap = self._log.gap or f"more than {MOST_OCTETS >> 20} MiB came on a stream"
        elif octets and self.conn is None:
            self._add("received", octets=bytes(octets))
        elif octets:
            self._rest += octets
            for record, fragments, self._rest in records(self._rest):
                self._add("received", octets=record, fragments=fragments)
        if has_ended:
            self._add("ended", how=self._stream.ended, rest=self._rest)
        self.position += 1
        self._log.came()

    def _add(self, kind, **fields):
        self._came.append((self.position, kind, fields))

    def came(self, start, end):
        """(kind, fields) of what the target did in this range of pieces. "received" is a record with the lengths
        of its fragments, or octets of a plain stream; "ended" is an end of the stream."""
        first = bisect.bisect_left(self._came, start, key=lambda each: each[0])
        for position, kind, fields in self._came[first:]:
            if position >= end:
                return
            yield kind, dict(fields)


def records(octets):
    """(record, lengths of its fragments, octets behind it) of each whole record (RFC 5531 11)."""
    while True:
        found = _first_record(octets)
        if found is None:
            return
        record, lengths, length = found
        octets = octets[length:]
        yield record, lengths, octets


def _first_record(octets):
    record, lengths, position = b"", [], 0
    while len(record) <= LARGEST_RECORD:
        word = int.from_bytes(octets[position : position + 4], "big")
        fragment = octets[position + 4 : position + 4 + word % _LAST_FRAGMENT]
        if len(octets) < position + 4 or len(fragment) < word % _LAST_FRAGMENT:
            return None
        record += fragment
        lengths.append(len(fragment))
        position += 4 + len(fragment)
        if word & _LAST_FRAGMENT:
            return record, lengths, position
    return None
