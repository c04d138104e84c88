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
    _expect_void(user, reference, DENIED)
    outcome = user.exchange("REFS", user.refs_args(handle))
    expect(outcome, PERMITTED, must=["nfs:NFS4ERR_LOCKED"])
    session.close(handle, opened.stateid)
    user.expect_block(user.reference(handle), content, DENIED)


@case("server.direct.ended-{name}", requirements=[ENDED], needs=NEEDS)
@pytest.mark.parametrize("name", ["session", "client", "client-replaced"])
def test_ended(bench, name):
    """The session of a user ends, or its client does by DESTROY_CLIENTID or by another run of it. Its references are
    void; those of others stay."""
    content = bench.random.randbytes(OCTETS)
    session = bench.nfs4_session()
    handle = bench.nfs4_files(session).file(content)
    user, other = DirectUser(bench, clientid=session.client.id), DirectUser(bench)
    mine, reference = other.reference(handle), user.reference(handle)
    user.expect_block(reference, content, ENDED)
    client = session.client
    if name == "client-replaced":
        Nfs4Client(session.conn, client.owner.decode(), b"next run").replace()
    else:
        expect(session.destroy(), ENDED, must=[kinds.REPLY])
    if name == "client":
        gone = operation("DESTROY_CLIENTID", dca_clientid=client.id)
        expect(session.conn.exchange(session.conn.compound_call(gone)), ENDED, must=[kinds.REPLY])
    _expect_void(user, reference, ENDED)
    other.expect_block(mine, content, ENDED)


def _expect_void(user, reference, requirement_id):
    """No valid frame comes: it is invalid, or the connection has ended."""
    frame = user.optimistic.frame(reference)
    data = None if frame is None else direct.open_frame(frame, reference.generation)
    expect.true(data is None, requirement_id, "an old reference leads to no valid frame")
