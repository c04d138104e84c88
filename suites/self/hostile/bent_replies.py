"""A pytest plugin that bends what cases read of the target's messages.

The judge sees the true messages. Each case meets one or two bent ones: a word is changed, left out or doubled, or the rest
is cut. The seed is in $STEERTAG_BEND, so that a run can be repeated."""

import os
import random

import pytest

from steertag.suite.exchange import callbacks
from steertag.suite.exchange.message import Message
from steertag.suite.rdma import connection
from steertag.suite.tcp import record_connection

SEED = "STEERTAG_BEND"
# The messages of a connection that can be bent. The first is the reply to the greeting.
FIRST, LAST = 2, 11
# Headers and lists are within so many words: half of the changes are there.
NEAR_WORDS = 24
WORDS = (bytes(4), b"\0\0\0\1", b"\0\0\0\2", b"\0\0\0\5", b"\xff" * 4)


class Bender:
    """Chooses messages and changes; `begin` starts anew for a case."""

    def __init__(self, seed):
        self._seed = seed
        self.begin("")

    def begin(self, name):
        self._random = random.Random(f"{self._seed} {name}")
        self._chosen = {self._random.randint(FIRST, LAST // 2), self._random.randint(FIRST, LAST)}
        self._seen = 0

    def bent(self, message):
        """The message, or a bent one in its place. The XID stays: without it the reply is none."""
        self._seen += 1
        octets = bytes(message.bytes)
        if self._seen not in self._chosen or len(octets) < 12:
            return message
        words = len(octets) // 4
        last = min(words, NEAR_WORDS) if self._random.random() < 0.5 else words
        at = 4 * self._random.randrange(1, last)
        changed = self._changed(octets[:at], octets[at : at + 4], octets[at + 4 :])
        return Message(changed, message.invalidated, message.number)

    def _changed(self, before, word, after):
        near = bytes([*word[:3], word[3] ^ 1])
        others = [*WORDS, near, self._random.randbytes(4)]
        value = self._random.choice(others)
        return self._random.choice(
            [before + value + after] * 6 + [before, before + after, before + word * 2 + after]
        )


def pytest_configure(config):
    bender = Bender(os.environ[SEED])
    config.pluginmanager.register(_Cases(bender))
    for module, name in ((connection, "of_message"), (record_connection, "of_record")):
        _bend_outcomes(module, name, bender)
    read = callbacks.read_callback

    def read_callback(message):
        return None if read(message) is None else read(bender.bent(message))

    callbacks.read_callback = read_callback


def _bend_outcomes(module, name, bender):
    real = getattr(module, name)

    def of_bent(conn, call, message):
        # A patient connection prepares the case, or probes.
        return real(conn, call, message if conn.patient else bender.bent(message))

    setattr(module, name, of_bent)


class _Cases:
    def __init__(self, bender):
        self._bender = bender

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        self._bender.begin(item.name)
