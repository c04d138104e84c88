"""What a data server does beside READ, WRITE and COMMIT, and what it refuses (RFC 8881 13.6)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.data_server_operations import HOUSEKEEPING, IO
from steertag.suite.nfs_client.layout_user import DS
from steertag.suite.nfs_client.nfs4_client import CALLBACK_PROGRAM, getattr_of, NO_CREDENTIAL, putfh
from .data_server_roles import meet_data_server
from .layout_checks import NEEDS, NFS4, user_with_layout

OPERATIONS = "RFC8881-13.6-4"
NOTSUPP = ["nfs:NFS4ERR_NOTSUPP"]
BOTH_WAYS = NFS4.ChannelDirFromClient.CDFC4_FORE_OR_BOTH
# All others of version 4.1 (RFC 8881 17), and those that it has left behind.
OTHERS = sorted(NFS4.Opnum.__members__.keys() - HOUSEKEEPING - IO - {"ILLEGAL"})
ARGUMENTS = {"GETATTR": getattr_of("size"), "ACCESS": operation("ACCESS", access=1)}


def _id(name):
    return name.lower().replace("_", "-")


@case(
    "server.pnfs.operation.{name}", requirements=[OPERATIONS], needs=NEEDS, over=ANY, hostile=True
)
@pytest.mark.parametrize("name", [_id(each) for each in OTHERS])
def test_operation(bench, name):
    """An operation that is none of a data server, behind PUTFH of a layout's filehandle."""
    user = user_with_layout(bench)
    part = user.parts()[0]
    asked = name.upper().replace("-", "_")
    session, roles = meet_data_server(bench, user, part, OPERATIONS)
    if roles != DS:
        bench.not_testable("the data server has another role too")
    refused = session.exchange(putfh(part.handle), ARGUMENTS.get(asked) or operation(asked))
    expect(refused, OPERATIONS, must=NOTSUPP)


def _backchannel_ctl(_bench, session):
    asked = {"bca_cb_program": CALLBACK_PROGRAM, "bca_sec_parms": [NO_CREDENTIAL]}
    return session.exchange(operation("BACKCHANNEL_CTL", **asked))


def _destroy_clientid(_bench, session):
    expect(session.destroy(), OPERATIONS, must=[kinds.REPLY])
    gone = operation("DESTROY_CLIENTID", dca_clientid=session.client.id)
    return session.conn.exchange(session.conn.compound_call(gone))


KEPT = {
    "backchannel-ctl": _backchannel_ctl,
    "bind-conn-to-session": lambda bench, session: session.bind(session.conn, BOTH_WAYS),
    "create-session": lambda bench, session: session.client.create_session(),
    "destroy-clientid": _destroy_clientid,
    "destroy-session": lambda bench, session: session.destroy(),
    "exchange-id": lambda bench, session: session.client.exchange_id(eia_flags=DS),
    "sequence": lambda bench, session: session.exchange(),
}


@case("server.pnfs.housekeeping.{name}", requirements=[OPERATIONS], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("name", KEPT)
def test_housekeeping(bench, name):
    """An operation by which a client looks after its session at a data server succeeds there. Other cases have
    SECINFO_NO_NAME."""
    user = user_with_layout(bench)
    back = NFS4.CREATE_SESSION4_FLAG_CONN_BACK_CHAN
    session, _ = meet_data_server(bench, user, user.parts()[0], OPERATIONS, csa_flags=back)
    expect(KEPT[name](bench, session), OPERATIONS, must=[kinds.REPLY])
