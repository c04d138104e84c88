"""Reply chunks of each length around what the reply needs: a word or an octet less, exactly that, more (RFC 8166 3.5.3).

What it needs is the length of the reply to the same call with ample room."""

import pytest

from steertag import wire
from steertag.suite import case, expect, kinds
from steertag.suite.nfs_client.nfs4_client import getattr_of, putfh, read
from ..chunk_checks import OVERRUN, OVERRUN_LATITUDE, expect_alive, read_call
from ..nfs4_checks import status
from ..reply_chunk_checks import LONG_REPLY, expect_long_reply

FITS, OVERRUN_REPORTED = "RFC8166-3.5.3-7", "RFC8267-3.1-1"
BOUNDS = "RFC8166-8.1.4-2"
SMALL_INLINE = wire.PrivateData(send_bytes=1024, receive_bytes=1024)
AMPLE = 1 << 17
# Octets that the chunk has above the need.
ENOUGH = [0, 1, 4]
# Octets that it lacks: one of the roundup, all roundup of a READ, an octet of the item too.
SHORT = [1, 3, 4]
LATITUDE = {
    **OVERRUN_LATITUDE,
    status("NFS4ERR_REP_TOO_BIG"): "an error at NFS level",
    status("NFS4ERR_TOOSMALL"): "an error at NFS level",
    kinds.REPLY: "the result is shortened to fit",
}
DATA = 8189  # octets of a file: roundup of three octets
NAMES = 12


class Read:
    """READ of version 3, whose data end the reply."""

    def __init__(self, bench):
        self.conn = bench.connect()
        self._handle = bench.file(bench.random.randbytes(DATA))

    def call(self):
        return read_call(self.conn, self._handle, DATA)


class Readlink:
    """READLINK of version 3, with thresholds of 1024 octets."""

    def __init__(self, bench):
        self.conn = bench.connect(private_data=SMALL_INLINE)
        self._handle = bench.symlink(bytes(97 + i % 26 for i in range(1001)))

    def call(self):
        return self.conn.nfs_call("READLINK", symlink=self._handle)


class Readdir:
    """READDIR of version 3, with thresholds of 1024 octets."""

    def __init__(self, bench):
        self.conn = bench.connect(private_data=SMALL_INLINE)
        for _ in range(NAMES):
            bench.file(name=bench.name("entry").ljust(121, "x"))
        self._handle = bench.files.base

    def call(self):
        fields = {"cookie": 0, "cookieverf": bytes(8), "count": 8192}
        return self.conn.nfs_call("READDIR", dir=self._handle, **fields)


class Compound:
    """READ in a COMPOUND of version 4.1, with GETATTR behind it."""

    def __init__(self, bench):
        bench.need("nfs41")
        self._session = bench.nfs4_session()
        self.conn = self._session.conn
        self._handle = bench.nfs4_files(self._session).file(bench.random.randbytes(DATA))

    def call(self):
        return self._session.call(putfh(self._handle), read(DATA), getattr_of("size"))


MESSAGES = {"read": Read, "readlink": Readlink, "readdir": Readdir, "compound": Compound}


def ask(message, length):
    """(call, Outcome): one of these calls with a reply chunk of this length, in two segments."""
    call = message.call()
    first = length // 2 | 1
    message.conn.reply_chunk(call, sizes=[first, length - first])
    return call, message.conn.exchange(call)


def long_reply(bench, name):
    """(the message, its results): a long reply with ample room."""
    message = MESSAGES[name](bench)
    call, outcome = ask(message, AMPLE)
    expect_long_reply(outcome, call)
    return message, bytes(outcome.reply_chunk)


@case("server.reply-chunk-length.{name}-{more}-more", requirements=LONG_REPLY)
@pytest.mark.parametrize("more", ENOUGH)
@pytest.mark.parametrize("name", MESSAGES)
def test_enough(bench, name, more):
    """A reply chunk that has room for the reply to the last octet, or a few more, is used."""
    message, known = long_reply(bench, name)
    call, outcome = ask(message, len(known) + more)
    expect_long_reply(outcome, call)
    length = len(outcome.reply_chunk)
    expect.equal(length, len(known), FITS, "octets of the same reply", outcome=outcome)


@case(
    "server.reply-chunk-length.{name}-{less}-less",
    requirements=[*LONG_REPLY, OVERRUN_REPORTED, BOUNDS],
)
@pytest.mark.parametrize("less", SHORT)
@pytest.mark.parametrize("name", MESSAGES)
def test_short(bench, name, less):
    """A reply chunk lacks a few octets: an error, or a shorter result. Nothing is cut off, and nothing is written
    behind the chunk."""
    message, known = long_reply(bench, name)
    room = len(known) - less
    _, outcome = ask(message, room)
    expect(outcome, OVERRUN_REPORTED, must=OVERRUN, latitude=LATITUDE)
    if outcome.kind == kinds.REPLY and outcome.reply_chunk:
        used = len(outcome.reply_chunk)
        expect.at_most(used, room, OVERRUN_REPORTED, "octets of a shorter reply", outcome)
    expect_alive(message.conn, OVERRUN_REPORTED)
