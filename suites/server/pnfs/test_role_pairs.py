"""Servers with two roles, and with none of pNFS: flags, filehandles, and what a COMPOUND may have (RFC 8881 12.6,
13.1, 13.6)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.layout_user import DS, MDS, ROLES
from steertag.suite.nfs_client.nfs4_client import getattr_of, putfh
from .data_server_roles import meet_data_server, register
from .layout_checks import NEEDS, user_with_layout

UNSUPPORTED, MOST, APART = "RFC8881-12.6-2", "RFC8881-13.1-3", "RFC8881-13.1-5"
MIXED = "RFC8881-13.6-5"
NOTSUPP = "nfs:NFS4ERR_NOTSUPP"
BOTH = MDS | DS
LAYOUT_OPERATIONS = ["layoutget", "layoutcommit", "layoutreturn", "getdeviceinfo", "getdevicelist"]
MIXTURES = {
    "behind-layout": [NOTSUPP],
    "before-layout": ["nfs:NFS4ERR_BADHANDLE", "nfs:NFS4ERR_STALE"],
}


@case(
    "server.pnfs.unsupported.{name}",
    requirements=[UNSUPPORTED],
    needs=["nfs41"],
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("name", LAYOUT_OPERATIONS)
def test_unsupported(bench, name):
    """An operation on layouts at a server that is no metadata server by its EXCHANGE_ID: the target, or
    else a data server of it."""
    session, handle = _without_layouts(bench)
    outcome = session.exchange(putfh(handle), operation(name.upper()))
    expect(outcome, UNSUPPORTED, must=[NOTSUPP])


def _without_layouts(bench):
    """A session at a server that does not say that it is a metadata server, and a filehandle there."""
    client = bench.nfs4_client()
    if not register(client, UNSUPPORTED, MDS) & MDS:
        expect(client.create_session(), UNSUPPORTED, must=[kinds.REPLY])
        session = client.sessions[0]
        session.reclaim_complete()
        return session, bench.nfs4_files(session).file(b"content")
    user = user_with_layout(bench)
    part = user.parts()[0]
    session, roles = meet_data_server(bench, user, part, UNSUPPORTED)
    if roles & MDS:
        bench.not_testable("the target and its data server are metadata servers")
    return session, part.handle


def _need_both(bench, requirement_id):
    bench.serve_with("--both-roles")
    if register(bench.nfs4_client(), requirement_id, BOTH) != BOTH:
        bench.not_testable("the target is not metadata server and data server by one client ID")


@case("server.pnfs.role.both-of-all", requirements=[MOST], needs=NEEDS, over=ANY)
def test_both_of_all(bench):
    """A server that says both roles to a client that asks for both says them to one that asks for all three."""
    _need_both(bench, MOST)
    expect.equal(register(bench.nfs4_client(), MOST, ROLES), BOTH, MOST, "roles in eir_flags")


@case("server.pnfs.role.handles", requirements=[APART], needs=NEEDS, over=ANY)
def test_handles(bench):
    """The filehandles of a layout differ from that of OPEN if the server has both roles."""
    _need_both(bench, APART)
    user = user_with_layout(bench)
    # Without any a client uses that of OPEN.
    handles = [bytes(each) for each in user.layout.handles] or [bytes(user.handle)]
    expect.true(bytes(user.handle) not in handles, APART, "no handle of the layout is that of OPEN")


@case("server.pnfs.role.mixed-{name}", requirements=[MIXED], needs=NEEDS, over=ANY, hostile=True)
@pytest.mark.parametrize("name", MIXTURES)
def test_mixed(bench, name):
    """GETATTR behind the filehandle of a layout, and such a filehandle behind PUTROOTFH. Each half alone is
    executed."""
    user = user_with_layout(bench)
    part = user.parts()[0]
    session, roles = meet_data_server(bench, user, part, MIXED, ROLES)
    if roles in (DS, MDS):
        bench.not_testable("the data server has no second role by one client ID")
    _expect_apart(bench, user, part, session, name)


@case(
    "server.pnfs.role.mixed-both-{name}",
    requirements=[MIXED],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("name", MIXTURES)
def test_mixed_both(bench, name):
    """The same at a data server that is the metadata server too."""
    _need_both(bench, MIXED)
    user = user_with_layout(bench)
    for part in user.a_part_of_each():
        session, roles = meet_data_server(bench, user, part, MIXED, BOTH)
        if roles == BOTH:
            return _expect_apart(bench, user, part, session, name)
    return bench.not_testable("no data server of the layout is a metadata server")


def _expect_apart(bench, user, part, session, name):
    """A COMPOUND that mixes the roles of the server is refused."""
    if bytes(part.handle) == bytes(user.handle):
        bench.not_testable("both roles have the same filehandles")
    expect(user.read_at(session, part.handle, part.offset, 1), MIXED, must=[kinds.REPLY])
    expect(session.exchange("PUTROOTFH", getattr_of("type")), MIXED, must=[kinds.REPLY])
    mixture = {
        "behind-layout": (putfh(part.handle), getattr_of("type")),
        "before-layout": ("PUTROOTFH", putfh(part.handle)),
    }[name]
    expect(session.exchange(*mixture), MIXED, must=MIXTURES[name])
