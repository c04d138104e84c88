"""Replies with two results, at least one of them inline (RFC 8166 3.3.2, 3.4.6, 4.2.4).

At the reply inline threshold the roundup of each counts."""

import pytest

from steertag import wire
from steertag.suite import case, expect, kinds
from steertag.suite.nfs_client.nfs4_client import read
from ..chunk_checks import OVERRUN, OVERRUN_LATITUDE
from ..list_words import filled
from ..threshold_checks import expect_within, WATCHING_RECEIVES
from .compounds import Compounds, VERSIONS

COUNTED, FILLED, LONG = "RFC8166-4.2.4-6", "RFC8166-3.4.6-5", "RFC8166-3.5.3-7"
SMALL = wire.PrivateData(send_bytes=4096, receive_bytes=1024)
# Octets of roundup of the two results: together at least a word, so that without it the reply would fit.
ROUNDUPS = {"3-3": (3, 3), "3-1": (3, 1), "2-2": (2, 2)}


def two_reads(bench, version, words, roundups):
    """(Compounds, Outcome) of a COMPOUND with two READs. Its reply has so many words more than the threshold."""
    content = bench.random.randbytes(SMALL.receive_bytes)
    settings = {"private_data": SMALL, "receive_bytes": WATCHING_RECEIVES}
    compounds = Compounds(bench, version, content, **settings)
    conn = compounds.conn
    plain = expect(conn.exchange(compounds.call(read(4), read(4))), COUNTED, must=[kinds.REPLY])
    room = conn.negotiated.to_client_bytes - (len(plain.raw) - 8)
    first = room // 8 * 4
    counts = (first - roundups[0], room + 4 * words - first - roundups[1])
    return compounds, conn.exchange(compounds.call(*(read(count) for count in counts)))


@case("server.threshold.two-results-{version}-{name}", requirements=[COUNTED])
@pytest.mark.parametrize("name", ROUNDUPS)
@pytest.mark.parametrize("version", VERSIONS)
def test_above(bench, version, name):
    """A reply that would fit the threshold without the roundup of its two results: no Send above it. There is no
    reply chunk."""
    compounds, outcome = two_reads(bench, version, 1, ROUNDUPS[name])
    if outcome.kind == kinds.REPLY:
        expect_within(compounds.conn, outcome, COUNTED)
    else:
        expect(outcome, COUNTED, must=OVERRUN, latitude=OVERRUN_LATITUDE)


@case("server.threshold.two-results-{version}-fit", requirements=[COUNTED])
@pytest.mark.parametrize("version", VERSIONS)
def test_fit(bench, version):
    """A reply of exactly the threshold, with the roundup of its two results, is inline."""
    _, outcome = two_reads(bench, version, 0, ROUNDUPS["3-3"])
    expect(outcome, COUNTED, must=[kinds.REPLY])


@case("server.reply-chunk.beside-roomy-write-chunk-{version}", requirements=[FILLED, LONG])
@pytest.mark.parametrize("version", VERSIONS)
def test_roomy_write_chunk(bench, version):
    """One READ goes into half of a write chunk. Another one makes the reply too long, so that it goes into the reply
    chunk. The returned lengths are what was written, in both."""
    length = 3 * SMALL.receive_bytes
    content = bench.random.randbytes(length)
    settings = {"private_data": SMALL, "receive_bytes": WATCHING_RECEIVES}
    compounds = Compounds(bench, version, content, **settings)
    conn = compounds.conn
    call = compounds.call(read(length), read(length))
    conn.write_chunk(call, sizes=[length - 8, length + 8])
    conn.reply_chunk(call, length=2 * length)
    outcome = expect(conn.exchange(call), LONG, must=[kinds.REPLY])
    first, second = (each.resok4 for each in outcome.result.all("READ"))
    long_reply = outcome.header.proc == wire.Procedure.NOMSG
    expect.true(long_reply, LONG, "the reply is in the reply chunk", outcome=outcome)
    lengths = [segment.length for segment in outcome.returned()]
    wanted = filled(call.write_list[0].segments, len(first.data))
    expect.equal(lengths, wanted, FILLED, "lengths of the write chunk's segments", outcome=outcome)
    for found in (first, second):
        expect.data(found.data, content[: len(found.data)], LONG, "octets of the file")
