"""Retries and the reply cache of a session (RFC 8881 2.9.2, 2.10.6.1, 2.10.6.2).

The cases retry on the same and on other connections, send false retries, and share a session
between two connections or transports."""

import pytest

from steertag import rpc
from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.nfs4_client import fore_channel, getattr_of, putfh
from ..message_words import either
from ..nfs4_checks import (
    NFS4,
    SMALL_REPLY,
    expect_reads,
    expect_slot_moves,
    items,
    make_room,
    need_cached,
    read_operations,
    status,
    with_file,
)
from .retry_checks import (
    expect_name,
    is_in_order,
    kept_results,
    made_file,
    rename,
    second_connection,
)

XID = "RFC8881-2.10.6.1-3"
ONCE = "RFC8881-2.10.6.1-4"
# On a connection that has not sent the request, a reply answers nothing.
UNSOLICITED = "RFC8166-3.3.1-11"
UNCACHED = "RFC8881-2.10.6.1.3-1"
CACHED = "RFC8881-18.46.3-5"
HANDLES = "RFC8881-2.10.6.2-3"
CREDITS = "RFC8881-2.9.2-7"
IN_CHUNK = "RFC8267-6.4.1-4"
OTHER_USER = "RFC8881-2.10.6.1.3.1-1"
NO_SECOND = "RFC8881-2.9.2-6"
XID_OF_CALL = "RFC5531-9-1"


def expect_only_reply(conn, requirement_id):
    """The next message is the reply to the next call. An unsolicited reply would arrive first."""
    call = conn.null_call()
    outcome = conn.exchange(call)
    expect(outcome, requirement_id, must=[kinds.REPLY])
    own = outcome.xid == call.xid
    expect.true(own, requirement_id, "no reply comes that was not asked for", outcome=outcome)


# RFC 8881 2.10.6.2: the server may still be executing the request that was lost with its
# connection.
UNDER_WAY = dict.fromkeys(
    (status("NFS4ERR_DELAY"), status("NFS4ERR_SEQ_MISORDERED")), "the request is still under way"
)


def with_cacheable(bench, content):
    """A session, and the handle of a new file whose content fits a cached reply. The case is not
    testable where the server caches less (RFC 8881 18.36.3)."""
    session, handle = with_file(bench, content)
    need_cached(bench, session, SMALL_REPLY + len(content))
    return session, handle


WHERE = ["same", "other", "after-loss"]
# RFC 8881 2.9.2, 2.10.6.2: legal answers to a retry although the request's connection did not
# break.
IN_DOUBT = dict.fromkeys(
    (status("NFS4ERR_SEQ_MISORDERED"), status("NFS4ERR_DELAY")),
    "a retry although the connection did not break",
)
ENDED = dict.fromkeys(kinds.CLOSED, "a retry costs the connection (RFC 8881 2.9.2)")


def is_answered(outcome, where, requirement_id, latitude=()):
    """Whether a retry has results. It may be refused unless the connection of its request broke."""
    legal = dict(latitude)
    if where != "after-loss":
        legal |= {**IN_DOUBT, **ENDED}
    expect(outcome, requirement_id, must=[kinds.REPLY], latitude=legal)
    return outcome.kind == kinds.REPLY


def refused_behind(outcome):
    """{kind: why} if SEQUENCE succeeded and the next operation failed. A retry may get that if the
    reply is not cached (RFC 8881 2.10.6.1.3)."""
    results = outcome.result.results if outcome.result is not None else []
    if len(results) != 2 or not is_in_order(outcome):
        return {}
    return {outcome.kind: "the reply was not cached, and the operation behind SEQUENCE is refused"}


@case(
    "server.nfs4.retry.rename-{where}",
    requirements=[ONCE, CACHED, XID],
    needs=["nfs41"],
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("where", WHERE)
def test_retried_rename(bench, where):
    """RENAME with sa_cachethis, retried with its slot and sequence ID. The second answer has the
    results of the first and the XID of the retry. Nothing is renamed twice."""
    session, files, old = made_file(bench)
    new = bench.name("new")
    operations = rename(session, files, old, new)
    call = session.call(*operations, slot=1, cachethis=True)
    first = session.conn.exchange(call)
    expect(first, ONCE, must=[kinds.REPLY])
    conn = second_connection(bench, session, where)
    again = session.call(*operations, conn=conn, slot=1, number=1, cachethis=True, highest=1)
    second = conn.exchange(again)
    if second.raw:
        expect.equal(second.xid, again.xid, XID, "XID of the reply", show=False, outcome=second)
    if is_answered(second, where, ONCE):
        same = kept_results(second) == kept_results(first)
        expect.true(same, CACHED, "the retry gets the results of the request", outcome=second)
    files.session.conn = conn if conn.open else bench.connect()
    expect_name(files, new, ONCE)


@case(
    "server.nfs4.retry.create-{where}", requirements=[ONCE], needs=["nfs41"], over=ANY, hostile=True
)
@pytest.mark.parametrize("where", ["other", "after-loss"])
def test_retried_create(bench, where):
    """CREATE without sa_cachethis is retried. The server does not execute it again, so
    NFS4ERR_EXIST is wrong."""
    session = bench.nfs4_session()
    files = bench.nfs4_files(session)
    made = symlink(bench.name("made"))
    first = session.exchange(putfh(files.directory), made, "GETFH", slot=1)
    expect(first, ONCE, must=[kinds.REPLY])
    conn = second_connection(bench, session, where)
    again = session.exchange(putfh(files.directory), made, "GETFH", conn=conn, slot=1, number=1)
    is_answered(again, where, ONCE, latitude=refused_behind(again))


@case(
    "server.nfs4.retry.read-{form}-{where}",
    requirements=[HANDLES, CACHED, CREDITS, IN_CHUNK],
    needs=["nfs41"],
    over=ANY,
)
@pytest.mark.parametrize("form", ["chunk", "other-shape", "inline", "first-inline"])
@pytest.mark.parametrize("where", ["other", "after-loss"])
def test_retried_read(bench, form, where):
    """A cached READ is retried over another connection. Its data goes to the retry's chunk, under
    the handles of the retry, whatever the first call offered."""
    if form != "inline":
        bench.need("rdma")
    content = bench.random.randbytes(1000)
    session, handle = with_cacheable(bench, content)
    call = session.call(*read_operations(handle, (0, 1000)), slot=1, cachethis=True)
    if form != "first-inline":
        session.conn.carry_result(call, 1000)
    else:
        make_room(session.conn, call, 1000)
    first = session.conn.exchange(call)
    expect_reads(first, either(session.conn, HANDLES, CACHED), content)
    content = bytes(first.result["READ"].resok4.data)
    conn = second_connection(bench, session, where)
    again = session.call(
        *read_operations(handle, (0, 1000)), conn=conn, slot=1, number=1, cachethis=True
    )
    if form != "inline":
        conn.write_chunk(again, sizes=[333, 667] if form == "other-shape" else [1000])
    else:
        make_room(conn, again, 1000)
    outcome = conn.exchange(again)
    if not is_answered(outcome, where, CACHED):
        return
    data = outcome.result["READ"].resok4.data
    expect.data(data, content, CACHED, "octets of the READ", outcome=outcome)
    if form != "inline":
        # New handles replace old ones. If the request had no chunk, that of its retry is like the
        # chunk of any call.
        rule = IN_CHUNK if form == "first-inline" else HANDLES
        expect.data(outcome.data, content, rule, "octets in the retry's chunk", outcome=outcome)
    if conn.has_header:
        expect_fresh_grant(bench, conn, outcome)


def expect_fresh_grant(bench, conn, outcome):
    """A cached reply grants credits of its connection."""
    fresh = conn.probe()
    expect(fresh, CREDITS, must=[kinds.REPLY])
    expect.at_least(outcome.header.credit, 1, CREDITS, "grant of a cached reply", outcome)
    if outcome.header.credit != fresh.header.credit:
        bench.latitude(CREDITS, "a grant that differs from that of the next reply")


@case(
    "server.nfs4.retry.small-chunk",
    requirements=[HANDLES, IN_CHUNK, CACHED],
    needs=["nfs41"],
    hostile=True,
)
def test_retry_with_small_chunk(bench):
    """The retry's write chunk is smaller than the cached result: an error. No octet is written
    beyond the chunk, and the result is nowhere else."""
    content = bench.random.randbytes(1000)
    session, handle = with_cacheable(bench, content)
    call = session.call(*read_operations(handle, (0, 1000)), slot=1, cachethis=True)
    session.conn.write_chunk(call, 1000)
    first = session.conn.exchange(call)
    expect_reads(first, HANDLES, content)
    if len(first.result["READ"].resok4.data) <= 400:
        bench.not_testable("READ returns no more octets than the small chunk has")
    conn = second_connection(bench, session, "after-loss")
    again = session.call(
        *read_operations(handle, (0, 1000)), conn=conn, slot=1, number=1, cachethis=True
    )
    conn.write_chunk(again, 400)
    outcome = conn.exchange(again)
    if outcome.kind == kinds.REPLY:
        reduced = items(outcome, again)[0].reduced
        expect.true(reduced, IN_CHUNK, "the result is in the chunk that was provided for it")
        data, wanted = outcome.result["READ"].resok4.data, first.result["READ"].resok4.data
        expect.data(data, wanted, CACHED, "octets of the READ", outcome=outcome)
    expect(
        outcome,
        HANDLES,
        must=[kinds.ERR_CHUNK, "rpc:SYSTEM_ERR", "rpc:GARBAGE_ARGS"],
        latitude={
            **dict.fromkeys(kinds.CLOSED, "no reply can be formed (RFC 8166 4.5.4)"),
            status("NFS4ERR_SEQ_FALSE_RETRY"): "another chunk is another request",
        },
    )


@case(
    "server.nfs4.retry.uncached",
    requirements=[UNCACHED, "RFC8881-2.10.6.1.3-2"],
    needs=["nfs41"],
    over=ANY,
)
def test_uncached(bench):
    """A READ too large for the cache is retried after its connection broke. SEQUENCE succeeds. If
    the reply is not cached, the next operation reports that."""
    attrs = fore_channel(ca_maxresponsesize_cached=1024)
    content = bench.random.randbytes(32768)
    session, handle = with_file(bench, content, csa_fore_chan_attrs=attrs)
    length = min(len(content), session.largest_read)
    content = content[:length]
    call = session.call(*read_operations(handle, (0, length)), slot=1)
    session.conn.carry_result(call, length)
    expect_reads(session.conn.exchange(call), UNCACHED, content)
    conn = second_connection(bench, session, "after-loss")
    again = session.call(*read_operations(handle, (0, length)), conn=conn, slot=1, number=1)
    conn.carry_result(again, length)
    outcome = conn.exchange(again)
    expect(
        outcome,
        UNCACHED,
        must=[status("NFS4ERR_RETRY_UNCACHED_REP")],
        latitude={**refused_behind(outcome), kinds.REPLY: "the reply was cached all the same"},
    )
    first = outcome.result["SEQUENCE"].status
    expect.equal(
        first.name, "NFS4_OK", "RFC8881-2.10.6.1.3-2", "status of SEQUENCE", outcome=outcome
    )


@case(
    "server.nfs4.retry.false-{name}",
    requirements=[OTHER_USER, "RFC8881-2.10.6.1.3.1-2", ONCE],
    needs=["nfs41"],
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("name", ["operations", "arguments", "user"])
def test_false_retry(bench, name):
    """Another request, or another user, with a used sequence ID: nothing is executed."""
    session, files, old = made_file(bench)
    new, other = bench.name("new"), bench.name("other")
    operations = rename(session, files, old, new)
    expect(session.exchange(*operations, slot=1, cachethis=True), ONCE, must=[kinds.REPLY])
    conn = bench.connect()
    if name == "operations":
        operations = operations[:1] + [operation("REMOVE", target=new)]
    elif name == "arguments":
        operations = rename(session, files, new, other)
    else:
        conn.credential = other_user(bench)
    outcome = session.exchange(*operations, conn=conn, slot=1, number=1, cachethis=True)
    refused = status("NFS4ERR_SEQ_FALSE_RETRY")
    if name == "user":
        legal = {kinds.DENIED: "the other user is not let in at all"}
        if outcome.kind == kinds.REPLY and not owners_differ(bench, files, conn):
            legal[kinds.REPLY] = "both users are one to the server, which translates them"
        expect(outcome, OTHER_USER, must=[refused], latitude=legal)
    else:
        expect(
            outcome,
            "RFC8881-2.10.6.1.3.1-2",
            must=[refused],
            latitude={
                **refused_behind(outcome),
                kinds.REPLY: "the cached reply (RFC 8881 2.10.6.1.3)",
            },
        )
    expect_name(files, new, ONCE)


def other_user(bench):
    """The credential of an unprivileged user other than the user of the run."""
    number = 4711 if bench.target.profile.uid != 4711 else 4712
    return rpc.auth_sys(uid=number, gid=number)


def owners_differ(bench, files, conn):
    """Whether files of this connection's user and of the session's user have different owners. RFC
    8881 2.10.6.1.3.1: users are compared as the server translates them."""
    owners = set()
    for each in (files.session.conn, conn):
        operations = [putfh(files.directory), symlink(bench.name("owned")), "GETFH"]
        done = files.session.exchange(*operations, getattr_of("owner"), conn=each)
        if done.kind != kinds.REPLY:
            return False
        owners.add(NFS4.attributes(done.result["GETATTR"].resok4.obj_attributes).get("owner"))
    return len(owners) == 2


def symlink(name):
    """CREATE of a symbolic link. GETFH has to follow, because a server may require it (RFC 8881
    2.10.6.4)."""
    return operation(
        "CREATE",
        objtype={"type": NFS4.FileType.NF4LNK, "linkdata": "target"},
        objname=name,
        createattrs=NFS4.fattr(mode=0o777),
    )


# -- connections -----------------------------------------------------------------------------------


@case(
    "server.nfs4.connections.interleaved",
    requirements=["RFC8881-2.9.2-4", "RFC8881-2.10.5-1", UNSOLICITED],
    needs=["nfs41"],
    over=ANY,
)
def test_interleaved(bench):
    """Two connections of one session have six requests in flight, or as many as slots and
    credits allow. Each reply arrives on the connection of its request."""
    content = bench.random.randbytes(8192)
    session, handle = with_file(bench, content)
    other = bench.connect()
    bound = session.bind(other, NFS4.ChannelDirFromClient.CDFC4_FORE)
    expect(bound, "RFC8881-2.10.5-1", must=[kinds.REPLY])
    count = min(6, session.slots - 1, 2 * min(session.conn.window, other.window))
    if count < 2:
        bench.not_testable("the session has fewer slots than the case uses")
    calls = []
    for slot in range(1, count + 1):
        conn = (session.conn, other)[slot % 2]
        call = session.call(*read_operations(handle, (1024 * slot, 1024)), conn=conn, slot=slot)
        conn.carry_result(call, 1024)
        conn.send(call)
        calls.append((conn, call, content[1024 * slot : 1024 * slot + 1024]))
    for conn in (session.conn, other):
        mine = [call for at, call, _ in calls if at is conn]
        outcomes = conn.collect_sent(mine)
        for at, call, wanted in calls:
            if at is conn:
                expect_reads(outcomes[call.xid], "RFC8881-2.9.2-4", wanted)


@case(
    "server.nfs4.connections.repeated-request",
    requirements=["RFC8881-2.9.2-3", NO_SECOND, XID_OF_CALL, "RFC8881-2.10.6.2-4", ONCE],
    needs=["nfs41"],
    over=ANY,
    hostile=True,
)
def test_repeated_request(bench):
    """The same request twice on one connection without waiting. Each gets one answer. That of the
    second is an error or the results of the first."""
    session, files, old = made_file(bench)
    if session.conn.window < 2:
        bench.not_testable("the server grants one credit")
    new = bench.name("new")
    operations = rename(session, files, old, new)
    calls = [
        session.call(*operations, slot=1, number=1, cachethis=True, highest=1) for _ in range(2)
    ]
    outcomes = session.conn.collect(calls)
    for call in calls:
        outcome = outcomes[call.xid]
        refused = outcome.kind.startswith("nfs:") and not is_in_order(outcome)
        if refused or outcome.kind in ENDED:
            expect(outcome, "RFC8881-2.10.6.2-4", should=[*IN_DOUBT], latitude=ENDED)
        else:
            dropped = outcome.kind == kinds.SILENCE
            expect(outcome, "RFC8881-2.9.2-3" if dropped else ONCE, must=[kinds.REPLY])
    if not session.conn.open:
        return
    rule = either(session.conn, NO_SECOND, XID_OF_CALL)
    expect_only_reply(session.conn, rule)
    expect.equal(len(session.conn.inbox), 0, rule, "further replies")
    expect_name(files, new, ONCE)
    expect_slot_moves(session, "RFC8881-2.9.2-3")


@case(
    "server.nfs4.connections.lost-reply",
    requirements=["RFC8881-2.9.2-5", ONCE, UNSOLICITED],
    needs=["nfs41"],
    over=ANY,
)
def test_lost_reply(bench):
    """A connection ends before its reply. The session's next connection gets no unsolicited
    message, and the retry gets the answer. A call on another connection is answered first, so the
    request has arrived by then."""
    session, files, old = made_file(bench)
    elsewhere = bench.connect()
    new = bench.name("new")
    operations = rename(session, files, old, new)
    lost = session.call(*operations, slot=1, cachethis=True)
    session.conn.send(lost)
    session.conn.work()
    expect(elsewhere.probe(), "RFC8881-2.9.2-5", must=[kinds.REPLY])
    session.conn.abort()
    conn = bench.connect()
    bound = session.bind(conn)
    expect(bound, "RFC8881-2.9.2-5", must=[kinds.REPLY])
    expect_only_reply(conn, "RFC8881-2.9.2-5")
    again = session.exchange(*operations, conn=conn, slot=1, number=1, cachethis=True)
    expect(again, ONCE, must=[kinds.REPLY], latitude=UNDER_WAY)
    if again.kind != kinds.REPLY:
        return
    session.conn = conn
    expect_name(files, new, ONCE)


@case(
    "server.nfs4.connections.tcp-{first}",
    requirements=["RFC8881-2.10.3.1-1", "RFC8881-2.9.1-1"],
    needs=["nfs41", "tcp"],
)
@pytest.mark.parametrize("first", ["rdma", "tcp"])
def test_both_transports(bench, first):
    """The server has NFS version 4 over TCP too. A connection of the other transport joins a
    session, and requests over both are answered."""
    rdma, tcp = bench.connect(), bench.connect_tcp()
    expect(tcp.exchange(tcp.null_call(100003, 4)), "RFC8881-2.9.1-1", must=[kinds.REPLY])
    conn, other = (rdma, tcp) if first == "rdma" else (tcp, rdma)
    session = bench.nfs4_session(conn)
    expect(session.bind(other), "RFC8881-2.10.3.1-1", must=[kinds.REPLY])
    for each in (conn, other):
        outcome = session.exchange("PUTROOTFH", conn=each)
        expect(outcome, "RFC8881-2.9.1-1", must=[kinds.REPLY])


@case(
    "server.nfs4.connections.tcp-unknown-session",
    requirements=["RFC8881-2.10.3.1-1"],
    needs=["nfs41", "tcp"],
    hostile=True,
)
def test_unknown_session_over_tcp(bench):
    """BIND_CONN_TO_SESSION over the second transport, with a session ID that was never assigned."""
    session = bench.nfs4_session()
    wrong = bytes(each ^ 0xA5 for each in session.id)
    outcome = session.bind(bench.connect_tcp(), bctsa_sessid=wrong)
    expect(outcome, "RFC8881-2.10.3.1-1", must=[status("NFS4ERR_BADSESSION")])
