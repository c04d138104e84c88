"""CB_LAYOUTRECALL before a file is removed, and LAYOUTGET meanwhile (RFC 8881 12.5.5, 20.3)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.layout_user import ALL, LayoutUser
from steertag.suite.nfs_client.nfs4_client import putfh
from .layout_checks import NEEDS, NFS4, user_with_layout, written

RECALLED, SEQUENCE, NOT_ZERO = "RFC8881-12.5.5-1", "RFC8881-12.5.3-1", "RFC8881-20.3.3-3"
PENDING, ANSWERED = "RFC8881-12.5.5.2.1.3-1", "RFC8881-12.5.5.2.1.3-2"
DELAY = "nfs:NFS4ERR_DELAY"
MOST_CALLBACKS = 8  # that a server may send before the recall


def remove(bench, other, name):
    """The Outcome of REMOVE of the file by another client."""
    directory = bench.nfs4_files(other.session).directory
    return other.session.exchange(putfh(directory), operation("REMOVE", target=name))


def recall_by_removal(bench, user, requirement_id):
    """Another client that removes the user's file, and the user's CB_LAYOUTRECALL of it, not answered yet, or None."""
    user.session.conn.callbacks.configure(answers_null=False)
    other = LayoutUser(bench)
    expect(remove(bench, other, user.name), requirement_id, must=[DELAY, kinds.REPLY])
    return other, next_recall(user)


def next_recall(user):
    """The user's next CB_LAYOUTRECALL, not answered yet, or None. Those before it are answered."""
    callbacks = user.session.conn.callbacks
    for _ in range(MOST_CALLBACKS):
        callback = callbacks.wait()
        if callback is None or "CB_LAYOUTRECALL" in callback:
            return callback
        callbacks.answer(callback)
    return None


def return_recalled(user, callback, requirement_id):
    """Answers a CB_LAYOUTRECALL of the file, and returns the layout."""
    user.session.conn.callbacks.answer(callback, {"CB_LAYOUTRECALL": NFS4.Status.NFS4_OK})
    user.layout_stateid = callback["CB_LAYOUTRECALL"].clora_recall.lor_layout.lor_stateid
    expect(user.layout_return(), requirement_id, must=[kinds.REPLY])
    user.layout_stateid = None


@case(
    "server.pnfs.recall.remove", requirements=[RECALLED, SEQUENCE, NOT_ZERO], needs=NEEDS, over=ANY
)
def test_remove(bench):
    """Another client removes the file. The layout is recalled by a stateid with the next seqid, and is
    returned. The file can then be removed."""
    user = user_with_layout(bench)
    written(bench, user, RECALLED)
    other, callback = recall_by_removal(bench, user, RECALLED)
    came = callback is not None
    expect.true(came, RECALLED, "CB_LAYOUTRECALL comes before the file is gone")
    if not came:
        return  # a warning, since the recall is a SHOULD
    recall = callback["CB_LAYOUTRECALL"].clora_recall
    expect.equal(
        recall.lor_recalltype,
        NFS4.LayoutrecallType.LAYOUTRECALL4_FILE,
        RECALLED,
        "lor_recalltype",
    )
    stateid = recall.lor_layout.lor_stateid
    expect.true(stateid.seqid != 0, NOT_ZERO, "seqid of lor_stateid is not 0")
    expect.equal(stateid.seqid, user.layout_stateid.seqid + 1, SEQUENCE, "seqid of lor_stateid")
    user.session.conn.callbacks.answer(callback, {"CB_LAYOUTRECALL": NFS4.Status.NFS4_OK})
    user.layout_stateid = stateid
    expect(user.layout_return(), RECALLED, must=[kinds.REPLY])
    expect(remove(bench, other, user.name), RECALLED, must=[kinds.REPLY])


@case("server.pnfs.recall.conflict", requirements=[PENDING, ANSWERED], needs=NEEDS, over=ANY)
def test_conflict(bench):
    """LAYOUTGET of a range that is being recalled: before the answer to CB_LAYOUTRECALL, and between
    the answer and the return."""
    user = user_with_layout(bench)
    _, callback = recall_by_removal(bench, user, PENDING)
    if callback is None:
        bench.not_testable("the layout of a file that is removed is not recalled")
    expect(user.layout_get(), PENDING, must=["nfs:NFS4ERR_RECALLCONFLICT"])
    user.session.conn.callbacks.answer(callback, {"CB_LAYOUTRECALL": NFS4.Status.NFS4_OK})
    expect(user.layout_get(), ANSWERED, must=["nfs:NFS4ERR_RETURNCONFLICT"])
    user.layout_stateid = callback["CB_LAYOUTRECALL"].clora_recall.lor_layout.lor_stateid
    expect(user.layout_return(), ANSWERED, must=[kinds.REPLY])


@case("server.pnfs.recall.conflict-{seqid}", requirements=[PENDING], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("seqid", ["equal", "above"])
def test_conflict_seqid(bench, seqid):
    """LAYOUTGET before the answer to CB_LAYOUTRECALL, with the seqid of the recall, or with one above it that
    LAYOUTRETURN of a part gave. After the return of the file it succeeds."""
    user = user_with_layout(bench)
    _, callback = recall_by_removal(bench, user, PENDING)
    if callback is None:
        bench.not_testable("the layout of a file that is removed is not recalled")
    user.layout_stateid = callback["CB_LAYOUTRECALL"].clora_recall.lor_layout.lor_stateid
    if seqid == "above":
        scope = {"lrf_length": user.layout.unit, "lrf_stateid": user.layout_stateid}
        part = user.layout_return(lora_layoutreturn={"lr_layout": scope})
        left = expect(part, PENDING, must=[kinds.REPLY]).result["LAYOUTRETURN"].resok4
        user.layout_stateid = left.lrs_stateid
    expect(user.layout_get(), PENDING, must=["nfs:NFS4ERR_RECALLCONFLICT"])
    user.session.conn.callbacks.answer(callback, {"CB_LAYOUTRECALL": NFS4.Status.NFS4_OK})
    scope = {"lrf_length": ALL, "lrf_stateid": user.layout_stateid}
    back = user.layout_return(lora_layoutreturn={"lr_layout": scope})
    expect(back, PENDING, must=[kinds.REPLY])
    gone = {
        "nfs:NFS4ERR_STALE": "the file is gone",
        "nfs:NFS4ERR_LAYOUTTRYLATER": "no layout is readily available",
    }
    again = user.layout_get(loga_stateid=user.stateid)
    expect(again, PENDING, must=[kinds.REPLY], latitude=gone)
