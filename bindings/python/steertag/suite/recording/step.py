"""A step of a recording, and how many a recording has at most."""

import dataclasses

# Steps and octets of one recording. A flood of messages stays below; a case without end does not fill
# the memory.
MOST_STEPS = 20_000
MOST_OCTETS = 64 << 20


@dataclasses.dataclass(frozen=True)
class Step:
    """One line of the log; see recorder. `number` is what others call it by."""

    number: int
    kind: str
    subject: str
    fields: dict
