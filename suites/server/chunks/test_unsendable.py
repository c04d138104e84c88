"""Replies that cannot be formed or sent as the call offers (RFC 8166 4.5.4).

Every such call is answered, or the connection ends."""

import pytest

from steertag import wire
from steertag.suite import case, expect, kinds
from ..chunk_checks import OVERRUN, OVERRUN_LATITUDE, read_call

RULE = "RFC8166-4.5.4-3"
SMALL_INLINE = wire.PrivateData(send_bytes=4096, receive_bytes=1024)
ASKED = 4096
# Any outcome that tells the requester the fate of its call.
ANSWERS = [kinds.REPLY, *OVERRUN, *OVERRUN_LATITUDE, kinds.VIOLATION]
ELSEWHERE = dict.fromkeys(
    ("RFC8166-3.5.3-7", "RFC8166-3.3.3-7", "RFC8797-4.2-5", "RFC8166-4.3.2-3", "RFC8166-3.4.6-4"),
    "asserted by the cases of reply-chunk, write-chunk and threshold",
)


def _nothing(conn, call):
    """No chunk at all."""


def _small_reply_chunk(conn, call):
    conn.reply_chunk(call, length=64)


def _small_write_chunk(conn, call):
    conn.write_chunk(call, length=64)


def _unused_words(conn, call):
    """A chunk list that is longer than the client's receive, and is returned in the reply."""
    offer = conn.offer(ASKED, write=True)
    call.add_write_chunk([offer.segment(64, offset=64 * each) for each in range(64)])
    call.offers.append(offer)


OFFERS = {
    "no-chunk": _nothing,
    "small-reply-chunk": _small_reply_chunk,
    "small-write-chunk": _small_write_chunk,
    "long-write-list": _unused_words,
}


@case("server.unsendable.{name}", requirements=[RULE], tolerates=ELSEWHERE)
@pytest.mark.parametrize("name", OFFERS)
def test_no_room(bench, name):
    """READ of 4096 octets with a threshold of 1024, and chunks that cannot hold the reply. The
    server replies all the same, reports an error, or ends the connection. Silence is wrong."""
    if name == "long-write-list":  # The call has more octets than the default threshold.
        bench.need("large-inline")
    handle = bench.file(bench.random.randbytes(ASKED))
    conn = bench.connect(private_data=SMALL_INLINE)
    call = read_call(conn, handle, ASKED)
    OFFERS[name](conn, call)
    expect(conn.exchange(call), RULE, must=ANSWERS)


@case("server.unsendable.among-others", requirements=[RULE], tolerates=ELSEWHERE)
def test_among_others(bench):
    """A call whose reply cannot be formed, among good ones: each is answered, or the connection
    ends."""
    handle = bench.file(bench.random.randbytes(ASKED))
    conn = bench.connect(private_data=SMALL_INLINE)
    calls = [conn.null_call(), read_call(conn, handle, ASKED), conn.null_call()]
    outcomes = conn.collect(calls[: conn.window])
    for call in calls[: conn.window]:
        expect(outcomes[call.xid], RULE, must=ANSWERS)
