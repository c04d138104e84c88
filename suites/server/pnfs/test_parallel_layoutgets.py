"""LAYOUTGETs that are under way together, and the seqids of their replies (RFC 8881 12.5.2, 12.5.3)."""

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.layout_user import ALL, LayoutUser, MOST_LAYOUT_OCTETS, RW_LAYOUT
from steertag.suite.nfs_client.nfs4_client import putfh
from .layout_checks import NEEDS

FIRST, SEQUENCE = "RFC8881-12.5.2-3", "RFC8881-12.5.3-1"
GRANTS = 50
TOO_SMALL = 8  # loga_maxcount of a LAYOUTGET that fails


def _layoutgets(user, stateid, sizes):
    """The Outcomes of LAYOUTGETs by this stateid with these loga_maxcounts, one a slot, under way together."""
    calls = []
    for slot, octets in enumerate(sizes):
        got = operation(
            "LAYOUTGET",
            loga_iomode=RW_LAYOUT,
            loga_length=ALL,
            loga_stateid=stateid,
            loga_maxcount=octets,
        )
        calls.append(user.session.call(putfh(user.handle), got, slot=slot))
    outcomes = user.session.conn.collect(calls)
    return [outcomes[call.xid] for call in calls]


def _stateids(outcomes, requirement_id):
    for each in outcomes:
        expect(each, requirement_id, must=[kinds.REPLY])
    return [each.result["LAYOUTGET"].resok4.logr_stateid for each in outcomes]


@case("server.pnfs.layoutget.two-first", requirements=[FIRST, SEQUENCE], needs=NEEDS, over=ANY)
def test_two_first(bench):
    """Two LAYOUTGETs by the stateid of the open are under way together. One of the replies has seqid 1, and the other
    has seqid 2 of the same layouts."""
    user = LayoutUser(bench)
    if min(user.session.slots, user.session.conn.window) < 2:
        bench.not_testable("the session has room for one request at a time")
    stateids = _stateids(_layoutgets(user, user.stateid, [MOST_LAYOUT_OCTETS] * 2), FIRST)
    seqids = sorted(each.seqid for each in stateids)
    expect.equal(seqids[0], 1, FIRST, "least seqid of the first two layout stateids")
    expect.equal(seqids[1], 2, SEQUENCE, "other seqid of the first two layout stateids")
    one, two = (bytes(each.other) for each in stateids)
    expect.equal(two, one, SEQUENCE, "other of the second stateid")


@case("server.pnfs.layoutget.parallel", requirements=[SEQUENCE], needs=NEEDS, over=ANY)
def test_parallel(bench):
    """Fifty LAYOUTGETs, as many of them under way together as the session lets go back in seqids, and one of each group
    fails. The seqids of the others are distinct and without a gap."""
    user = LayoutUser(bench)
    first = user.take(user.layout_get()).logr_stateid
    # RFC 8881 12.5.5.2.1.4: the seqid of a LAYOUTGET may be ca_maxoperations - 1 behind.
    behind = user.session.granted.csr_fore_chan_attrs.ca_maxoperations - 1
    at_once = min(user.session.slots, user.session.conn.window, behind, GRANTS)
    if at_once < 3:
        bench.not_testable("the session has room for two requests at a time at most")
    found, stateid = [first.seqid], first
    while len(found) < GRANTS:
        sizes = [MOST_LAYOUT_OCTETS] * at_once
        sizes[at_once // 2] = TOO_SMALL
        outcomes = _layoutgets(user, stateid, sizes)
        expect(outcomes.pop(at_once // 2), SEQUENCE, must=["nfs:NFS4ERR_TOOSMALL"])
        stateids = _stateids(outcomes, SEQUENCE)
        found += [each.seqid for each in stateids]
        stateid = max(stateids, key=lambda each: each.seqid)
    wanted = list(range(first.seqid, first.seqid + len(found)))
    expect.equal(sorted(found), wanted, SEQUENCE, "seqids of the replies")
