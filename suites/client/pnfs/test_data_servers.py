"""Sessions, operations and stateids at data servers (RFC 8881 13.1, 13.6, 13.9)."""

from steertag.suite import ANY, case, client_kinds as kinds, expect
from steertag.suite.nfs_client import data_server_operations
from .striped_server import (
    copied_by_data_servers,
    DS,
    MDS,
    NEEDS,
    StripedServer,
    use_striped,
)

ROLE, OWNER, OFFERED = "RFC8881-13.1-1", "RFC8881-13.1-4", "RFC8881-12.6-1"
ONLY, HOUSEKEEPING, ATTRIBUTES = "RFC8881-13.6-1", "RFC8881-13.6-3", "RFC8881-13.6-6"
NOT_LAYOUT, FORM = "RFC8881-13.9.1-1", "RFC8881-13.9.1-2"
ROLES, NON_PNFS = 0x70000, 0x10000  # EXCHGID4_FLAG_MASK_PNFS, USE_NON_PNFS
ALLOWED = data_server_operations.HOUSEKEEPING | data_server_operations.IO
STATE = {"RECLAIM_COMPLETE", "OPEN", "CLOSE", "LOCK", "LOCKU", "FREE_STATEID", "TEST_STATEID"}
SPECIAL = (bytes(12), b"\xff" * 12)  # of `other`


def _with_roles(roles):
    """A bend of EXCHANGE_ID by which the server has these roles."""

    def change(_call, result):
        result.resok4.eir_flags = result.resok4.eir_flags & ~ROLES | roles
        return result

    return {"EXCHANGE_ID": change}


@case("client.pnfs.role.not-offered", requirements=[OFFERED], needs=NEEDS, over=ANY)
def test_not_offered(bench):
    """EXCHANGE_ID does not give the server the role of a metadata server. The client uses it without layouts."""
    script = StripedServer(results=_with_roles(NON_PNFS))
    server = {"data_servers": 3}
    outcome = bench.use(script, server=server)
    what = "layouts are asked for without EXCHGID4_FLAG_USE_PNFS_MDS"
    expect.equal(len(script.of("LAYOUTGET", "GETDEVICEINFO")), 0, OFFERED, what, outcome=outcome)
    expect.equal(len(script.requests), 0, OFFERED, "connections to data servers", outcome=outcome)
    expect(outcome, OFFERED, must=[kinds.COMPLETED])
    if not any(call["EXCHANGE_ID"].eia_flags & MDS for call in script.of("EXCHANGE_ID")):
        bench.unsupported("needs pnfs: the client does not ask for the role of a metadata server")


@case("client.pnfs.role.of-data-server", requirements=[ROLE], needs=NEEDS, over=ANY)
def test_data_server_role(bench):
    """A client that uses a data server has made itself known there with EXCHGID4_FLAG_USE_PNFS_DS, and has a
    session of its own."""
    script = StripedServer()
    outcome = use_striped(bench, script)
    for number in {call.server for call in script.data_io}:
        calls = [call for call in script.at_data_servers() if call.server == number]
        flags = [call["EXCHANGE_ID"].eia_flags for call in calls if "EXCHANGE_ID" in call]
        asked = any(each & DS for each in flags)
        what = "EXCHANGE_ID at a data server asks for the role of a data server"
        expect.true(asked, ROLE, what, outcome=outcome)
        made = any(call.succeeded("CREATE_SESSION") for call in calls)
        expect.true(made, ROLE, "there is a session at the data server", outcome=outcome)
    copied_by_data_servers(bench, script, outcome, ROLE)


@case("client.pnfs.role.no-data-server", requirements=[ROLE], needs=NEEDS, hostile=True, over=ANY)
def test_no_data_server(bench):
    """A data server answers EXCHANGE_ID without the role of a data server. It gets no READ and no WRITE."""
    script = StripedServer(elsewhere=_with_roles(NON_PNFS))
    outcome = use_striped(bench, script)
    what = "READs and WRITEs at a server that is no data server"
    expect.equal(len(script.data_io), 0, ROLE, what, outcome=outcome)
    expect(outcome, ROLE, must=[kinds.COMPLETED])


@case("client.pnfs.role.owner", requirements=[OWNER], needs=NEEDS, over=ANY)
def test_owner(bench):
    """The client names itself at data servers as it does at the metadata server."""
    script = StripedServer()
    outcome = use_striped(bench, script)
    owners = [
        {
            bytes(call["EXCHANGE_ID"].eia_clientowner.co_ownerid)
            for call in calls
            if "EXCHANGE_ID" in call
        }
        for calls in (script.of(), script.at_data_servers())
    ]
    same = owners[1] <= owners[0]
    expect.true(
        same, OWNER, "co_ownerid at data servers is that at the metadata server", outcome=outcome
    )
    copied_by_data_servers(bench, script, outcome, OWNER)


def _foreign(script, allowed):
    """Names of operations at data servers that are not among these."""
    found = {name for call in script.at_data_servers() for name in call.names}
    return sorted(found - allowed)


@case("client.pnfs.data.operations", requirements=[ONLY], needs=NEEDS, over=ANY)
def test_operations(bench):
    """Data servers get housekeeping, READ, WRITE and COMMIT."""
    script = StripedServer()
    outcome = use_striped(bench, script)
    found = _foreign(script, ALLOWED | STATE)
    expect.equal(found, [], ONLY, "other operations at a data server", outcome=outcome)
    copied_by_data_servers(bench, script, outcome, ONLY)


@case("client.pnfs.data.attributes", requirements=[ATTRIBUTES], needs=NEEDS, over=ANY)
def test_attributes(bench):
    """Attributes are asked for, and set, at the metadata server."""
    script = StripedServer()
    outcome = use_striped(bench, script)
    found = _foreign(script, ALLOWED | STATE)
    attributes = [name for name in found if name.endswith("ATTR")]
    expect.equal(
        attributes, [], ATTRIBUTES, "GETATTR and SETATTR at a data server", outcome=outcome
    )
    copied_by_data_servers(bench, script, outcome, ATTRIBUTES)


@case("client.pnfs.data.housekeeping", requirements=[HOUSEKEEPING], needs=NEEDS, over=ANY)
def test_housekeeping(bench):
    """Of the operations on state, a data server gets those that make and end its sessions."""
    script = StripedServer()
    outcome = use_striped(bench, script)
    found = [name for name in _foreign(script, ALLOWED) if name in STATE]
    expect.equal(found, [], HOUSEKEEPING, "operations on state at a data server", outcome=outcome)
    copied_by_data_servers(bench, script, outcome, HOUSEKEEPING)


@case("client.pnfs.data.stateid", requirements=[NOT_LAYOUT, FORM], needs=NEEDS, over=ANY)
def test_stateid(bench):
    """READ and WRITE at data servers carry the stateid of an open, a lock or a delegation, with seqid 0."""
    script = StripedServer()
    outcome = use_striped(bench, script)
    layouts = {bytes(call.result("LAYOUTGET").logr_stateid.other) for call in script.layouts}
    for call in script.data_io:
        stateid = call.io.stateid
        other = bytes(stateid.other)
        expect.true(
            other not in layouts, NOT_LAYOUT, "the stateid is no layout stateid", outcome=outcome
        )
        expect.true(other not in SPECIAL, FORM, "the stateid is no special one", outcome=outcome)
        expect.equal(stateid.seqid, 0, FORM, "seqid of the stateid", outcome=outcome)
    copied_by_data_servers(bench, script, outcome, FORM)
