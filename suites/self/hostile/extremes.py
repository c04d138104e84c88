"""Messages with one word set to an extreme: each word of each kind of message in turn, and each value in turn."""

import collections

EXTREMES = (0, 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)
# Lengths just beyond what follows the word.
BEYOND = (1, 4)
VALUES = len(EXTREMES) + len(BEYOND)
CREDIT_WORD = 2
# Two messages of a kind in a row have words far apart. No message has as many words times values, so that all come.
STRIDE = 104_729


def with_extreme(octets, word, number):
    """The message with this word set to the value with this number."""
    at = 4 * word
    left = len(octets) - at - 4
    values = (*EXTREMES, *(left + more for more in BEYOND))
    return octets[:at] + values[number].to_bytes(4, "big") + octets[at + 4 :]


class Turns:
    """Bends one message out of `every`. `start`: turns that earlier runs have had."""

    def __init__(self, start=0, every=1):
        self._start, self._every = start, every
        self._seen = 0
        self._turns = collections.Counter()  # by kind

    def bent(self, kind, octets):
        """The message, or a bent one in its place."""
        self._seen += 1
        words = len(octets) // 4
        if self._seen % self._every or not words:
            return octets
        turn = self._start + self._turns[kind]
        self._turns[kind] += 1
        return with_extreme(octets, *divmod(turn * STRIDE % (words * VALUES), VALUES))


class Steady:
    """Sets the same word of every message to the same value."""

    def __init__(self, word, number):
        self._word, self._number = word, number

    def bent(self, _, octets):
        if len(octets) < 4 * self._word + 4:
            return octets
        return with_extreme(octets, self._word, self._number)
