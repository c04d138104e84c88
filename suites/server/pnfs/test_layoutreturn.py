"""LAYOUTRETURN, and what data servers do afterwards (RFC 8881 12.5.5, 13.6, 18.44)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.layout_user import ALL, ANY_LAYOUT, LayoutUser, READ_LAYOUT
from steertag.suite.nfs_client.nfs4_client import putfh, read
from .layout_checks import BAD_STATEID, FENCED, need_commit_at_data_servers, NEEDS, NFS4
from .layout_checks import user_with_layout, written
from .test_layout_recall import recall_by_removal

LAST, HARMLESS, WITHOUT = "RFC8881-18.44.3-1", "RFC8881-18.44.3-2", "RFC8881-12.5.1-3"
PART = "RFC8881-18.44.3-4"
REJECTED, LATE = "RFC8881-13.6-2", "RFC8881-18.44.3-5"
CURRENT = NFS4.StateId(seqid=1, other=bytes(12))  # the current stateid (RFC 8881 16.2.3.1.2)
BULK = {
    "fsid": NFS4.LayoutreturnType.LAYOUTRETURN4_FSID,
    "all": NFS4.LayoutreturnType.LAYOUTRETURN4_ALL,
}


@case("server.pnfs.layoutreturn.last", requirements=[LAST], needs=NEEDS, over=ANY)
def test_last(bench):
    """The return of all layouts of a file leaves no stateid."""
    outcome = expect(user_with_layout(bench).layout_return(), LAST, must=[kinds.REPLY])
    left = outcome.result["LAYOUTRETURN"].resok4
    expect.true(not left.lrs_present, LAST, "lrs_present is FALSE", outcome=outcome)


@case(
    "server.pnfs.layoutreturn.last-current",
    requirements=[LAST],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
def test_last_current(bench):
    """One COMPOUND has OPEN_DOWNGRADE, LAYOUTRETURN of all layouts of the file, and READ with the current stateid. That
    is the stateid of the open no more, nor the anonymous one, so that READ is refused."""
    user = user_with_layout(bench)
    written(bench, user, LAST)
    # The control: the current stateid is that of the open.
    done = user.session.run(putfh(user.handle), _open_kept(user.stateid), read(1, 0, CURRENT))
    again = _open_kept(done["OPEN_DOWNGRADE"].resok4.open_stateid)
    scope = {"lrf_length": ALL, "lrf_stateid": user.layout_stateid}
    back = {"lora_iomode": ANY_LAYOUT, "lora_layoutreturn": {"lr_layout": scope}}
    returned = operation("LAYOUTRETURN", **back)
    outcome = user.session.exchange(putfh(user.handle), again, returned, read(1, 0, CURRENT))
    expect(outcome, LAST, must=BAD_STATEID)
    expect.true("READ" in outcome.result, LAST, "LAYOUTRETURN succeeds", outcome=outcome)


def _open_kept(stateid):
    """OPEN_DOWNGRADE to what the open has."""
    return operation(
        "OPEN_DOWNGRADE",
        open_stateid=stateid,
        share_access=NFS4.OPEN4_SHARE_ACCESS_BOTH,
        share_deny=NFS4.OPEN4_SHARE_DENY_NONE,
    )


@case("server.pnfs.layoutreturn.recalled-parts", requirements=[LAST], needs=NEEDS, over=ANY)
def test_recalled_parts(bench):
    """The layouts of a file are recalled, and come back in two parts. Each LAYOUTRETURN leaves a stateid, as the recall
    waits for the return of the whole file. That one leaves none."""
    user = user_with_layout(bench)
    _, callback = recall_by_removal(bench, user, LAST)
    if callback is None:
        bench.not_testable("the layout of a file that is removed is not recalled")
    user.session.conn.callbacks.answer(callback, {"CB_LAYOUTRECALL": NFS4.Status.NFS4_OK})
    stateid = callback["CB_LAYOUTRECALL"].clora_recall.lor_layout.lor_stateid
    unit = user.layout.unit
    for start, length, is_left in ((0, unit, True), (unit, ALL, True), (0, ALL, False)):
        scope = {"lrf_offset": start, "lrf_length": length, "lrf_stateid": stateid}
        returned = user.layout_return(lora_layoutreturn={"lr_layout": scope})
        left = expect(returned, LAST, must=[kinds.REPLY]).result["LAYOUTRETURN"].resok4
        what = "lrs_present while the recall waits" if is_left else "lrs_present at the end"
        expect.equal(bool(left.lrs_present), is_left, LAST, what, outcome=returned)
        stateid = left.lrs_stateid


@case("server.pnfs.layoutreturn.not-held", requirements=[HARMLESS, PART], needs=NEEDS, over=ANY)
def test_not_held(bench):
    """LAYOUTRETURN of an iomode without a layout succeeds, and the other layout is left."""
    user = user_with_layout(bench)
    outcome = expect(user.layout_return(lora_iomode=READ_LAYOUT), HARMLESS, must=[kinds.REPLY])
    left = outcome.result["LAYOUTRETURN"].resok4
    expect.true(left.lrs_present, PART, "lrs_present is TRUE", outcome=outcome)
    expect(user.write_part(user.parts()[0], bytes(user.size)), PART, must=[kinds.REPLY])


@case(
    "server.pnfs.layoutreturn.reclaim-{name}",
    requirements=[HARMLESS],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("name", BULK)
def test_reclaim(bench, name):
    """LAYOUTRETURN of a file system, or of all, with lora_reclaim."""
    outcome = _return_bulk(user_with_layout(bench), name, lora_reclaim=True)
    expect(outcome, HARMLESS, must=["nfs:NFS4ERR_INVAL"])


@case(
    "server.pnfs.layoutreturn.reclaim-file",
    requirements=[LATE],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
def test_reclaim_file(bench):
    """LAYOUTRETURN of a file with lora_reclaim outside of a grace period."""
    outcome = user_with_layout(bench).layout_return(lora_reclaim=True)
    expect(outcome, LATE, must=["nfs:NFS4ERR_NO_GRACE"])


def _return_bulk(user, name, **fields):
    scope = {"lr_returntype": BULK[name]}
    return user.layout_return(lora_layoutreturn=scope, lora_iomode=ANY_LAYOUT, **fields)


@case(
    "server.pnfs.fencing.{scope}-{io}",
    requirements=[WITHOUT, REJECTED],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("scope", ["file", *BULK])
@pytest.mark.parametrize("io", ["read", "write", "commit"])
def test_fencing(bench, scope, io):
    """READ, WRITE and COMMIT at a data server after the return of the layout. The open stateid is still good."""
    user = user_with_layout(bench)
    content = written(bench, user, WITHOUT)
    part = user.parts()[0]
    if io == "commit":
        need_commit_at_data_servers(bench, user)
    returned = user.layout_return() if scope == "file" else _return_bulk(user, scope)
    expect(returned, WITHOUT, must=[kinds.REPLY])
    if io == "read":
        expect(user.read_part(part), WITHOUT, should=FENCED)
    elif io == "write":
        expect(user.write_part(part, content), REJECTED, must=FENCED)
    else:
        expect(user.commit_part(part), REJECTED, must=FENCED)


@case(
    "server.pnfs.fencing.never",
    requirements=[REJECTED],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
def test_never(bench):
    """A client that has the file open, and no layout, reads at a data server by another's filehandle."""
    user = user_with_layout(bench)
    written(bench, user, REJECTED)
    part = user.parts()[0]
    other = LayoutUser(bench, name=user.name)
    other.layout, other.device = user.layout, user.device
    expect(other.read_part(part), REJECTED, must=FENCED)
