"""Layouts, commits and write verifiers over a restart of the target (RFC 8881 12.7.4, 13.7, 18.42.3, 18.43.3)."""

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.file_layout import COMMIT_THROUGH_SERVER
from steertag.suite.nfs_client.nfs4_client import putfh
from .layout_checks import (
    attributes,
    expect_at_metadata_server,
    NEEDS,
    user_with_layout,
)

WAITS, COMMITTED, RECLAIM = "RFC8881-18.43.3-4", "RFC8881-12.7.4-2", "RFC8881-18.42.3-2"
COMMON = "RFC8881-13.7-3"
GRACE, NO_GRACE = "nfs:NFS4ERR_GRACE", "nfs:NFS4ERR_NO_GRACE"
RECLAIM_BAD = "nfs:NFS4ERR_RECLAIM_BAD"
MDS_COMMIT = "--commit=mds"


def restart(bench, user):
    """Restarts the target. The client comes back, and has its file open again in the grace period."""
    bench.restart()
    user.meet_again()
    again = user.reclaim_open()
    if again.kind != kinds.REPLY:
        bench.not_testable(f"the target let no client reclaim its open: {again.kind}")


def written_at(user, content, requirement_id, stable):
    """Writes the octets at the data servers. Returns the verifiers of the replies."""
    verifiers = []
    for part in user.parts(len(content)):
        data = content[part.start : part.start + part.length]
        where = user.data_server(part.server), part.handle, part.offset
        outcome = user.write_at(*where, data, stable=stable)
        expect(outcome, requirement_id, must=[kinds.REPLY])
        verifiers.append(bytes(outcome.result["WRITE"].resok4.writeverf))
    return verifiers


@case(
    "server.pnfs.restart.layoutget",
    requirements=[WAITS],
    needs=NEEDS,
    over=ANY,
    risk="destructive",
)
def test_layoutget(bench):
    """A client has a layout, and the target restarts. LAYOUTGET waits for the end of the grace period, unless the target
    still knows the device of before."""
    bench.serve_with(restarts=True)
    user = user_with_layout(bench)
    restart(bench, user)
    early = user.session.exchange(*user.layout_getting(loga_stateid=user.stateid))
    expect(early, WAITS, must=[GRACE, kinds.REPLY])
    if early.kind == kinds.REPLY:
        expect(user.device_info(), WAITS, must=[kinds.REPLY])
    user.end_grace()
    expect(user.layout_get(loga_stateid=user.stateid), WAITS, must=[kinds.REPLY])


@case(
    "server.pnfs.restart.layoutcommit",
    requirements=[COMMITTED, RECLAIM],
    needs=NEEDS,
    over=ANY,
    risk="destructive",
    hostile=True,
)
def test_layoutcommit(bench):
    """A client writes at data servers, and the target restarts before LAYOUTCOMMIT. With loca_reclaim it is taken in the
    grace period, and is too late afterwards."""
    bench.serve_with(restarts=True)
    user = user_with_layout(bench)
    content = bench.random.randbytes(user.size)
    written_at(user, content, COMMITTED, "FILE_SYNC4")
    restart(bench, user)
    asked = {"last": len(content) - 1, "loca_reclaim": True}
    outcome = user.session.exchange(*user.layout_committing(**asked))
    refused = {RECLAIM_BAD: "the target's checks do not let the commit pass"}
    expect(outcome, COMMITTED, must=[kinds.REPLY], latitude=refused)
    user.end_grace()
    if outcome.kind == kinds.REPLY:
        size = attributes(user, "size")["size"]
        expect.equal(size, len(content), COMMITTED, "size after LAYOUTCOMMIT")
        expect_at_metadata_server(user, content, COMMITTED)
    expect(user.layout_commit(**asked), RECLAIM, must=[NO_GRACE])


@case(
    "server.pnfs.restart.verifier",
    requirements=[COMMON],
    needs=NEEDS,
    over=ANY,
    risk="destructive",
)
def test_verifier(bench):
    """A client writes with UNSTABLE4 at data servers whose COMMIT goes to the metadata server, and the target restarts.
    All verifiers of later replies are equal. If octets are lost, they are no verifiers of before.
    """
    bench.serve_with(MDS_COMMIT, restarts=True)
    user = user_with_layout(bench)
    if not user.layout.util & COMMIT_THROUGH_SERVER:
        bench.not_testable("COMMIT goes to the data servers", f"--server-arg={MDS_COMMIT}")
    content = bench.random.randbytes(user.size)
    before = written_at(user, content, COMMON, "UNSTABLE4")
    restart(bench, user)
    user.end_grace()
    kept = _is_kept(user, content)
    user.layout_stateid = None
    user.use_layout()
    after = written_at(user, content, COMMON, "UNSTABLE4")
    done = user.session.exchange_in_time(putfh(user.handle), operation("COMMIT"))
    expect(done, COMMON, must=[kinds.REPLY])
    after.append(bytes(done.result["COMMIT"].resok4.writeverf))
    expect.equal(len(set(after)), 1, COMMON, "verifiers of WRITEs and COMMIT", outcome=done)
    is_new = after[-1] not in before
    expect.true(kept or is_new, COMMON, "another verifier than that of lost octets", outcome=done)


def _is_kept(user, content):
    """Whether READ at the metadata server gives all of these octets."""
    for part in user.parts(len(content)):
        outcome = user.read_at(user.session, user.handle, part.start, part.length, user.stateid)
        expect(outcome, COMMON, must=[kinds.REPLY])
        wanted = content[part.start : part.start + part.length]
        if bytes(outcome.result["READ"].resok4.data) != wanted:
            return False
    return True
