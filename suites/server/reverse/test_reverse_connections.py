"""The server's calls use backchannel connections only (RFC 8167 6, RFC 8881 18.34)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from ..conflicting_open import ConflictingOpen
from ..message_words import either
from ..nfs4_checks import NFS4, READ, WANT_READ
from ..reverse_checks import Recall, expect_quiet

READY = "RFC8167-6-1"
RECALLED = "RFC8267-6.5.2-1"
TABLE = "RFC8881-18.34.3-2"


@case("server.reverse.not-announced-{name}", requirements=[READY, RECALLED], needs=["backchannel"])
@pytest.mark.parametrize("name", ["session", "client-id", "connection"])
def test_not_announced(bench, name):
    """The server sends no calls on a connection that was not announced as a backchannel. This holds
    even while another client's OPEN conflicts with one of ours."""
    conn = bench.connect(callbacks=True)
    if name == "client-id":
        bench.nfs4_client(conn).exchange_id()
    elif name == "session":
        session = bench.nfs4_session(conn, csa_flags=0)
        files = bench.nfs4_files(session)
        stem = bench.name("opened")
        bench.file(b"content", stem)
        session.open(files.directory, stem, READ | WANT_READ)
        opening = ConflictingOpen(bench, stem)
        opening.send()
        opening.look(bench.deadlines.answer_ms)
    expect_quiet(conn, READY, "calls of the server", before=0)


@case(
    "server.reverse.fore-only-connection",
    requirements=[READY, TABLE],
    needs=["delegations"],
    over=ANY,
)
def test_fore_only_connection(bench):
    """A second connection is bound to the fore channel only. It gets no callback, and the
    backchannel connection does."""
    recall = Recall(bench)
    other = bench.connect(callbacks=True)
    bound = recall.session.bind(other, NFS4.ChannelDirFromClient.CDFC4_FORE)
    expect(bound, TABLE, must=[kinds.REPLY])
    direction = bound.result["BIND_CONN_TO_SESSION"].resok4.bctsr_dir
    expect.equal(direction.name, "CDFS4_FORE", TABLE, "direction", outcome=bound)
    ready = either(other, READY, TABLE)
    recall.callbacks.answer(recall.expect_recall(ready))
    expect_quiet(other, ready, "callbacks on the fore connection", before=0)
    recall.expect_done(ready)


@case(
    "server.reverse.other-connection-{name}",
    requirements=[TABLE, RECALLED, READY],
    needs=["delegations"],
    over=ANY,
)
@pytest.mark.parametrize("name", ["back", "back-or-both", "fore-or-both"])
def test_other_connection(bench, name):
    """A session without a backchannel gets one by BIND_CONN_TO_SESSION of another connection.
    Callbacks arrive on that one and not on the first."""
    direction = name.upper().replace("-", "_")
    first = bench.connect(callbacks=True)
    session = bench.nfs4_session(first)
    conn = bench.connect(callbacks=True)
    bound = session.bind(conn, NFS4.ChannelDirFromClient[f"CDFC4_{direction}"])
    expect(bound, TABLE, must=[kinds.REPLY])
    given = bound.result["BIND_CONN_TO_SESSION"].resok4.bctsr_dir.name
    legal = {"BACK": ["CDFS4_BACK"], "BACK_OR_BOTH": ["CDFS4_BACK", "CDFS4_BOTH"]}
    wanted = legal.get(direction, ["CDFS4_FORE", "CDFS4_BOTH"])
    expect.one_of(given, wanted, TABLE, "bctsr_dir", outcome=bound)
    if given == "CDFS4_FORE":
        bench.latitude(TABLE, "FORE_OR_BOTH is granted as FORE")
        return
    conn.callbacks.wait_seen(1, bench.deadlines.patience_ms)
    recall = Recall(bench, session)
    recall.carriers = [conn]
    recalled, ready = either(conn, RECALLED, TABLE), either(first, READY, TABLE)
    conn.callbacks.answer(recall.expect_recall(recalled))
    expect_quiet(first, ready, "callbacks on the connection without backchannel", before=0)
    recall.expect_done(recalled)
