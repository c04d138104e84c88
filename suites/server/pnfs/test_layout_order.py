"""Several layout operations of one COMPOUND, and seqids of the past (RFC 8881 12.5.5.2.1.1, 12.5.5.2.1.4)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.layout_user import ALL, LayoutUser, MOST_LAYOUT_OCTETS
from steertag.suite.nfs_client.layout_user import READ_LAYOUT, RW_LAYOUT
from steertag.suite.nfs_client.nfs4_client import fore_channel, putfh
from .layout_checks import NEEDS, NFS4, user_with_layout

ORDER, OLD = "RFC8881-12.5.5.2.1.1-1", "RFC8881-12.5.5.2.1.4-2"
WRAP, LAST_SEQID = "RFC8881-12.5.5.2.1.4-1", 0xFFFFFFFF
CURRENT = NFS4.StateId(seqid=1, other=bytes(12))  # the current stateid (RFC 8881 16.2.3.1.2)
# Seqids that a case uses up at most.
MOST_SEQIDS = 512
FEW_OPERATIONS = 8  # ca_maxoperations of a further session


def _get(stateid, iomode=RW_LAYOUT):
    return operation(
        "LAYOUTGET",
        loga_iomode=iomode,
        loga_length=ALL,
        loga_stateid=stateid,
        loga_maxcount=MOST_LAYOUT_OCTETS,
    )


def _return(stateid):
    scope = {"lrf_length": ALL, "lrf_stateid": stateid}
    return operation("LAYOUTRETURN", lora_iomode=RW_LAYOUT, lora_layoutreturn={"lr_layout": scope})


@case("server.pnfs.compound.{first}-first", requirements=[ORDER], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("first", ["return", "get"])
def test_order(bench, first):
    """LAYOUTRETURN and LAYOUTGET of the layout for writing in one COMPOUND, the second by the current stateid. The
    second one has the next seqid. Its effect is there afterwards: LAYOUTCOMMIT needs a layout for writing.
    """
    user = LayoutUser(bench)
    user.take(user.layout_get(loga_iomode=READ_LAYOUT))
    if user.take(user.layout_get()).logr_stateid.seqid < 2:
        bench.not_testable("the second LAYOUTGET of a file does not move the seqid on")
    stateid = user.layout_stateid
    if first == "return":
        done = (_return(stateid), _get(CURRENT))
    else:
        done = (_get(stateid), _return(CURRENT))
    outcome = expect(user.session.exchange(putfh(user.handle), *done), ORDER, must=[kinds.REPLY])
    got = outcome.result["LAYOUTGET"].resok4.logr_stateid
    left = outcome.result["LAYOUTRETURN"].resok4
    expect.true(left.lrs_present, ORDER, "the layout for reading is left", outcome=outcome)
    earlier, later = (left.lrs_stateid, got) if first == "return" else (got, left.lrs_stateid)
    expect.equal(later.seqid, earlier.seqid + 1, ORDER, "seqid of the second", outcome=outcome)
    user.layout_stateid = later
    held = (
        [kinds.REPLY] if first == "return" else ["nfs:NFS4ERR_BADIOMODE", "nfs:NFS4ERR_BADLAYOUT"]
    )
    expect(user.layout_commit(0), ORDER, must=held)


def _add_session(bench, user):
    asked = fore_channel(ca_maxoperations=FEW_OPERATIONS)
    made = user.client.create_session(csa_fore_chan_attrs=asked)
    if made.kind != kinds.REPLY:
        bench.not_testable(f"CREATE_SESSION of a second session gave {made.kind}")


def _move_on(bench, user, steps):
    """So many LAYOUTGETs, which move the seqid on by one each."""
    if steps > MOST_SEQIDS:
        bench.not_testable(f"the sessions have {steps} operations under way at most")
    before = user.layout_stateid.seqid
    for _ in range(steps):
        user.take(user.layout_get())
    moved = user.layout_stateid.seqid - before
    if moved != steps:
        bench.not_testable(f"{steps} LAYOUTGETs move the seqid on by {moved}")


def _most_under_way(user):
    granted = [each.granted.csr_fore_chan_attrs for each in user.client.sessions]
    return sum(each.ca_maxoperations - 1 for each in granted)


@case("server.pnfs.seqid.oldest-of-{sessions}", requirements=[OLD], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("sessions", ["one-session", "two-sessions"])
def test_oldest(bench, sessions):
    """LAYOUTGET moves the seqid on, by the sum of ca_maxoperations - 1 of the client's sessions. A LAYOUTGET with the
    first seqid is then the oldest that may be under way, and is accepted."""
    user = user_with_layout(bench)
    first = user.layout_stateid
    if sessions == "two-sessions":
        _add_session(bench, user)
    _move_on(bench, user, _most_under_way(user))
    expect(user.layout_get(loga_stateid=first), OLD, must=[kinds.REPLY])


@case("server.pnfs.seqid.too-old", requirements=[OLD], needs=NEEDS, over=ANY, hostile=True)
def test_too_old(bench):
    """LAYOUTGET with a seqid one below the oldest that may be under way. A server may have a larger range than it
    must."""
    user = user_with_layout(bench)
    first = user.layout_stateid
    _move_on(bench, user, _most_under_way(user) + 1)
    outcome = user.layout_get(loga_stateid=first)
    larger = {kinds.REPLY: "a larger range of seqids"}
    expect(outcome, OLD, must=["nfs:NFS4ERR_OLD_STATEID"], latitude=larger)


@case("server.pnfs.seqid.wrap", requirements=[WRAP], needs=NEEDS, over=ANY)
def test_wrap(bench):
    """A layout has seqid 0xffffffff, and the next LAYOUTGET of the file gives 1. One with seqid 0xffffffff is then one
    behind, and is accepted."""
    option = f"--layout-seqid={LAST_SEQID}"
    bench.serve_with(option)
    user = LayoutUser(bench)
    last = user.take(user.layout_get()).logr_stateid
    if last.seqid != LAST_SEQID:
        bench.not_testable(f"layout seqids begin at {last.seqid}", f"--server-arg={option}")
    outcome = expect(user.layout_get(), WRAP, must=[kinds.REPLY])
    behind = outcome.result["LAYOUTGET"].resok4.logr_stateid.seqid
    expect.equal(behind, 1, WRAP, "seqid behind 0xffffffff", outcome=outcome)
    expect(user.layout_get(loga_stateid=last), WRAP, must=[kinds.REPLY])
