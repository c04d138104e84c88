"""The current stateid, and what OPEN_DOWNGRADE gives back (RFC 8881 16.2.3.1.2, 18.18)."""

import dataclasses

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.nfs4_client import putfh, read
from ..nfs4_checks import expect_reads, NFS4, READ, status

CURRENT, DOWNGRADED = "RFC8881-16.2.3.1.2-1", "RFC8881-18.18.3-1"
OCTETS = 100
BOTH, WRITE = NFS4.OPEN4_SHARE_ACCESS_BOTH, NFS4.OPEN4_SHARE_ACCESS_WRITE
DENY_NONE, DENY_WRITE = 0, 2  # of share_deny (RFC 8881 18.16.1)
# Stands for the stateid that an operation before it has set.
CURRENT_STATEID = NFS4.StateId(seqid=1, other=bytes(12))
DENIED, BAD_STATEID = status("NFS4ERR_SHARE_DENIED"), status("NFS4ERR_BAD_STATEID")


class Opened:
    """A session that may open a file, which is there, and knows another one."""

    def __init__(self, bench):
        self.content = bench.random.randbytes(OCTETS)
        self.name, other = bench.name("file"), bench.name("other")
        bench.file(self.content, self.name)
        bench.file(b"", other)
        self.session = bench.nfs4_session()
        files = bench.nfs4_files(self.session)
        self.directory = files.directory
        self.handle, self.other = files.handle(self.name), files.handle(other)

    def open(self):
        """The operations of an OPEN for reading."""
        return [putfh(self.directory), self.session.open_operation(self.name)]

    def read(self):
        return read(OCTETS, stateid=CURRENT_STATEID)

    def exchange(self, *operations):
        """The Outcome of the operations."""
        return self.session.exchange_in_time(*operations)


@case("server.nfs4.current-stateid.{name}", requirements=[CURRENT], needs=["nfs41"], over=ANY)
@pytest.mark.parametrize("name", ["opened", "restored"])
def test_passed_on(bench, name):
    """READ has the stateid that OPEN returned in the same COMPOUND. SAVEFH and RESTOREFH keep it with the filehandle,
    whatever file is between them."""
    opened = Opened(bench)
    between = ["SAVEFH", putfh(opened.other), "RESTOREFH"] if name == "restored" else []
    expect_reads(opened.exchange(*opened.open(), *between, opened.read()), CURRENT, opened.content)


@case(
    "server.nfs4.current-stateid.{name}",
    requirements=[CURRENT],
    needs=["nfs41"],
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("name", ["none", "other-file", "same-file", "saved-before", "closed"])
def test_not_passed_on(bench, name):
    """The current stateid of READ is all zeros, or that of a closed file: NFS4ERR_BAD_STATEID."""
    opened = Opened(bench)
    close = operation("CLOSE", open_stateid=CURRENT_STATEID)
    operations = {
        "none": [putfh(opened.handle)],
        "other-file": [*opened.open(), putfh(opened.other)],
        "same-file": [*opened.open(), putfh(opened.handle)],
        "saved-before": [putfh(opened.handle), "SAVEFH", *opened.open(), "RESTOREFH"],
        "closed": [*opened.open(), close],
    }[name]
    outcome = opened.exchange(*operations, opened.read())
    expect(outcome, CURRENT, must=[BAD_STATEID])


def opening(session, name, access, deny):
    """OPEN with these share bits."""
    what, args = session.open_operation(name, access)
    return what, dataclasses.replace(args, share_deny=deny)


# What the first client opens beside READ, and what another one cannot open until the first has only READ: its access
# and deny bits.
GIVEN_BACK = {
    "denial": ((READ, DENY_WRITE), (WRITE, DENY_NONE)),
    "access": ((BOTH, DENY_NONE), (READ, DENY_WRITE)),
    "both": ((BOTH, DENY_WRITE), (WRITE, DENY_NONE)),
}


@case("server.nfs4.downgrade.{name}", requirements=[DOWNGRADED], needs=["nfs41"], over=ANY)
@pytest.mark.parametrize("name", GIVEN_BACK)
def test_given_back(bench, name):
    """A client opens a file twice, and goes back to its first open. Another client may open it now as it could not
    before."""
    more, wanted = GIVEN_BACK[name]
    opened = Opened(bench)
    session, other = opened.session, bench.nfs4_session()
    taken = [putfh(opened.directory), opening(session, opened.name, READ, DENY_NONE)]
    session.run(*taken)
    stateid = session.run(putfh(opened.directory), opening(session, opened.name, *more))[
        "OPEN"
    ].resok4.stateid
    directory = bench.nfs4_files(other).directory
    attempt = (putfh(directory), opening(other, opened.name, *wanted), "GETFH")
    expect(other.exchange_in_time(*attempt), DOWNGRADED, must=[DENIED])
    less = {"share_access": READ, "share_deny": DENY_NONE}
    back = operation("OPEN_DOWNGRADE", open_stateid=stateid, seqid=0, **less)
    done = expect(
        session.exchange_in_time(putfh(opened.handle), back), DOWNGRADED, must=[kinds.REPLY]
    )
    got = expect(other.exchange_in_time(*attempt), DOWNGRADED, must=[kinds.REPLY])
    other.close(got.result["GETFH"].resok4.object, got.result["OPEN"].resok4.stateid)
    session.close(opened.handle, done.result["OPEN_DOWNGRADE"].resok4.open_stateid)
