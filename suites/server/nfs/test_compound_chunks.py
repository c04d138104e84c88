"""The chunk of one operation among others, in NFS version 4.0 and 4.1, in calls that are long or not.

Lengths are at words, pages and 64 KiB, or an octet beside them. What follows the reduced item has to be found
again (RFC 8166 3.4.4.1, 3.4.5; RFC 8267 6.1)."""

import pytest

from steertag.suite import case, expect
from steertag.suite.nfs_client.nfs4_client import read, write
from ..chunk_checks import MOST_SEGMENTS, chunk_length
from .compounds import Compounds, VERSIONS
from ..list_words import filled
from ..nfs4_checks import note_fewer

WRITE_DATA, READ_DATA = "RFC8267-6.1-1", "RFC8267-6.1-3"
IN_CHUNK = "RFC8267-6.4.1-4"
JOINED, FILLED = "RFC8166-3.4.5-5", "RFC8166-3.4.6-3"
LENGTHS = [1, 4095, 4096, 4097, 65537]
FORMS = ["short", "long"]
# Sizes of the segments of a chunk, as many as every server takes.
SMALL = {
    "octets": [1] * MOST_SEGMENTS,
    "words": [4] * MOST_SEGMENTS,
    "growing": list(range(1, MOST_SEGMENTS + 1)),
    "page-last": [1] * (MOST_SEGMENTS - 1) + [4097],
}
OLD = b"?"


def expect_write(compounds, content, sizes, is_long, requirement_id):
    """A WRITE by a read chunk with segments of these sizes stores the data."""
    call = compounds.call(write(content))
    compounds.conn.reduce_all(call, sizes)
    outcome = compounds.exchange(call, is_long, requirement_id)
    count = outcome.result["WRITE"].resok4.count
    if 0 < count < len(content):
        note_fewer(WRITE_DATA, "a WRITE")
        content = content[:count]
    expect.equal(count, len(content), WRITE_DATA, "count of WRITE", outcome=outcome)
    compounds.expect_behind(outcome, len(content), JOINED)
    stored = compounds.content()
    expect.data(stored, content, requirement_id, "content of the file", outcome=outcome)


def expect_read(compounds, content, sizes, is_long, requirement_id):
    """A READ into a write chunk with segments of these sizes gives what the file holds, as far as they go."""
    call = compounds.call(read(sum(sizes)))
    compounds.conn.write_chunk(call, sizes=sizes)
    outcome = compounds.exchange(call, is_long, READ_DATA)
    found, size = outcome.result["READ"].resok4, len(content)
    content = content[: sum(sizes)]
    if not found.eof and 0 < len(found.data) < len(content):
        note_fewer(READ_DATA, "a READ")
        content = content[: len(found.data)]
    returned = outcome.returned()
    octets = chunk_length(returned)
    expect.equal(octets, len(content), IN_CHUNK, "octets in the write chunk", outcome=outcome)
    lengths = [segment.length for segment in returned]
    wanted = filled(call.write_list[0].segments, len(content))
    expect.equal(lengths, wanted, FILLED, "lengths of the segments", outcome=outcome)
    expect.data(found.data, content, requirement_id, "octets of the file", outcome=outcome)
    compounds.expect_behind(outcome, size, IN_CHUNK)


@case("server.compound-chunks.write-{version}-{form}-{length}", requirements=[WRITE_DATA, JOINED])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("version", VERSIONS)
def test_write(bench, version, form, length):
    """WRITE with its data in one segment, between other operations. In a long call these are in a chunk too."""
    compounds = Compounds(bench, version, OLD)
    content = bench.random.randbytes(length)
    expect_write(compounds, content, [length], form == "long", WRITE_DATA)


@case(
    "server.compound-chunks.read-{version}-{form}-{length}",
    requirements=[READ_DATA, IN_CHUNK, FILLED],
)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("version", VERSIONS)
def test_read(bench, version, form, length):
    """READ into one segment, between other operations, by a call that is long or not. The file is an octet longer."""
    content = bench.random.randbytes(length + 1)
    compounds = Compounds(bench, version, content)
    expect_read(compounds, content, [length], form == "long", READ_DATA)


@case(
    "server.compound-chunks.small-segments-{version}-{form}-{name}",
    requirements=[WRITE_DATA, JOINED, READ_DATA, IN_CHUNK, FILLED],
)
@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("version", VERSIONS)
def test_small_segments(bench, version, form, name):
    """Data come from sixteen small segments, and go back to as many."""
    compounds = Compounds(bench, version, OLD)
    sizes, is_long = SMALL[name], form == "long"
    content = bench.random.randbytes(sum(sizes))
    expect_write(compounds, content, sizes, is_long, JOINED)
    expect_read(compounds, content, sizes, is_long, FILLED)
