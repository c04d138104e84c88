"""A plain TCP stream of a recording while it is played again: octets, and no messages."""

from .facts import first_difference


class PlainStream:
    """Has the methods of conversation.Conversation that a player uses of any connection."""

    def __init__(self, stream, tap, symbols):
        self.conn = stream
        self.has_missed = False
        self._tap = tap
        self._symbols = symbols
        self._then = []

    def send(self, step, _invalidate, _fault):
        self.conn.send(self._symbols.in_octets(step.fields["octets"]))

    def flush(self):
        """What was sent has left already."""

    def end(self, kind):
        getattr(self.conn, kind)()

    def note(self, step):
        self._then.append({step.kind: step.fields})

    def receive(self, step, _limit):
        """Octets of the recording: as many are awaited within the stream's own limit."""
        self.note(step)
        octets = self.conn.receive(len(step.fields["octets"]))
        self.has_missed |= octets is None

    def await_end(self, step, limit):
        self.note(step)
        self.conn.take(limit.left_ms)

    def wait(self, timeout_ms):
        """Waits for octets are part of `receive`."""

    def conclude_calls_of(self, step, offer):
        """No call, no memory."""

    def restart(self):
        """The bench posts nothing here for itself."""

    def difference(self, _xid):
        """How the octets and the end differ from the recording; "" if they do not."""
        now = [{kind: fields} for kind, fields in self._tap.came(0, self._tap.position)]
        before, after = _joined(self._then), _joined(now)
        return "" if before == after else first_difference(before, after)


def _joined(items):
    """The items with consecutive octets in one: how they were cut does not count."""
    octets = b"".join(each["received"]["octets"] for each in items if "received" in each)
    return [{"octets": octets.hex(" ", 4)}, *(each for each in items if "received" not in each)]
