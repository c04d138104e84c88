"""Leases that end: of a client that has references, and of a ticket (docs/direct-access.md)."""

import time

from steertag.nfs import nfs4
from steertag.suite import case, expect, kinds
from steertag.suite.nfs_client.nfs4_client import getattr_of, putfh
from ..direct_user import DirectUser
from ..short_lease import need_short
from .test_direct_connection import expect_no_connection
from .test_direct_state import expect_void

ENDED, TIMES, REGISTERED, TICKET = "ODAFS-12", "ODAFS-25", "ODAFS-26", "ODAFS-29"
NEEDS = ["direct-access"]
OCTETS = 1000
# From the end of a lease to the look at what it leaves: a server may look for such ends once a second.
AFTER_MS = 2500
# Between two Reads.
PAUSE_MS = 250
# Seconds, where a server names no lease.
NO_LEASE = 1 << 32


def _wait(user, until):
    """Waits until this time.monotonic(), or the end of the user's RPC connection."""
    left_ms = 1000 * (until - time.monotonic())
    if left_ms > 0:
        user.conn.wait_closed(left_ms)


def _lease_time(session, handle):
    found = session.run(putfh(handle), getattr_of("lease_time"))
    return nfs4.attributes(found["GETATTR"].resok4.obj_attributes).get("lease_time", NO_LEASE)


@case("server.direct.lease-over", requirements=[ENDED, TIMES, REGISTERED], needs=[*NEEDS, "nfs41"])
def test_lease_over(bench):
    """Two clients hold references and renew no lease of NFS; one reads by them all the time. Both leases end, and with
    them the references, which REFS has renewed. Those of a user without a client stay."""
    content = bench.random.randbytes(OCTETS)
    silent, reading = bench.nfs4_session(), bench.nfs4_session()
    handle = bench.nfs4_files(reading).file(content)
    lease_s = _lease_time(reading, handle)
    need_short(bench, lease_s)
    sessions = [silent, reading]
    users = [DirectUser(bench, clientid=session.client.id) for session in sessions]
    other = DirectUser(bench)
    held = [user.reference(handle) for user in users]
    mine = other.reference(handle)
    for session in sessions:
        session.run("PUTROOTFH")
    end = time.monotonic() + lease_s
    while time.monotonic() < end + AFTER_MS / 1000:
        for user in (*users, other):
            user.exchange("REFS", user.refs_args(handle, 1))
        frame = users[1].optimistic.frame(held[1]) if users[1].optimistic.open else None
        if time.monotonic() < end - 1:
            expect.true(frame is not None, REGISTERED, "a Read within the lease completes")
        if other.conn.wait_closed(PAUSE_MS):
            break
    over = silent.exchange("PUTROOTFH")
    if over.kind == kinds.REPLY:
        bench.not_testable("the server keeps a client whose lease is over")
    expect(reading.exchange("PUTROOTFH"), TIMES, must=[over.kind])
    for user, reference in zip(users, held):
        expect_void(user, reference, ENDED)
    other.expect_block(mine, content, ENDED)


@case("server.direct.ticket-late", requirements=[TICKET], needs=NEEDS, hostile=True)
def test_late_ticket(bench):
    """Two tickets: one is used within its lease, and opens a connection. The other one is used after its lease, and is
    refused."""
    prompt, late = DirectUser(bench, opens=False), DirectUser(bench, opens=False)
    lease_s = late.terms.lease_seconds
    need_short(bench, lease_s)
    begin = time.monotonic()
    _wait(prompt, begin + lease_s / 2)
    good = prompt.try_ticket(prompt.terms.ticket)
    expect.true(good.open, TICKET, "a ticket opens a connection within its lease")
    _wait(late, begin + lease_s + AFTER_MS / 1000)
    expect_no_connection(late.try_ticket(late.terms.ticket), "a ticket whose lease is over")
