"""References and the state of NFS version 4.1: opens that deny reading, sessions and clients that end
(docs/direct-access.md)."""

import pytest

from steertag.nfs import direct, nfs4
from steertag.suite import case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.nfs4_client import Nfs4Client, putfh
from ..direct_user import DirectUser

PERMITTED, DENIED, ENDED = "ODAFS-8", "ODAFS-11", "ODAFS-12"
NEEDS = ["direct-access", "nfs41"]
OCTETS = 1000
DENY_READ = 1  # OPEN4_SHARE_DENY_READ


@case("server.direct.denied-by-open", requirements=[DENIED, PERMITTED], needs=NEEDS)
def test_denied_by_open(bench):
    """A client opens a file and denies reading. After the reply no frame of another user is valid, and REFS grants
    nothing until CLOSE."""
    content, name = bench.random.randbytes(OCTETS), bench.name("denied")
    session = bench.nfs4_session()
    files = bench.nfs4_files(session)
    handle = files.file(content, name)
    user = DirectUser(bench)
    reference = user.reference(handle)
    user.expect_block(reference, content, DENIED)
    opening = operation(
        "OPEN",
        share_access=nfs4.OPEN4_SHARE_ACCESS_READ,
        share_deny=DENY_READ,
        owner={"clientid": session.client.id, "owner": b"denier"},
        claim={"claim": nfs4.ClaimType.CLAIM_NULL, "file": name},
    )
    session.client.opens = True
    opened = session.run(putfh(files.directory), opening)["OPEN"].resok4
    expect_void(user, reference, DENIED)
    outcome = user.exchange("REFS", user.refs_args(handle))
    expect(outcome, PERMITTED, must=["nfs:NFS4ERR_LOCKED"])
    session.close(handle, opened.stateid)
    user.expect_block(user.reference(handle), content, DENIED)


def _destroy_session(session):
    expect(session.destroy(), ENDED, must=[kinds.REPLY])


def _destroy_client(session):
    gone = operation("DESTROY_CLIENTID", dca_clientid=session.client.id)
    expect(session.conn.exchange(session.conn.compound_call(gone)), ENDED, must=[kinds.REPLY])


def _destroy_both(session):
    _destroy_session(session)
    _destroy_client(session)


def _next_run(session):
    """EXCHANGE_ID with another verifier, and CREATE_SESSION, which confirms it (RFC 8881 18.35.4, case 5)."""
    client = Nfs4Client(session.conn, session.client.owner.decode(), b"next run")
    expect(client.exchange_id(), ENDED, must=[kinds.REPLY])
    expect(client.create_session(), ENDED, must=[kinds.REPLY])


# Name: what comes before HELLO, and what ends the client or its session.
ENDS = {
    "session": (None, _destroy_session),
    "client": (None, _destroy_both),
    "client-without-session": (_destroy_session, _destroy_client),
    "client-replaced": (None, _next_run),
}
USERS, FILES = 2, 3  # of one client


@case("server.direct.ended-{name}", requirements=[ENDED], needs=NEEDS)
@pytest.mark.parametrize("name", ENDS)
def test_ended(bench, name):
    """A session ends, or a client does: by DESTROY_CLIENTID, with a session at HELLO or without one, or by another run
    of it. All references of all its users are void; those of others stay."""
    session = bench.nfs4_session()
    files = bench.nfs4_files(session)
    contents = [bench.random.randbytes(OCTETS) for _ in range(FILES)]
    handles = [files.file(content) for content in contents]
    before, end = ENDS[name]
    if before:
        before(session)
    users = [DirectUser(bench, clientid=session.client.id) for _ in range(USERS)]
    other = DirectUser(bench)
    mine = other.reference(handles[0])
    held = [(user, user.reference(handle)) for user in users for handle in handles]
    for number, (user, reference) in enumerate(held):
        user.expect_block(reference, contents[number % FILES], ENDED)
    end(session)
    for user, reference in held:
        expect_void(user, reference, ENDED)
    other.expect_block(mine, contents[0], ENDED)


def expect_void(user, reference, requirement_id):
    """No valid frame comes: it is invalid, or the connection has ended."""
    frame = user.optimistic.frame(reference)
    data = None if frame is None else direct.open_frame(frame, reference.generation)
    expect.true(data is None, requirement_id, "an old reference leads to no valid frame")
