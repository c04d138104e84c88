"""LAYOUTGET while no backchannel could recall the layout (RFC 8881 12.5.1, 18.43.3)."""

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.exchange.deadline import Limit
from steertag.suite.nfs_client.layout_user import LayoutUser
from .layout_checks import NEEDS, NFS4, user_with_layout

RECALLABLE = "RFC8881-12.5.1-1"
# For transient conditions (RFC 8881 18.43.3). RFC 8881 does not forbid what cannot be recalled, but it
# has no use (RFC 8167 3.2).
LATER = ["nfs:NFS4ERR_LAYOUTTRYLATER"]
ANY_DOWN = NFS4.SEQ4_STATUS_CB_PATH_DOWN | NFS4.SEQ4_STATUS_CB_PATH_DOWN_SESSION
BOTH_WAYS = NFS4.ChannelDirFromClient.CDFC4_FORE_OR_BOTH


def _expect_granted(bench, user, conn):
    """With a backchannel over this connection the client gets a layout."""
    expect(user.session.bind(conn, BOTH_WAYS), RECALLABLE, must=[kinds.REPLY])
    # The server may try the backchannel first, and the reply to its CB_NULL is behind this one.
    user.session.run("PUTROOTFH")
    expect(user.layout_get(), RECALLABLE, must=[kinds.REPLY])


def _await_loss(bench, session):
    """Renews the lease until the server says that the session has no backchannel. The server notices the end of a
    connection independently of requests."""
    limit, conn = Limit(session.conn.deadlines.answer_ms), session.conn
    session.run("PUTROOTFH")
    while not session.status_flags & ANY_DOWN:
        if limit.passed:
            bench.not_testable("the server does not say in time that the backchannel is lost")
        conn.callbacks.wait_seen(conn.callbacks.count + 1, conn.deadlines.patience_ms)
        session.run("PUTROOTFH")


@case("server.nfs4.layout-without-backchannel", requirements=[RECALLABLE], needs=NEEDS, over=ANY)
def test_without(bench):
    """A client whose session has no backchannel has a file open. LAYOUTGET by the stateid of the open gets
    NFS4ERR_LAYOUTTRYLATER. With a backchannel the same client gets a layout."""
    user = LayoutUser(bench, back=False)
    expect(user.layout_get(), RECALLABLE, should=LATER)
    _expect_granted(bench, user, user.session.conn)


@case("server.pnfs.backchannel.lost", requirements=[RECALLABLE], needs=NEEDS, over=ANY)
def test_lost(bench):
    """A client with a layout loses the connection of its backchannel, and goes on over another one. Once SEQUENCE
    says so, LAYOUTGET gets NFS4ERR_LAYOUTTRYLATER until the session has a backchannel again."""
    user = user_with_layout(bench)
    conn = bench.connect(callbacks=True)
    fore = NFS4.ChannelDirFromClient.CDFC4_FORE
    expect(user.session.bind(conn, fore), RECALLABLE, must=[kinds.REPLY])
    lost, user.session.conn = user.session.conn, conn
    lost.close()
    _await_loss(bench, user.session)
    expect(user.layout_get(), RECALLABLE, should=LATER)
    _expect_granted(bench, user, bench.connect(callbacks=True))
