"""READ, WRITE and COMMIT at the bounds of their arguments: no octets, and places behind every file.

RFC 1813 3.3.6, 3.3.7 and 3.3.21, RFC 8881 18.22.3 and 18.32.3."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.nfs4_client import getattr_of, putfh, read, write
from ..chunk_checks import AT_END, NO_READ, NO_WRITE
from ..nfs4_checks import NFS4, with_file

COMMITS = "RFC1813-3.3.21-2"
NO_READ_4, AT_END_4, NO_WRITE_4 = "RFC8881-18.22.3-1", "RFC8881-18.22.3-2", "RFC8881-18.32.3-3"
CONTENT = bytes(range(200))
SIZE = len(CONTENT)
# Octets asked for behind the end.
ASKED = 4096
# Where nothing is read or written.
PLACES = {"start": 0, "inside": 100, "end": SIZE, "behind": 2 * SIZE}
# Offsets at or behind the end of the file.
OFFSETS = {
    "end": SIZE,
    "next": SIZE + 1,
    "largest-signed": (1 << 63) - 1,
    "highest-bit": 1 << 63,
    "largest": (1 << 64) - 1,
}
# Offset and count of COMMIT. A count of zero reaches to the end of the file.
RANGES = {
    "whole": (0, 0),
    "largest-count": (0, (1 << 32) - 1),
    "behind": (2 * SIZE, 100),
    "from-highest-bit": (1 << 63, 0),
    "into-highest-bit": ((1 << 63) - 1, 2),
    "last-octet": ((1 << 64) - 1, 1),
    "wraps": ((1 << 64) - 1, (1 << 32) - 1),
}
STABLE = {"unstable": 0, "file-sync": 2}


def answer(conn, requirement_id, procedure, **fields):
    """The Outcome of a call of version 3 that succeeds."""
    outcome = conn.exchange(conn.nfs_call(procedure, **fields))
    return expect(outcome, requirement_id, must=[kinds.REPLY])


def expect_nothing_read(outcome, found, requirement_id):
    expect.equal(len(found.data), 0, requirement_id, "octets of READ", outcome=outcome)


@case("server.transfer.read-nothing-v3-{place}", requirements=[NO_READ], over=ANY)
@pytest.mark.parametrize("place", PLACES)
def test_read_nothing(bench, place):
    """A READ with a count of zero succeeds, wherever it starts."""
    handle = bench.file(CONTENT)
    conn = bench.connect()
    outcome = answer(conn, NO_READ, "READ", file=handle, offset=PLACES[place], count=0)
    expect.equal(outcome.result.ok.count, 0, NO_READ, "count of READ", outcome=outcome)
    expect_nothing_read(outcome, outcome.result.ok, NO_READ)


@case("server.transfer.read-behind-v3-{name}", requirements=[AT_END], over=ANY)
@pytest.mark.parametrize("name", OFFSETS)
def test_read_behind(bench, name):
    """A READ at or behind the end of the file succeeds with no octets, and eof is set."""
    handle = bench.file(CONTENT)
    conn = bench.connect()
    outcome = answer(conn, AT_END, "READ", file=handle, offset=OFFSETS[name], count=ASKED)
    expect.equal(outcome.result.ok.count, 0, AT_END, "count of READ", outcome=outcome)
    expect_nothing_read(outcome, outcome.result.ok, AT_END)
    expect.true(outcome.result.ok.eof, AT_END, "eof is set", outcome=outcome)


@case("server.transfer.write-nothing-v3-{place}-{stable}", requirements=[NO_WRITE], over=ANY)
@pytest.mark.parametrize("stable", STABLE)
@pytest.mark.parametrize("place", PLACES)
def test_write_nothing(bench, place, stable):
    """A WRITE of no octets succeeds with a count of zero, and the file stays as it is."""
    handle = bench.file(CONTENT)
    conn = bench.connect()
    fields = {"file": handle, "offset": PLACES[place], "count": 0, "data": b""}
    outcome = answer(conn, NO_WRITE, "WRITE", stable=STABLE[stable], **fields)
    expect.equal(outcome.result.ok.count, 0, NO_WRITE, "count of WRITE", outcome=outcome)
    expect.data(bench.read_back(handle), CONTENT, NO_WRITE, "content of the file")


@case("server.transfer.commit-v3-{name}", requirements=[COMMITS], over=ANY)
@pytest.mark.parametrize("name", RANGES)
def test_commit(bench, name):
    """A COMMIT of any range succeeds, behind an UNSTABLE WRITE."""
    handle = bench.file()
    conn = bench.connect()
    octets = {"file": handle, "offset": 0, "count": SIZE, "stable": 0, "data": CONTENT}
    answer(conn, COMMITS, "WRITE", **octets)
    offset, count = RANGES[name]
    answer(conn, COMMITS, "COMMIT", file=handle, offset=offset, count=count)


@case(
    "server.transfer.read-nothing-v4.1-{place}",
    requirements=[NO_READ_4],
    needs=["nfs41"],
    over=ANY,
)
@pytest.mark.parametrize("place", PLACES)
def test_read_nothing_in_a_session(bench, place):
    """A READ with a count of zero succeeds, wherever it starts."""
    session, handle = with_file(bench, CONTENT)
    outcome = session.exchange(putfh(handle), read(0, PLACES[place]))
    expect(outcome, NO_READ_4, must=[kinds.REPLY])
    expect_nothing_read(outcome, outcome.result["READ"].resok4, NO_READ_4)


@case("server.transfer.read-behind-v4.1-{name}", requirements=[AT_END_4], needs=["nfs41"], over=ANY)
@pytest.mark.parametrize("name", OFFSETS)
def test_read_behind_in_a_session(bench, name):
    """A READ at or behind the end of the file succeeds with no octets, and eof is set."""
    session, handle = with_file(bench, CONTENT)
    outcome = session.exchange(putfh(handle), read(ASKED, OFFSETS[name]))
    expect(outcome, AT_END_4, must=[kinds.REPLY])
    found = outcome.result["READ"].resok4
    expect_nothing_read(outcome, found, AT_END_4)
    expect.true(found.eof, AT_END_4, "eof is set", outcome=outcome)


@case(
    "server.transfer.write-nothing-v4.1-{place}-{stable}",
    requirements=[NO_WRITE_4],
    needs=["nfs41"],
    over=ANY,
)
@pytest.mark.parametrize("stable", STABLE)
@pytest.mark.parametrize("place", PLACES)
def test_write_nothing_in_a_session(bench, place, stable):
    """A WRITE of no octets succeeds with a count of zero, and the file stays as large as it is."""
    session, handle = with_file(bench, CONTENT)
    empty = write(b"", PLACES[place], stable=NFS4.StableHow(STABLE[stable]))
    outcome = session.exchange(putfh(handle), empty, getattr_of("size"))
    expect(outcome, NO_WRITE_4, must=[kinds.REPLY])
    count = outcome.result["WRITE"].resok4.count
    expect.equal(count, 0, NO_WRITE_4, "count of WRITE", outcome=outcome)
    size = NFS4.attributes(outcome.result["GETATTR"].resok4.obj_attributes)["size"]
    expect.equal(size, SIZE, NO_WRITE_4, "size behind WRITE", outcome=outcome)
