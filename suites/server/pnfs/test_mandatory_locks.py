"""Mandatory byte-range locks, and data servers (RFC 8881 12.5.1)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.layout_user import LayoutUser
from steertag.suite.nfs_client.nfs4_client import putfh
from .layout_checks import FENCED, NEEDS, NFS4, user_with_layout, written

MANDATORY = "RFC8881-12.5.1-2"
LOCKED = "nfs:NFS4ERR_LOCKED"


def lock(user, length):
    """The Outcome of LOCK of the file's first octets, for writing."""
    owner = {
        "open_stateid": user.stateid,
        "lock_owner": {"clientid": user.client.id, "owner": b"locker"},
    }
    asked = operation(
        "LOCK",
        locktype=NFS4.LockType.WRITE_LT,
        length=length,
        locker={"new_lock_owner": True, "open_owner": owner},
    )
    return user.session.exchange_in_time(putfh(user.handle), asked)


@case("server.pnfs.mandatory-lock.{io}", requirements=[MANDATORY], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("io", ["read", "write"])
def test_lock(bench, io):
    """A client has a layout, and another one locks the first stripe unit. If the lock is mandatory at the metadata
    server, it is at the data server too."""
    bench.serve_with("--mandatory-locks")
    user = user_with_layout(bench)
    content = written(bench, user, MANDATORY)
    part = user.parts()[0]
    data = content[part.start : part.start + part.length]
    locker = LayoutUser(bench, name=user.name)
    outcome = lock(locker, part.length)
    if outcome.kind != kinds.REPLY:
        bench.not_testable(f"LOCK of a file with a layout gave {outcome.kind}")
    where = user.session, user.handle, part.start
    if io == "read":
        served = user.read_at(*where, part.length, user.stateid)
    else:
        served = user.write_at(*where, data, user.stateid)
    if served.kind != LOCKED:
        bench.not_testable("byte-range locks of the target are advisory")
    again = user.read_part(part) if io == "read" else user.write_part(part, content)
    expect(again, MANDATORY, must=[LOCKED, *FENCED])
