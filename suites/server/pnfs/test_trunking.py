"""Addresses of data servers, and the servers behind them: trunking (RFC 8881 2.10.5, 13.5)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.cases.transport import TCP
from steertag.suite.nfs_client.data_server_link import NETIDS, OVER_RDMA
from steertag.suite.nfs_client.layout_user import DS
from steertag.suite.nfs_client.nfs4_client import putfh, read
from ..nfs4_checks import status
from .layout_checks import NEEDS, user_with_layout, written

TRUNKED, SAME = "RFC8881-2.10.5-1", "RFC8881-2.10.5-2"
TRANSPORTS, FOREIGN = "RFC8881-2.10.3.1-1", "RFC8881-2.10.13.1.4-1"
OVER_TCP = NETIDS[TCP]


def _identity(outcome):
    """(client ID, major ID, scope, minor ID) of an EXCHANGE_ID reply."""
    known = expect(outcome, SAME, must=[kinds.REPLY]).result["EXCHANGE_ID"].resok4
    owner = known.eir_server_owner
    server = bytes(owner.so_major_id), bytes(known.eir_server_scope)
    return known.eir_clientid, *server, owner.so_minor_id


def _expect_one_server(one, other, outcome):
    """Two identities of one server differ in their minor IDs at most."""
    for name, first, second in zip(("eir_clientid", "so_major_id", "scope"), one, other):
        expect.equal(second, first, SAME, name, show=False, outcome=outcome)


def _beside(conn, ways):
    """The addresses of a multipath list but for that of `conn`, as far as this run can use them."""
    own, others = (OVER_RDMA, OVER_TCP) if conn.has_header else (OVER_TCP, ())
    used = next(way for way in ways if way[0] in own)
    return [way for way in ways if way != used and way[0] in own + others]


@case("server.pnfs.trunk.same-address", requirements=[SAME], needs=NEEDS, over=ANY)
def test_same_address(bench):
    """A client repeats EXCHANGE_ID over a second connection to one address of each data server. Client ID, server owner
    and server scope do not change."""
    user = user_with_layout(bench)
    for ways in user.device.servers:
        client = bench.data_server_client(user.client, ways)
        first = _identity(client.exchange_id(eia_flags=DS))
        expect(client.create_session(), SAME, must=[kinds.REPLY])
        conn, _ = bench.connect_data_server(ways)
        again = client.exchange_id(conn, eia_flags=DS)
        _expect_one_server(first, _identity(again), again)


@case(
    "server.pnfs.trunk.same-list", requirements=[SAME, TRUNKED, TRANSPORTS], needs=NEEDS, over=ANY
)
def test_same_list(bench):
    """The addresses of a multipath list that have one server owner lead to one server. A session of the first address
    takes connections to the others, and READs over them give the octets."""
    user = user_with_layout(bench)
    content = written(bench, user, SAME)
    tried = 0
    for part in user.a_part_of_each():
        ways = user.device.servers[part.server]
        session = user.data_server(part.server)
        known = session.client.exchange_id(eia_flags=DS)
        first = _identity(known)
        for way in _beside(session.conn, ways):
            over_tcp = session.conn.has_header and way[0] in OVER_TCP
            conn, _ = bench.connect_data_server([way], tcp=over_tcp)
            outcome = session.client.exchange_id(conn, eia_flags=DS)
            found = _identity(outcome)
            # Replicas may be several servers (13.5), and sessions end at a minor ID (2.10.5).
            if found[1:] != first[1:]:
                continue
            tried += 1
            _expect_one_server(first, found, outcome)
            requirement_id = TRANSPORTS if over_tcp else TRUNKED
            expect(session.bind(conn), requirement_id, must=[kinds.REPLY])
            _expect_part(user, session, conn, part, content, requirement_id)
    if not tried:
        bench.not_testable(
            "no multipath list has two addresses of one server that this run can use"
        )


def _expect_part(user, session, conn, part, content, requirement_id):
    """READ of a part in this session, over this connection."""
    wanted = read(part.length, part.offset, user.for_io)
    call = session.call(putfh(part.handle), wanted, conn=conn)
    conn.carry_result(call, part.length)
    outcome = expect(conn.exchange(call), requirement_id, must=[kinds.REPLY])
    found = outcome.result["READ"].resok4.data
    octets = content[part.start : part.start + part.length]
    expect.data(found, octets, requirement_id, "octets of a READ", outcome=outcome)


@case(
    "server.pnfs.trunk.session-of-{whose}",
    requirements=[SAME, FOREIGN],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("whose", ["metadata-server", "data-server"])
def test_foreign_session(bench, whose):
    """SEQUENCE and BIND_CONN_TO_SESSION at a data server, with a session of the metadata server or of another data
    server. A server with another server owner does not know the session."""
    user = user_with_layout(bench)
    places = user.a_part_of_each()
    session = user.session
    if whose == "data-server":
        if len(places) < 2:
            bench.not_testable("the file has a single data server")
        session = user.data_server(places[1].server)
    here = user.data_server(places[0].server)
    at_home = _identity(session.client.exchange_id())
    known = here.client.exchange_id(eia_flags=DS)
    found = _identity(known)
    if found[1:3] == at_home[1:3]:
        _expect_one_server(at_home, found, known)
        bench.not_testable("both are one server by their server owners")
    foreign = session.exchange(conn=here.conn, slot=0, number=1)
    expect(foreign, FOREIGN, must=[status("NFS4ERR_BADSESSION")])
    expect(session.bind(here.conn), FOREIGN, must=[status("NFS4ERR_BADSESSION")])
    expect(here.exchange(), FOREIGN, must=[kinds.REPLY])
