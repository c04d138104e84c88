"""What a fuzzed client sends otherwise than a real one: changes of its messages, by number.

A message is a ULPDU over iWARP, or a record over TCP. Lengths and CRCs of what carries it stay right, but for
`break`."""

import dataclasses

WORD_OCTETS = 4
# Edges of lengths, counts, booleans and signed numbers; small steps and single bits besides.
EXTREMES = (0, 1, 2, 3, 4, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFC, 0xFFFFFFFF)
STEPS = (-4, -1, 1, 4)
MOST_ADDED = 8192
MOST_CHANGES = 4
# Octets of a piece of a message, and how many pieces there are.
MOST_PIECE = 64
MOST_PIECES = 256


@dataclasses.dataclass(frozen=True)
class Change:
    """Of the message with this number, from 0 on. `at` and `value` are what `kind` makes of them."""

    message: int
    kind: str
    at: int = 0
    value: int = 0

    def apply(self, octets):
        """What is sent in place of the message: [octets]."""
        return KINDS[self.kind](self, octets)

    def piece_octets(self, octets):
        """How many octets of the message a piece of it has."""
        return max(1 + self.at % MOST_PIECE, -(-len(octets) // MOST_PIECES))

    def _word(self, octets):
        at = self.at % max(1, len(octets) // WORD_OCTETS) * WORD_OCTETS
        return at, int.from_bytes(octets[at : at + WORD_OCTETS], "big")

    def _set(self, octets):
        at, _ = self._word(octets)
        return [_with(octets, at, self.value)]

    def _add(self, octets):
        at, word = self._word(octets)
        return [_with(octets, at, word + self.value)]

    def _flip(self, octets):
        at, word = self._word(octets)
        return [_with(octets, at, word ^ 1 << self.value % 32)]

    def _cut(self, octets):
        return [octets[: self.at % (len(octets) + 1)]]

    def _grow(self, octets):
        return [octets + bytes([self.value % 256]) * (self.at % MOST_ADDED)]

    def _insert(self, octets):
        at, _ = self._word(octets)
        return [octets[:at] + (self.value & 0xFFFFFFFF).to_bytes(WORD_OCTETS, "big") + octets[at:]]

    def _remove(self, octets):
        at, _ = self._word(octets)
        return [octets[:at] + octets[at + WORD_OCTETS :]]

    def _copy(self, octets):
        """A word of one place stands in another too: a handle as a length, a count as an offset."""
        at, word = self._word(octets)
        there = self.value % max(1, len(octets) // WORD_OCTETS) * WORD_OCTETS
        return [_with(octets, there, word)]

    def _drop(self, octets):
        return []

    def _twice(self, octets):
        return [octets, octets]


def _with(octets, at, word):
    return (
        octets[:at] + (word & 0xFFFFFFFF).to_bytes(WORD_OCTETS, "big") + octets[at + WORD_OCTETS :]
    )


# Kinds that the connection carries out: the octets that carry the message are wrong, or it comes after the next one. The
# connection ends in the middle of it, or the message comes in pieces.
BREAK, LATER, END, SPLIT = "break", "later", "end", "split"
KINDS = {
    "set": Change._set,
    "add": Change._add,
    "flip": Change._flip,
    "cut": Change._cut,
    "grow": Change._grow,
    "insert": Change._insert,
    "remove": Change._remove,
    "copy": Change._copy,
    "drop": Change._drop,
    "twice": Change._twice,
    BREAK: lambda change, octets: [octets],
    LATER: lambda change, octets: [octets],
    END: lambda change, octets: [octets],
    SPLIT: lambda change, octets: [octets],
}
# Words are most of what a server reads.
WEIGHTS = {"set": 12, "add": 4, "flip": 4, "copy": 4, SPLIT: 4}


def random_changes(random, messages):
    """[Change] of one input, whose use has so many messages. Most are of words near the front, where headers and lists
    are."""
    kinds = list(KINDS)
    weights = [WEIGHTS.get(kind, 1) for kind in kinds]
    found = []
    for _ in range(random.randint(1, MOST_CHANGES)):
        (kind,) = random.choices(kinds, weights)
        at = random.choice((random.randrange(24), random.randrange(64), random.randrange(4096)))
        value = random.choice((*EXTREMES, *STEPS, random.getrandbits(32)))
        if kind == "add":
            value = random.choice(STEPS)
        found.append(Change(random.randrange(messages), kind, at, value))
    return sorted(found, key=lambda each: each.message)
