"""Recoverable refusals of RDMA Reads, where client and server know them (docs/direct-access.md)."""

import pytest

from steertag.nfs import direct
from steertag.suite import case, expect
from ..direct_user import DirectUser

REFUSAL = "ODAFS-34"
NEEDS = ["direct-access"]
OCTETS = 1000  # of a file that has one block
READS = 3  # in flight


def _guessed(reference):
    return reference.stag ^ 0x01, reference.base, reference.length


def _one_octet_more(reference):
    length = reference.length + direct.FRAME_OCTETS
    return reference.stag, reference.base + 1, length


# Name: which of the Reads in flight is bad, and how.
BAD = {
    "first": (0, _guessed),
    "middle": (1, _guessed),
    "last": (2, _guessed),
    "bounds": (1, _one_octet_more),
}


@case("server.direct.refused-{name}", requirements=[REFUSAL], needs=NEEDS, hostile=True)
@pytest.mark.parametrize("name", BAD)
def test_refused(bench, name):
    """Three RDMA Reads in flight, and one is of memory that is not open. It alone gives nothing: the others are
    answered, and the connection lives on."""
    content = bench.random.randbytes(OCTETS)
    handle = bench.file(content)
    user = DirectUser(bench, opens=False)
    user.open(recoverable=True)
    if not user.optimistic.recovers:
        bench.unsupported("the server's private data do not say that refusals may be recoverable")
    reference = user.reference(handle)
    bad, make = BAD[name]
    reads = [(reference.stag, reference.base, reference.length + direct.FRAME_OCTETS)] * READS
    reads[bad] = make(reference)
    started = [user.optimistic.start(*each) for each in reads]
    frames = [user.optimistic.finish(each) for each in started]
    expect.true(frames[bad] is None, REFUSAL, "the bad Read gives no octets")
    for frame in frames[:bad] + frames[bad + 1 :]:
        expect.true(frame is not None, REFUSAL, "a Read beside the bad one is answered")
        expect.data(direct.open_frame(frame, reference.generation), content, REFUSAL, "its data")
    user.expect_block(reference, content, REFUSAL)
