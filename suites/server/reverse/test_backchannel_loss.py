"""Backchannels whose connections are lost and bound again.

RFC 8167 5.4 and RFC 8881 2.10.6.2, 2.10.13 and 18.34 say what happens to the callbacks."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.exchange.callbacks import Callbacks
from steertag.suite.exchange.deadline import Limit
from steertag.suite.nfs_client.compound import operation
from ..message_words import either
from ..nfs4_checks import NFS4, status
from ..reverse_checks import AFTER_LOSS_MS, Recall, expect_quiet, sequence_of

RETRIED = "RFC8881-2.10.13.2.4-1"
FLAG_WHILE_DOWN = "RFC8881-2.10.13.2.4-2"
FLAG_OF_SESSION = "RFC8881-2.10.6.2-5"
VALUES = "RFC8881-18.46.3-1"
WAITS = "RFC8167-5.4-1"
HELD = "RFC8881-10.2-1"
TABLE = "RFC8881-18.34.3-2"
ALONE = "RFC8881-15.1.3.3-1"
AGAIN = "RFC8881-18.34.3-4"
BEHIND = "RFC8881-18.34.3-5"
STEPPED_UP = "RFC8881-18.36.3-4"
APART = "RFC8881-2.10.3.1-3"
DOWN = NFS4.SEQ4_STATUS_CB_PATH_DOWN
DOWN_SESSION = NFS4.SEQ4_STATUS_CB_PATH_DOWN_SESSION
ANY_DOWN = DOWN | DOWN_SESSION
DIRECTIONS = NFS4.ChannelDirFromClient
# Why no recall comes over a new connection.
TOLD_BY_FLAGS = "the flags of SEQUENCE tell that the delegation is wanted back (RFC 8881 10.4.5)"


def new_connection(bench):
    """A connection that takes callbacks and has no session yet."""
    return bench.connect(callbacks=True)


def flags_of(session, conn):
    """sr_status_flags of a request over this connection."""
    session.run("PUTROOTFH", conn=conn)
    return session.status_flags


def wait_flags(session, conn, told):
    """sr_status_flags of the first request for which `told(flags)` holds. If an answer is overdue,
    those of the last request. A server notices the end of a connection, or a path that works,
    independently of requests."""
    limit = Limit(conn.deadlines.answer_ms)
    flags = flags_of(session, conn)
    while not told(flags) and not limit.passed:
        conn.callbacks.wait_seen(conn.callbacks.count + 1, conn.deadlines.patience_ms)
        flags = flags_of(session, conn)
    return flags


def bind_back(session, conn, requirement_id=""):
    requirement_id = requirement_id or either(conn, WAITS, TABLE)
    bound = session.bind(conn, DIRECTIONS.CDFC4_BACK_OR_BOTH)
    expect(bound, requirement_id, must=[kinds.REPLY])


def bound_back(bench, session, requirement_id=""):
    """A new connection, bound for the backchannel. A connection that has carried a SEQUENCE is a
    fore channel and stays one (RFC 8881 18.34.3)."""
    conn = new_connection(bench)
    bind_back(session, conn, requirement_id)
    return conn


def expect_retry(first, second):
    """The second callback is a retry of the first: same slot, same sequence ID (RFC 8881
    2.10.13.2.4)."""
    before, after = sequence_of(first, RETRIED), sequence_of(second, RETRIED)
    for field in ("csa_slotid", "csa_sequenceid"):
        expect.equal(getattr(after, field), getattr(before, field), RETRIED, field)
    same = first["CB_RECALL"] == second["CB_RECALL"]
    expect.true(same, RETRIED, "the retried callback is the one that was lost")


@case(
    "server.backchannel.lost-with-recall-{end}",
    requirements=[
        RETRIED,
        WAITS,
        FLAG_OF_SESSION,
        FLAG_WHILE_DOWN,
        VALUES,
        "RFC8167-4.3.2-2",
        TABLE,
    ],
    needs=["delegations"],
    over=ANY,
    bugs=["B58", "B59"],
)
@pytest.mark.parametrize("end", ["close", "abort"])
def test_lost_with_recall(bench, end):
    """The connection ends while a recall is outstanding. On a new connection SEQUENCE only reports
    that the path is down. After BIND_CONN_TO_SESSION the server retries the callback with its slot
    and sequence ID, and clears the flags."""
    recall = Recall(bench)
    first = recall.expect_recall(RETRIED)
    session = recall.session
    getattr(recall.conn, end)()
    conn = new_connection(bench)
    flags = wait_flags(session, conn, lambda flags: flags & DOWN_SESSION)
    expect.true(flags & ANY_DOWN, FLAG_WHILE_DOWN, "a flag tells that the path is down")
    expect.true(flags & DOWN_SESSION, FLAG_OF_SESSION, "CB_PATH_DOWN_SESSION is set")
    again = flags_of(session, conn)
    expect.true(again & DOWN_SESSION, FLAG_OF_SESSION, "CB_PATH_DOWN_SESSION stays set")
    waits = either(conn, WAITS, RETRIED)
    expect_quiet(conn, waits, "callbacks on a connection that is not bound", before=0)
    back = bound_back(bench, session)
    recall.carriers = [back]
    second = recall.wait(RETRIED, 0, AFTER_LOSS_MS)
    expect_retry(first, second)
    back.callbacks.answer(second)
    left = wait_flags(session, conn, lambda flags: not flags & ANY_DOWN) & ANY_DOWN
    expect.equal(left, 0, VALUES, "path flags after the backchannel is bound")
    session.conn = conn
    recall.expect_done(waits)


@case(
    "server.backchannel.lost-idle-{end}",
    requirements=[FLAG_WHILE_DOWN, VALUES],
    needs=["backchannel"],
    over=ANY,
)
@pytest.mark.parametrize("end", ["close", "abort"])
def test_lost_idle(bench, end):
    """The only backchannel connection ends while it is idle. SEQUENCE reports that the path is down
    until a connection is bound."""
    session = bench.nfs4_session(back=True)
    session.conn.callbacks.wait_seen(1, bench.deadlines.patience_ms)
    # A server may not count on the path before it has tried it.
    flags = wait_flags(session, session.conn, lambda flags: not flags & DOWN)
    expect.equal(flags & DOWN, 0, VALUES, "CB_PATH_DOWN while all is well")
    getattr(session.conn, end)()
    conn = new_connection(bench)
    wait_flags(session, conn, lambda flags: flags & ANY_DOWN)
    for _ in range(2):
        flags = flags_of(session, conn)
        expect.true(flags & ANY_DOWN, FLAG_WHILE_DOWN, "SEQUENCE tells it")
    bound_back(bench, session, VALUES)
    left = wait_flags(session, conn, lambda flags: not flags & ANY_DOWN) & ANY_DOWN
    expect.equal(left, 0, VALUES, "path flags after the backchannel is bound")


@case(
    "server.backchannel.recall-after-loss",
    requirements=[HELD, WAITS, "RFC8167-4.3.2-2", TABLE],
    needs=["delegations"],
    over=ANY,
)
def test_recall_after_loss(bench):
    """A recall becomes due while the session has no connection. The server does not grant the
    conflicting OPEN before the delegation is returned. It sends the recall once a connection is
    bound, or not. RFC 8167 5.4 lets a call that waits for a connection time out. By RFC 8881
    10.4.5 the flags of SEQUENCE stand for it."""
    recall = Recall(bench)
    recall.conn.abort()
    recall.expect_waiting(HELD)
    conn = new_connection(bench)
    bind_back(recall.session, conn)
    recall.carriers = [conn]
    waits = either(conn, WAITS, HELD)
    callback = recall.look(waits, 0, AFTER_LOSS_MS)
    if callback is None:
        clause = either(conn, "one that waits may time out (RFC 8167 5.4)", TOLD_BY_FLAGS)
        bench.latitude(waits, f"no recall comes over the new connection: {clause}")
    else:
        conn.callbacks.answer(callback)
    recall.session.conn = conn
    recall.expect_done(either(conn, "RFC8167-4.3.2-2", HELD))


@case(
    "server.backchannel.moves-to-second",
    requirements=[RETRIED, WAITS, TABLE],
    needs=["delegations"],
    over=ANY,
)
def test_moves_to_second(bench):
    """Two connections carry the backchannel. The one with an outstanding recall ends, and the
    server retries the same recall on the other."""
    recall = Recall(bench)
    other = new_connection(bench)
    bind_back(recall.session, other)
    other.callbacks.wait_seen(1, bench.deadlines.patience_ms)
    recall.carriers = [recall.conn, other]
    waits = either(other, WAITS, RETRIED)
    first = recall.expect_recall(waits)
    left = recall.conn if first.conn is other else other
    first.conn.abort()
    recall.carriers = [left]
    second = recall.wait(RETRIED, 0, AFTER_LOSS_MS)
    expect_retry(first, second)
    left.callbacks.answer(second)
    recall.session.conn = left
    recall.expect_done(waits)


@case(
    "server.backchannel.client-never-returns",
    requirements=[HELD, WAITS],
    needs=["delegations"],
    over=ANY,
)
def test_client_never_returns(bench):
    """A client disappears with an outstanding recall. The server serves others, and does not let
    them write the file before the lease expires."""
    recall = Recall(bench)
    waits = either(recall.conn, WAITS, HELD)
    recall.expect_recall(waits)
    others = bench.nfs4_session()
    recall.conn.abort()
    expect(others.exchange("PUTROOTFH"), waits, must=[kinds.REPLY])
    recall.expect_waiting(HELD)
    expect(others.exchange("PUTROOTFH"), waits, must=[kinds.REPLY])


# -- BIND_CONN_TO_SESSION --------------------------------------------------------------------------

LEGAL = {
    "fore": ["CDFS4_FORE"],
    "back": ["CDFS4_BACK"],
    "fore-or-both": ["CDFS4_FORE", "CDFS4_BOTH"],
    "back-or-both": ["CDFS4_BACK", "CDFS4_BOTH"],
}


def direction_of(name):
    return DIRECTIONS["CDFC4_" + name.upper().replace("-", "_")]


@case(
    "server.bind.{name}-{mode}",
    requirements=[TABLE, "RFC8881-18.34.3-3"],
    needs=["backchannel"],
    over=ANY,
)
@pytest.mark.parametrize("name", LEGAL)
@pytest.mark.parametrize("mode", ["rdma", "plain"])
def test_bind(bench, name, mode):
    """A connection that is new to the session is bound for each direction, with and without RDMA
    mode. The granted direction is one of the table, and the framing does not change. Over TCP it
    may change in RDMA mode, as `bind.tcp-rdma` shows."""
    if mode == "rdma":
        bench.need("rdma")
    session = bench.nfs4_session(back=True)
    conn = new_connection(bench)
    outcome = session.bind(conn, direction_of(name), rdma_mode=mode == "rdma")
    expect(outcome, TABLE, must=[kinds.REPLY])
    ok = outcome.result["BIND_CONN_TO_SESSION"].resok4
    expect.one_of(ok.bctsr_dir.name, LEGAL[name], TABLE, "bctsr_dir", outcome=outcome)
    same = ok.bctsr_sessid == session.id
    expect.true(same, TABLE, "the result names the session", outcome=outcome)
    if mode == "plain":
        stepped = bool(ok.bctsr_use_conn_in_rdma_mode)
        expect.equal(stepped, False, "RFC8881-18.34.3-3", "RDMA mode unasked", outcome=outcome)
    expect(conn.probe(), "RFC8881-18.34.3-3", must=[kinds.REPLY])


@case(
    "server.bind.again-{asked}-of-{has}",
    requirements=[AGAIN, TABLE],
    needs=["backchannel"],
    over=ANY,
)
@pytest.mark.parametrize(
    "asked, has",
    [("fore", "fore"), ("back", "back"), ("fore-or-both", "fore"), ("back-or-both", "back")],
)
def test_bind_again(bench, asked, has):
    """A connection is bound twice. The second request demands nothing that it does not have."""
    session = bench.nfs4_session(back=True)
    conn = new_connection(bench)
    expect(session.bind(conn, direction_of(has)), TABLE, must=[kinds.REPLY])
    outcome = session.bind(conn, direction_of(asked))
    expect(outcome, AGAIN, must=[kinds.REPLY])
    given = outcome.result["BIND_CONN_TO_SESSION"].resok4.bctsr_dir.name
    expect.one_of(given, LEGAL[asked], TABLE, "bctsr_dir", outcome=outcome)


@case(
    "server.bind.demand-{asked}-of-{has}",
    requirements=[AGAIN, TABLE],
    needs=["backchannel"],
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize(
    "asked, has",
    [("back", "fore"), ("back-or-both", "fore"), ("fore", "back"), ("fore-or-both", "back")],
)
def test_bind_demands(bench, asked, has):
    """A bound connection is bound again, and its channels would have to change."""
    session = bench.nfs4_session(back=True)
    conn = new_connection(bench)
    expect(session.bind(conn, direction_of(has)), TABLE, must=[kinds.REPLY])
    outcome = session.bind(conn, direction_of(asked))
    expect(outcome, AGAIN, must=["nfs:NFS4ERR_INVAL"])


@case(
    "server.bind.not-alone",
    requirements=[ALONE],
    needs=["nfs41"],
    over=ANY,
    hostile=True,
)
def test_not_alone(bench):
    """BIND_CONN_TO_SESSION with another operation behind it."""
    session = bench.nfs4_session()
    bound = operation(
        "BIND_CONN_TO_SESSION", bctsa_sessid=session.id, bctsa_dir=DIRECTIONS.CDFC4_FORE
    )
    conn = bench.connect()
    outcome = conn.exchange(conn.compound_call(bound, "PUTROOTFH"))
    expect(outcome, ALONE, must=[status("NFS4ERR_NOT_ONLY_OP")])


@case(
    "server.bind.behind-{name}-{connection}",
    requirements=[BEHIND],
    needs=["nfs41"],
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("connection", ["own", "new"])
@pytest.mark.parametrize("name", ["sequence", "others"])
def test_behind_sequence(bench, name, connection):
    """BIND_CONN_TO_SESSION behind SEQUENCE, alone or as the last of several, on a connection of the
    session or on another one."""
    session = bench.nfs4_session()
    bound = operation(
        "BIND_CONN_TO_SESSION", bctsa_sessid=session.id, bctsa_dir=DIRECTIONS.CDFC4_FORE
    )
    before = ["PUTROOTFH"] if name == "others" else []
    conn = bench.connect() if connection == "new" else session.conn
    outcome = session.exchange(*before, bound, conn=conn)
    expect(outcome, BEHIND, should=[status("NFS4ERR_NOT_ONLY_OP")])


@case(
    "server.bind.direction-{value}",
    requirements=[TABLE],
    needs=["nfs41"],
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("value", [0, 4, 5, 8, 4294967295])
def test_no_direction(bench, value):
    """Values that are not in channel_dir_from_client4."""
    session = bench.nfs4_session()
    outcome = session.bind(bench.connect(), value)
    refused = ["nfs:NFS4ERR_BADXDR", "nfs:NFS4ERR_INVAL", "rpc:GARBAGE_ARGS"]
    expect(outcome, TABLE, must=refused)


@case(
    "server.bind.tcp-{mode}",
    requirements=["RFC8881-18.34.3-3", STEPPED_UP],
    needs=["nfs41", "tcp"],
    over=ANY,
)
@pytest.mark.parametrize("mode", ["rdma", "plain"])
def test_bind_over_tcp(bench, mode):
    """A server that does not step up connections denies RDMA mode over TCP, and goes on with
    records."""
    session = bench.nfs4_session()
    conn = bench.connect_tcp()
    outcome = session.bind(conn, DIRECTIONS.CDFC4_FORE, rdma_mode=mode == "rdma")
    expect(outcome, "RFC8881-18.34.3-3", must=[kinds.REPLY])
    ok = outcome.result["BIND_CONN_TO_SESSION"].resok4
    if ok.bctsr_use_conn_in_rdma_mode and mode == "rdma":
        record = session.exchange("PUTROOTFH", conn=conn)
        ended = record.kind != kinds.REPLY
        expect.true(ended, STEPPED_UP, "in RDMA mode no record is answered", outcome=record)
        bench.not_testable("the server steps TCP connections up to RDMA mode")
    stepped = bool(ok.bctsr_use_conn_in_rdma_mode)
    expect.equal(stepped, False, "RFC8881-18.34.3-3", "RDMA mode over TCP", outcome=outcome)
    expect(session.exchange("PUTROOTFH", conn=conn), "RFC8881-18.34.3-3", must=[kinds.REPLY])


@case(
    "server.backchannel.over-tcp",
    requirements=[APART, "RFC8881-20.9.3-1", TABLE],
    needs=["delegations", "tcp"],
)
def test_over_tcp(bench):
    """The fore channel is over RDMA and the backchannel over TCP. The recall arrives as a record,
    and the server sends no calls over RDMA."""
    rdma = new_connection(bench)
    session = bench.nfs4_session(rdma)
    tcp = bench.connect_tcp()
    Callbacks(tcp)
    bound = session.bind(tcp, DIRECTIONS.CDFC4_BACK)
    expect(bound, APART, must=[kinds.REPLY])
    direction = bound.result["BIND_CONN_TO_SESSION"].resok4.bctsr_dir.name
    expect.equal(direction, "CDFS4_BACK", TABLE, "bctsr_dir", outcome=bound)
    # A server may test the path before it delegates.
    tcp.callbacks.wait_seen(1)
    recall = Recall(bench, session)
    recall.carriers = [tcp]
    callback = recall.expect_recall(APART)
    first = callback.operations[0][0].name
    expect.equal(first, "CB_SEQUENCE", "RFC8881-20.9.3-1", "first operation of the recall")
    expect_quiet(rdma, APART, "callbacks over RDMA", before=0)
    tcp.callbacks.answer(callback)
    recall.expect_done(APART)
