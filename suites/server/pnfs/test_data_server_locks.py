"""Stateids of byte-range locks and delegations at data servers, while they last and afterwards (RFC 8881 13.9.1)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.layout_user import LayoutUser, READ_LAYOUT
from steertag.suite.nfs_client.nfs4_client import putfh
from ..nfs4_checks import READ, WANT_READ
from .layout_checks import BAD_STATEID, NEEDS, NFS4, user_with_layout, written
from .test_mandatory_locks import lock

EFFECT = "RFC8881-13.9.1-4"
OCTETS = 3 * 65536
MOST_OPENS = 4  # beside the first one, until one of them gets a delegation


def _for_io(stateid):
    """The stateid as data servers take it."""
    return NFS4.StateId(seqid=0, other=stateid.other)


def _unlock(user, part, stateid):
    """LOCKU of the part. The stateid is left."""
    back = operation(
        "LOCKU", locktype=NFS4.LockType.WRITE_LT, lock_stateid=stateid, length=part.length
    )
    return user.session.run(putfh(user.handle), back)["LOCKU"].resok4.lock_stateid


@case("server.pnfs.stateid.lock-{end}-{io}", requirements=[EFFECT], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("io", ["read", "write"])
@pytest.mark.parametrize("end", ["held", "unlocked", "freed"])
def test_lock(bench, end, io):
    """I/O at a data server by the stateid of a lock is served while the lock is held. After LOCKU, and after
    FREE_STATEID, the stateid has there what it has at the metadata server."""
    user = user_with_layout(bench)
    content = written(bench, user, EFFECT)
    part = user.parts()[0]
    outcome = lock(user, part.length)
    if outcome.kind != kinds.REPLY:
        bench.not_testable(f"LOCK of a file with a layout gave {outcome.kind}")
    stateid = outcome.result["LOCK"].resok4.lock_stateid

    def attempt():
        if io == "read":
            return user.read_part(part, _for_io(stateid))
        return user.write_part(part, content, _for_io(stateid))

    expect(attempt(), EFFECT, must=[kinds.REPLY])
    if end == "held":
        return
    stateid = _unlock(user, part, stateid)
    if end == "freed":
        user.session.run(operation("FREE_STATEID", fsa_stateid=stateid))
    where = user.session, user.handle, part.start, part.length, _for_io(stateid)
    at_metadata_server = user.read_at(*where)
    if end == "freed":
        expect(at_metadata_server, EFFECT, must=BAD_STATEID)
    expect(attempt(), EFFECT, must=[at_metadata_server.kind])


def _delegated(bench, user):
    """The stateid of a read delegation of the user's file."""
    directory = bench.nfs4_files(user.session).directory
    granted = user.delegation
    for _ in range(MOST_OPENS):
        if granted.delegation_type == NFS4.DelegationType.OPEN_DELEGATE_READ:
            return granted.read.stateid
        opened, _ = user.session.open(directory, user.name, READ | WANT_READ)
        granted = opened.delegation
    return bench.not_testable("OPEN of a file with a layout gives no read delegation")


@case(
    "server.pnfs.stateid.delegation-{end}",
    requirements=[EFFECT],
    needs=[*NEEDS, "delegations"],
    over=ANY,
)
@pytest.mark.parametrize("end", ["held", "returned"])
def test_delegation(bench, end):
    """READ at a data server by the stateid of a read delegation is served, and after DELEGRETURN it is refused. The file
    is still open."""
    name = bench.name("delegated")
    bench.file(bench.random.randbytes(OCTETS), name)
    user = LayoutUser(bench, access=READ | WANT_READ, name=name)
    user.use_layout(loga_iomode=READ_LAYOUT)
    part = user.parts(OCTETS)[0]
    stateid = _delegated(bench, user)
    expect(user.read_part(part, _for_io(stateid)), EFFECT, must=[kinds.REPLY])
    if end == "held":
        return
    expect(user.session.return_delegation(user.handle, stateid), EFFECT, must=[kinds.REPLY])
    expect(user.read_part(part, _for_io(stateid)), EFFECT, must=BAD_STATEID)
    expect(user.read_part(part), EFFECT, must=[kinds.REPLY])
