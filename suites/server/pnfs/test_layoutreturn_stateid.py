"""What LAYOUTRETURN of a file leaves: its stateid, the current stateid, and what a recall still waits for (RFC 8881
18.44.3)."""

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.layout_user import ALL, ANY_LAYOUT, BOTH
from steertag.suite.nfs_client.nfs4_client import putfh
from .layout_checks import BAD_STATEID, NEEDS, NFS4, user_with_layout
from .test_layout_recall import recall_by_removal

LAST, NO_GRACE = "RFC8881-18.44.3-1", "RFC8881-18.44.3-5"
CURRENT = NFS4.StateId(seqid=1, other=bytes(12))  # RFC 8881 16.2.3.1.2


def _returning(stateid, offset=0, length=ALL):
    scope = {"lrf_offset": offset, "lrf_length": length, "lrf_stateid": stateid}
    return operation(
        "LAYOUTRETURN", lora_iomode=ANY_LAYOUT, lora_layoutreturn={"lr_layout": scope}
    )


def _return_part(user, offset, length):
    """LAYOUTRETURN of a part of the file, whose recall waits. Something has to be left."""
    back = putfh(user.handle), _returning(user.layout_stateid, offset, length)
    outcome = expect(user.session.exchange_in_time(*back), LAST, must=[kinds.REPLY])
    left = outcome.result["LAYOUTRETURN"].resok4
    expect.true(left.lrs_present, LAST, "lrs_present is TRUE while a recall waits", outcome=outcome)
    user.layout_stateid = left.lrs_stateid


@case(
    "server.pnfs.layoutreturn.current-stateid",
    requirements=[LAST],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
def test_current_stateid(bench):
    """OPEN, the LAYOUTRETURN of all layouts of the file, and LAYOUTGET by the current stateid, in one COMPOUND. The
    stateid of OPEN would do for LAYOUTGET. There is no current stateid behind LAYOUTRETURN."""
    user = user_with_layout(bench)
    directory = bench.nfs4_files(user.session).directory
    opened = putfh(directory), user.session.open_operation(user.name, BOTH)
    back = _returning(user.layout_stateid)
    _, again = user.layout_getting(loga_stateid=CURRENT)
    outcome = user.session.exchange_in_time(*opened, back, again)
    expect(outcome, LAST, must=BAD_STATEID)
    refused = "LAYOUTGET" in outcome.result
    expect.true(refused, LAST, "LAYOUTGET is refused, not LAYOUTRETURN", outcome=outcome)


@case("server.pnfs.layoutreturn.current-stateid-left", requirements=[LAST], needs=NEEDS, over=ANY)
def test_current_stateid_left(bench):
    """LAYOUTRETURN of a stripe unit, then of all else by the current stateid, in one COMPOUND."""
    user = user_with_layout(bench)
    first = user.parts()[0]
    back = _returning(user.layout_stateid, first.start, first.length), _returning(CURRENT)
    outcome = user.session.exchange_in_time(putfh(user.handle), *back)
    expect(outcome, LAST, must=[kinds.REPLY])


@case("server.pnfs.layoutreturn.recall-pending", requirements=[LAST], needs=NEEDS, over=ANY)
def test_recall_pending(bench):
    """The file is recalled, and its layouts come back in two parts. The recall is not complete before the return of the
    whole file: each part leaves a stateid."""
    user = user_with_layout(bench)
    _, callback = recall_by_removal(bench, user, LAST)
    if callback is None:
        bench.not_testable("the layout of a file that is removed is not recalled")
    user.session.conn.callbacks.answer(callback, {"CB_LAYOUTRECALL": NFS4.Status.NFS4_OK})
    user.layout_stateid = callback["CB_LAYOUTRECALL"].clora_recall.lor_layout.lor_stateid
    unit = user.parts()[0].length
    _return_part(user, 0, unit)
    _return_part(user, unit, ALL)
    outcome = expect(user.layout_return(), LAST, must=[kinds.REPLY])
    left = outcome.result["LAYOUTRETURN"].resok4
    expect.true(not left.lrs_present, LAST, "lrs_present is FALSE", outcome=outcome)


@case(
    "server.pnfs.layoutreturn.reclaim-file",
    requirements=[NO_GRACE],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
def test_reclaim_file(bench):
    """LAYOUTRETURN of a file with lora_reclaim outside of the grace period."""
    outcome = user_with_layout(bench).layout_return(lora_reclaim=True)
    expect(outcome, NO_GRACE, must=["nfs:NFS4ERR_NO_GRACE"])
