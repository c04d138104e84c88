"""Clients with several sessions or connections, and connections with several sessions.

RFC 8881 2.10.1, 2.10.3.1, 2.10.5 and 18.36 say what EXCHANGE_ID and CREATE_SESSION return, and
which sessions a connection serves."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.cases.case_end import unprepared
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.nfs4_client import alone_in_time, putfh, read
from ..nfs4_checks import BACK, expect_no_handle, expect_reads, status, unknown_handles

OF_ONE_CLIENT = "RFC8881-2.10.1-1"
JOINED = "RFC8881-2.10.3.1-4"
SHARED = "RFC8881-2.10.3.1-5"
SAME = "RFC8881-2.10.5-2"
TRUNKED = "RFC8881-2.10.5-3"
NUMBERED = "RFC8881-18.36.3-11"
NO_HANDLE = "RFC8881-18.36.3-17"
OWN_CACHE = "RFC8881-18.36.4-2"
UNKNOWN = "RFC8881-18.36.4-4"


def known_client(bench, conn=None):
    """(client, Outcome of its EXCHANGE_ID)."""
    client = bench.nfs4_client(conn)
    known = client.exchange_id()
    if known.kind != kinds.REPLY:
        raise unprepared(client.conn.owed, "EXCHANGE_ID", known.kind, known.trace())
    return client, known


def made_session(client):
    """The first session of this client, and the Outcome of its CREATE_SESSION."""
    made = client.create_session()
    if made.kind != kinds.REPLY:
        raise unprepared(client.conn.owed, "CREATE_SESSION", made.kind, made.trace())
    return client.sessions[0], made


def identity(outcome):
    """The identity of client and server in an EXCHANGE_ID reply: {name: value}."""
    ok = outcome.result["EXCHANGE_ID"].resok4
    return {
        "eir_clientid": ok.eir_clientid,
        "so_major_id": bytes(ok.eir_server_owner.so_major_id),
        "eir_server_scope": bytes(ok.eir_server_scope),
    }


@case("server.nfs4.client.same-over-{over}", requirements=[SAME], needs=["nfs41"], over=ANY)
@pytest.mark.parametrize("over", ["rdma", "tcp"])
def test_same(bench, over):
    """A client with a session repeats EXCHANGE_ID over another connection. Client ID, server owner
    and server scope do not change."""
    bench.need(over)
    client, known = known_client(bench)
    made_session(client)
    conn = bench.connect() if over == "rdma" else bench.connect_tcp()
    again = client.exchange_id(conn)
    expect(again, SAME, must=[kinds.REPLY])
    first, second = identity(known), identity(again)
    for name, value in first.items():
        expect.equal(second[name], value, SAME, name, show=False, outcome=again)


@case("server.nfs4.client.trunked", requirements=[TRUNKED], needs=["nfs41"], over=ANY)
def test_trunked(bench):
    """A client has two sessions, each on its own connection. It opens a file in one, and reads and
    closes it in the other."""
    content = bench.random.randbytes(100)
    session = bench.nfs4_session()
    files = bench.nfs4_files(session)
    name = bench.name("file")
    bench.file(content, name)
    conn = bench.connect()
    expect(session.client.create_session(conn), TRUNKED, must=[kinds.REPLY])
    other = session.client.sessions[-1]
    opened, handle = session.open(files.directory, name)
    stateid = opened.stateid
    operations = [
        putfh(handle),
        read(100, stateid=stateid),
        operation("CLOSE", open_stateid=stateid),
    ]
    expect_reads(other.exchange_in_time(*operations), TRUNKED, content)


@case("server.nfs4.session.of-one-client", requirements=[OF_ONE_CLIENT], needs=["nfs41"], over=ANY)
def test_of_one_client(bench):
    """Two clients create a session each. One session survives when the other is destroyed."""
    first, _ = made_session(known_client(bench)[0])
    second, made = made_session(known_client(bench)[0])
    differs = first.id != second.id
    expect.true(differs, OF_ONE_CLIENT, "two clients have two sessions", outcome=made)
    gone = first.destroy()
    if gone.kind != kinds.REPLY:
        raise unprepared(first.conn.owed, "DESTROY_SESSION", gone.kind, gone.trace())
    expect(second.exchange_in_time(), OF_ONE_CLIENT, must=[kinds.REPLY])


@case("server.nfs4.session.joined-by-sequence", requirements=[JOINED], needs=["nfs41"], over=ANY)
def test_joined_by_sequence(bench):
    """Without state protection, a SEQUENCE over another connection is enough to use the session
    there."""
    session = bench.nfs4_session()
    conn = bench.connect()
    for each in (conn, session.conn, conn):
        expect(session.exchange_in_time("PUTROOTFH", conn=each), JOINED, must=[kinds.REPLY])


@case("server.nfs4.session.on-one-connection", requirements=[SHARED], needs=["nfs41"], over=ANY)
def test_on_one_connection(bench):
    """Sessions of two clients, created over one connection and used there in turn."""
    first = bench.nfs4_session()
    client, _ = known_client(bench, first.conn)
    expect(client.create_session(), SHARED, must=[kinds.REPLY])
    for session in (first, client.sessions[0]) * 2:
        # SEQUENCE alone: the second client has not sent RECLAIM_COMPLETE.
        expect(session.exchange_in_time(), SHARED, must=[kinds.REPLY])


# -- CREATE_SESSION --------------------------------------------------------------------------------


@case("server.nfs4.session.csa-sequence", requirements=[NUMBERED], needs=["nfs41"], over=ANY)
def test_csa_sequence(bench):
    """csr_sequence equals csa_sequence, for the first session of a client and for the next."""
    client, _ = known_client(bench)
    for _ in range(2):
        asked = client.create_sequence
        made = client.create_session()
        expect(made, NUMBERED, must=[kinds.REPLY])
        given = made.result["CREATE_SESSION"].resok4.csr_sequence
        what = "csr_sequence less csa_sequence"
        expect.equal((given - asked) & 0xFFFFFFFF, 0, NUMBERED, what, outcome=made)


@case(
    "server.nfs4.session.second-behind-sequence",
    requirements=[OWN_CACHE],
    needs=["nfs41"],
    over=ANY,
)
def test_second_behind_sequence(bench):
    """CREATE_SESSION behind the SEQUENCE of another session, whose reply is not to be cached there.
    The client retries it alone after the connection broke. The retry creates no third session."""
    session = bench.nfs4_session()
    client = session.client
    asked = client.create_sequence
    made = session.exchange_in_time(client.create_session_operation())
    expect(made, OWN_CACHE, must=[kinds.REPLY])
    first = bytes(made.result["CREATE_SESSION"].resok4.csr_sessionid)
    session.conn.abort()
    conn = bench.connect()
    again = alone_in_time(conn, client.create_session_operation(sequence=asked))
    expect(again, OWN_CACHE, must=[kinds.REPLY])
    same = bytes(again.result["CREATE_SESSION"].resok4.csr_sessionid) == first
    expect.true(same, OWN_CACHE, "a retry gives the same session", outcome=again)


@case(
    "server.nfs4.session.unknown-client",
    requirements=[UNKNOWN],
    needs=["nfs41"],
    over=ANY,
    hostile=True,
)
def test_unknown_client(bench):
    """CREATE_SESSION with a client ID that was never assigned."""
    client, _ = known_client(bench)
    made = client.create_session(csa_clientid=client.id ^ 0xA5A5A5A5A5A5A5A5)
    expect(made, UNKNOWN, must=[status("NFS4ERR_STALE_CLIENTID")])


@case(
    "server.nfs4.session.unknown-handle",
    requirements=[NO_HANDLE],
    needs=["backchannel"],
    over=ANY,
    hostile=True,
)
def test_unknown_handle(bench):
    """CREATE_SESSION requests callbacks under an RPCSEC_GSS handle that the server never issued. It
    is the second session of a client that has a backchannel."""
    client = bench.nfs4_session(back=True).client
    made = client.create_session(csa_flags=BACK, csa_sec_parms=[unknown_handles()])
    agreed = made.kind == kinds.REPLY and client.sessions[-1].granted.csr_flags & BACK
    without = {kinds.REPLY: "the session has no backchannel, so that no handle is used"}
    expect_no_handle(made, NO_HANDLE, latitude=None if agreed else without)
