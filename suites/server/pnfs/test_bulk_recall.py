"""CB_LAYOUTRECALL of all layouts, or of those of a file system (RFC 8881 12.5.5.2.1.5)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from .layout_checks import NEEDS, NFS4
from .test_layout_recall import recall_by_removal
from .withdrawals import BULK, is_bulk, recall_type, return_bulk, return_file, take
from .withdrawals import await_callback, watching_user, WAYS, withdraw

ALONE, CONFLICT = "RFC8881-12.5.5.2.1.5-1", "RFC8881-12.5.5.2.1.5-3"
RECALLED = ["nfs:NFS4ERR_RECALLCONFLICT"]


def other_return(user, kind):
    """LAYOUTRETURN of the other type than the recall's, FSID or ALL."""
    return return_bulk(user, next(each for each in BULK if each != kind))


ATTEMPTS = {
    "layoutget": lambda user, _kind: user.layout_get(),
    "file-return": lambda user, _kind: return_file(user),
    "other-return": other_return,
}


@case("server.pnfs.bulk.{name}-{way}", requirements=[CONFLICT], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("name", ATTEMPTS)
@pytest.mark.parametrize("way", WAYS)
def test_conflict(bench, name, way):
    """The layouts of a client are recalled at once. Until the return of all of them, LAYOUTGET and other LAYOUTRETURNs
    conflict with the recall. After it there are layouts again."""
    user = watching_user(bench)
    callback = withdraw(bench, user, way)
    kind = recall_type(callback)
    expect(ATTEMPTS[name](user, kind), CONFLICT, must=RECALLED)
    take(user, callback)
    expect(ATTEMPTS[name](user, kind), CONFLICT, must=RECALLED)
    expect(return_bulk(user, kind), CONFLICT, must=[kinds.REPLY])
    user.layout_stateid = None
    expect(user.layout_get(), CONFLICT, must=[kinds.REPLY])


@case("server.pnfs.bulk.alone-{way}", requirements=[ALONE], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("way", WAYS)
def test_alone(bench, way):
    """A client has layouts of two files. One of them is recalled, and then all are. The second recall comes when the
    layout of the file is back. That of another client shows when the server has begun."""
    user, other = watching_user(bench), watching_user(bench)
    second = bench.name("second")
    bench.file(b"", second)
    directory = bench.nfs4_files(user.session).directory
    opened, handle = user.session.open(directory, second, NFS4.OPEN4_SHARE_ACCESS_BOTH)
    kept = user.layout_stateid
    user.take(user.layout_get(handle, loga_stateid=opened.stateid))
    user.layout_stateid = kept
    _, recall = recall_by_removal(bench, user, ALONE)
    if recall is None:
        bench.not_testable("the layout of a file that is removed is not recalled")
    bulk = withdraw(bench, other, way)
    take(other, bulk)
    user.session.run("PUTROOTFH")
    expect.equal(_bulk_recalls(user), 0, ALONE, "bulk recalls while a recall has no answer")
    take(user, recall)
    user.session.run("PUTROOTFH")
    expect.equal(_bulk_recalls(user), 0, ALONE, "bulk recalls before a layout is returned")
    user.layout_stateid = recall["CB_LAYOUTRECALL"].clora_recall.lor_layout.lor_stateid
    expect(return_file(user), ALONE, must=[kinds.REPLY])
    late = await_callback(user, is_bulk)
    expect.true(late is not None, ALONE, "the bulk recall comes behind the return")
    take(user, late)
    for each in (user, other):
        expect(return_bulk(each, recall_type(bulk)), ALONE, must=[kinds.REPLY])


def _bulk_recalls(user):
    return sum(is_bulk(each) for each in user.session.conn.callbacks.seen)
