"""Calls whose reply no chunk can take, repeated over a new connection (RFC 8166 4.5.3).

A server may lose the connection over such a call. What the client repeats then has to get an answer
some time, or the call is sent for ever."""

import pytest

from steertag.suite import case, expect, kinds
from ..chunk_checks import OVERRUN, OVERRUN_LATITUDE, read_call
from ..message_words import renumber

RETRIED = "RFC8166-4.5.3-4"
LENGTH = 8192
ROOM = 1000
# Connections over which a call is sent at most: only the last one has to survive it.
MOST_CONNECTIONS = 3
ANSWERS = (
    kinds.REPLY,
    *OVERRUN,
    *(kind for kind in OVERRUN_LATITUDE if kind not in kinds.CLOSED),
)


def _write_chunk(conn, call):
    conn.write_chunk(call, length=ROOM)


def _reply_chunk(conn, call):
    conn.reply_chunk(call, length=ROOM)


def _both(conn, call):
    _write_chunk(conn, call)
    _reply_chunk(conn, call)


OFFERS = {"write-chunk": _write_chunk, "reply-chunk": _reply_chunk, "both": _both}


@case("server.overrun.retried-{name}", requirements=[RETRIED])
@pytest.mark.parametrize("name", OFFERS)
def test_retried(bench, name):
    """READ of 8192 octets with room for 1000. If the connection ends, the call is sent again over
    another one, with its XID. At the third one at the latest it gets an answer."""
    handle = bench.file(bench.random.randbytes(LENGTH))
    xid = None
    for number in range(MOST_CONNECTIONS):
        conn = bench.connect()
        call = read_call(conn, handle, LENGTH)
        if xid is not None:
            renumber(call, xid)
        xid = call.xid
        OFFERS[name](conn, call)
        may_end = kinds.CLOSED if number + 1 < MOST_CONNECTIONS else ()
        outcome = expect(conn.exchange(call), RETRIED, must=[*ANSWERS, *may_end])
        if outcome.kind in ANSWERS:
            return
