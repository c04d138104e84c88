"""Memory of a recording: regions as they were then, and those of this run in their place."""

from ..suite.rdma.memory import Offer


class Then:
    """A region of the recording; has what memory.Returned asks of an Offer."""

    def __init__(self, fields):
        self.stag = fields["stag"]
        self.base = fields["base"]
        self._content = bytearray(fields["content"])

    def __len__(self):
        return len(self._content)

    def bytes(self):
        return bytes(self._content)

    def placed(self, offset, octets):
        """An RDMA Write of the target."""
        if 0 <= offset and offset + len(octets) <= len(self._content):
            self._content[offset : offset + len(octets)] = octets


class Memory:
    """All regions of one run of a recording, by the recording's names."""

    def __init__(self, symbols):
        self.offers = {}  # name: memory.Offer of this run
        self._then = {}  # name: Then
        self._names = {}  # name of a region in this run's log: name in the recording
        self._symbols = symbols

    def offer(self, step, conn):
        """Registers memory on a connection as in the recording."""
        fields = step.fields
        content = self._symbols.in_octets(fields["content"])
        if len(content) != fields["length"]:
            raise ValueError("memory has another length than its content")
        base = fields["base"] if conn.raw.capabilities.chosen_base else None
        rights = {"read": fields["read"], "write": fields["write"]}
        made = conn.offer(fields["length"], **rights, base=base, content=content)
        self.offers[step.subject] = made
        self._then[step.subject] = Then(fields)
        self._names[made.region.name] = step.subject
        self._symbols.memory(fields["stag"], fields["base"], made)

    def note(self, step):
        """An RDMA Write of the recording."""
        then = self._then.get(step.fields.get("memory"))
        if then is not None and step.kind == "rdma_write":
            then.placed(step.fields["offset"], step.fields["octets"])

    def name_of(self, name_now):
        """The recording's name of memory that this run's log calls so."""
        return self._names.get(name_now, "")

    def stag_now(self, value):
        """A steering tag of the recording as it is now; any other value as it is."""
        if not isinstance(value, int) or isinstance(value, bool):
            return value
        name = next((name for name, then in self._then.items() if then.stag == value), None)
        return value if name is None else self.offers[name].stag

    def named_in(self, octets):
        """([Offer], [Then]) of the memory that a message of the recording has segments of. What it offers
        counts as handed out."""
        names = []
        for start in range(0, len(octets) - 15, 4):
            stag, length = (
                int.from_bytes(octets[start + at : start + at + 4], "big") for at in (0, 4)
            )
            name = next((name for name, then in self._then.items() if then.stag == stag), None)
            if name is None:
                continue
            tagged = int.from_bytes(octets[start + 8 : start + 16], "big")
            made: Offer = self.offers[name]
            made.offered.append((tagged - self._then[name].base, length))
            if name not in names:
                names.append(name)
        return [self.offers[name] for name in names], [self._then[name] for name in names]
