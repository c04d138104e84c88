"""Roles in EXCHANGE_ID, and SECINFO_NO_NAME, at metadata server and data servers (RFC 8881 13.1, 13.12)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.layout_user import DS, MDS, NON_PNFS, ROLES
from steertag.suite.nfs_client.nfs4_client import putfh
from .data_server_roles import register
from .layout_checks import NEEDS, NFS4, user_with_layout

ROLE, SECURITY = "RFC8881-13.1-2", "RFC8881-13.12-2"
AT_DATA_SERVER = "RFC8881-13.1-7"
PARENT = NFS4.SecinfoStyle.SECINFO_STYLE4_PARENT
LEGAL = [MDS, MDS | DS, DS, NON_PNFS, DS | NON_PNFS]
ASKED = {
    "none": 0,
    "mds": MDS,
    "ds": DS,
    "non-pnfs": NON_PNFS,
    "mds-ds": MDS | DS,
    "mds-non-pnfs": MDS | NON_PNFS,
    "ds-non-pnfs": DS | NON_PNFS,
    "all": ROLES,
}


@case("server.pnfs.role.{name}", requirements=[ROLE], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("name", ASKED)
def test_role(bench, name):
    """EXCHANGE_ID with some roles. The roles of the reply are a combination that is allowed."""
    client = bench.nfs4_client()
    outcome = expect(client.exchange_id(eia_flags=ASKED[name]), ROLE, must=[kinds.REPLY])
    roles = outcome.result["EXCHANGE_ID"].resok4.eir_flags & ROLES
    expect.one_of(roles, LEGAL, ROLE, "roles in eir_flags", outcome=outcome)


@case(
    "server.pnfs.role.at-data-server-{name}",
    requirements=[ROLE, AT_DATA_SERVER],
    needs=NEEDS,
    over=ANY,
)
@pytest.mark.parametrize("name", ASKED)
def test_role_at_data_server(bench, name):
    """EXCHANGE_ID with some roles at each data server of a layout. The roles of the reply are a combination that is
    allowed. A client that asks for a data server alone gets that role."""
    user = user_with_layout(bench)
    for number, ways in enumerate(user.device.servers):
        roles = register(bench.data_server_client(user.client, ways), ROLE, ASKED[name])
        expect.one_of(roles, LEGAL, ROLE, f"roles of data server {number}")
        # A server with a client ID for each role may choose among several roles.
        if name == "ds":
            what = f"data server {number} has EXCHGID4_FLAG_USE_PNFS_DS"
            expect.true(roles & DS != 0, AT_DATA_SERVER, what)


@case("server.pnfs.security.{place}", requirements=[SECURITY], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("place", ["metadata-server", "data-server"])
def test_security(bench, place):
    """SECINFO_NO_NAME of the file's handle is answered, at the metadata server and at a data server."""
    user = user_with_layout(bench)
    session, handle = user.session, user.handle
    if place == "data-server":
        part = user.parts()[0]
        session, handle = user.data_server(part.server), part.handle
    asked = operation("SECINFO_NO_NAME")
    expect(session.exchange(putfh(handle), asked), SECURITY, must=[kinds.REPLY])


@case("server.pnfs.security.{place}-parent", requirements=[SECURITY], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("place", ["metadata-server", "data-server"])
def test_security_of_parent(bench, place):
    """SECINFO_NO_NAME of the parent: of the file's directory at the metadata server, and of the layout's filehandle at
    a data server, which is no directory."""
    user = user_with_layout(bench)
    session, handle = user.session, bench.nfs4_files(user.session).directory
    latitude = {}
    if place == "data-server":
        part = user.parts()[0]
        session, handle = user.data_server(part.server), part.handle
        latitude = {"nfs:NFS4ERR_NOTDIR": "a file is no directory, and only these have a parent"}
    asked = operation("SECINFO_NO_NAME", style=PARENT)
    outcome = session.exchange(putfh(handle), asked)
    expect(outcome, SECURITY, must=[kinds.REPLY], latitude=latitude)
