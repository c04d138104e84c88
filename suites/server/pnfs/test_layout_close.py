"""Layouts that are not returned before the last CLOSE, and logr_return_on_close (RFC 8881 12.5.2, 18.43.3)."""

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.layout_user import BOTH, LayoutUser
from .layout_checks import commit_at_data_servers, expect_octets, NEEDS, written
from .test_layout_recall import recall_by_removal, remove, return_recalled

ON_CLOSE, ACROSS = "RFC8881-18.43.3-5", "RFC8881-12.5.2-5"


@case("server.pnfs.close.layout-left", requirements=[ON_CLOSE], needs=NEEDS, over=ANY)
def test_left(bench):
    """A client closes a file whose layout it should have returned before, and keeps that. Another client removes the file:
    it succeeds, or the layout is recalled before."""
    user = LayoutUser(bench)
    if not user.use_layout().logr_return_on_close:
        bench.not_testable("logr_return_on_close is FALSE")
    user.session.close(user.handle, user.stateid)
    other, callback = recall_by_removal(bench, user, ON_CLOSE)
    if callback is not None:
        return_recalled(user, callback, ON_CLOSE)
    gone = remove(bench, other, user.name)
    # Without a recall the first REMOVE may have succeeded.
    expect(gone, ON_CLOSE, must=[kinds.REPLY, "nfs:NFS4ERR_NOENT"])


@case("server.pnfs.close.layout-kept", requirements=[ACROSS], needs=NEEDS, over=ANY)
def test_kept(bench):
    """A layout without logr_return_on_close is there when its file was closed and is open again. READ at data servers
    gives the octets, and the next LAYOUTGET has the next seqid. The server may recall the layout meanwhile.
    """
    user = LayoutUser(bench)
    if user.use_layout().logr_return_on_close:
        bench.not_testable("logr_return_on_close is TRUE", "--server-arg=--keep-layouts")
    content = written(bench, user, ACROSS)
    commit_at_data_servers(user, ACROSS)
    expect(user.layout_commit(len(content) - 1), ACROSS, must=[kinds.REPLY])
    user.session.close(user.handle, user.stateid)
    directory = bench.nfs4_files(user.session).directory
    opened, _ = user.session.open(directory, user.name, BOTH)
    user.stateid = opened.stateid
    reads = [(user.read_part(part), part) for part in user.parts(len(content))]
    before = user.layout_stateid
    outcome = user.layout_get()  # a recall before the READs is before its reply
    if any("CB_LAYOUTRECALL" in each for each in user.session.conn.callbacks.seen):
        bench.latitude(ACROSS, "the layout is recalled after CLOSE")
        return
    for each, part in reads:
        expect_octets(each, part, content, ACROSS)
    expect(outcome, ACROSS, must=[kinds.REPLY])
    after = outcome.result["LAYOUTGET"].resok4.logr_stateid
    expect.equal(after.seqid, before.seqid + 1, ACROSS, "seqid of LAYOUTGET", outcome=outcome)
    expect.equal(bytes(after.other), bytes(before.other), ACROSS, "other", outcome=outcome)
