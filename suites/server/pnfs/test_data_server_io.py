"""READ and WRITE at data servers: octets, stateids, holes, access (RFC 8881 13.4 to 13.12)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.layout_user import LayoutUser
from steertag.suite.nfs_client.nfs4_client import ANONYMOUS, putfh
from steertag.suite.nfs_client.nfs_message import auth_sys
from .layout_checks import BAD_STATEID, commit_at_data_servers, expect_at_data_servers
from .layout_checks import expect_at_metadata_server, NEEDS, NFS4, user_with_layout
from .layout_checks import write_at_metadata_server, written

ORDINARY, FRESH, FORM = "RFC8881-12.2.5-1", "RFC8881-12.5.7-1", "RFC8881-13.9.1-3"
EFFECT, OPENS, HOLE = "RFC8881-13.9.1-4", "RFC8881-13.9.2.2-1", "RFC8881-13.4.4-2"
ACCESS, KEPT, CHANGED = "RFC8881-13.12-1", "RFC8881-12.9-1", "RFC8881-13.9.2.3-1"
STRANGER = 4711
WITHDRAWALS = 100
DENIED = ["nfs:NFS4ERR_ACCESS"]


@case("server.pnfs.data.written-at-data-servers", requirements=[ORDINARY], needs=NEEDS, over=ANY)
def test_written_at_data_servers(bench):
    """A file of several stripe units is written at the data servers, and committed. READ at the
    metadata server gives its octets."""
    user = user_with_layout(bench)
    content = written(bench, user, ORDINARY)
    commit_at_data_servers(user, ORDINARY)
    expect(user.layout_commit(len(content) - 1), ORDINARY, must=[kinds.REPLY])
    expect_at_metadata_server(user, content, ORDINARY)


@case("server.pnfs.data.written-at-metadata-server", requirements=[FRESH], needs=NEEDS, over=ANY)
def test_written_at_metadata_server(bench):
    """A file of several stripe units is written at the metadata server with FILE_SYNC4. READ at the data
    servers gives its octets."""
    user = user_with_layout(bench)
    content = write_at_metadata_server(bench, user, FRESH)
    expect_at_data_servers(user, content, FRESH)


@case("server.pnfs.data.committed-at-metadata-server", requirements=[FRESH], needs=NEEDS, over=ANY)
def test_committed_at_metadata_server(bench):
    """A file of several stripe units is written at the metadata server with UNSTABLE4, and committed there. READ at the
    data servers gives its octets."""
    user = user_with_layout(bench)
    content = write_at_metadata_server(bench, user, FRESH, "UNSTABLE4")
    done = user.session.exchange_in_time(putfh(user.handle), operation("COMMIT"))
    expect(done, FRESH, must=[kinds.REPLY])
    expect_at_data_servers(user, content, FRESH)


@case("server.pnfs.stateid.{name}-{io}", requirements=[FORM], needs=NEEDS, over=ANY, hostile=True)
@pytest.mark.parametrize("name", ["seqid", "zeros", "ones", "layout"])
@pytest.mark.parametrize("io", ["read", "write"])
def test_stateid_form(bench, name, io):
    """READ and WRITE at a data server by an open stateid with its seqid, by a special stateid, and by
    the layout stateid."""
    user = user_with_layout(bench)
    stateid = {
        "seqid": user.stateid,
        "zeros": NFS4.StateId(**ANONYMOUS),
        "ones": NFS4.StateId(seqid=0xFFFFFFFF, other=b"\xff" * 12),
        "layout": NFS4.StateId(seqid=0, other=user.layout_stateid.other),
    }[name]
    part = user.parts()[0]
    if io == "read":
        outcome = user.read_part(part, stateid)
    else:
        outcome = user.write_part(part, bytes(user.size), stateid)
    expect(outcome, FORM, must=BAD_STATEID)
    expect(user.read_part(part), FORM, must=[kinds.REPLY])


@case("server.pnfs.stateid.downgraded", requirements=[EFFECT, OPENS], needs=NEEDS, over=ANY)
def test_downgraded(bench):
    """OPEN_DOWNGRADE to reading. A WRITE at a data server right behind the reply is refused, and a READ
    is not."""
    user = user_with_layout(bench)
    written(bench, user, EFFECT)
    part = user.parts()[0]
    # A server downgrades to what some OPEN of the owner had (RFC 8881 18.18.3).
    directory = bench.nfs4_files(user.session).directory
    opened, _ = user.session.open(directory, user.name)
    less = operation(
        "OPEN_DOWNGRADE",
        open_stateid=opened.stateid,
        share_access=NFS4.OPEN4_SHARE_ACCESS_READ,
        share_deny=NFS4.OPEN4_SHARE_DENY_NONE,
    )
    done = user.session.run(putfh(user.handle), less)["OPEN_DOWNGRADE"].resok4
    user.stateid = done.open_stateid
    outcome = user.write_part(part, bytes(user.size))
    expect(outcome, OPENS, must=["nfs:NFS4ERR_OPENMODE", *_LOST])
    expect.true(outcome.kind != kinds.REPLY, EFFECT, "a WRITE without an open for writing fails")


# A server may drop layouts for writing with the open.
_LOST = ["nfs:NFS4ERR_PNFS_NO_LAYOUT", "nfs:NFS4ERR_BAD_STATEID", "nfs:NFS4ERR_STALE"]


@case("server.pnfs.stateid.closed", requirements=[EFFECT, OPENS], needs=NEEDS, over=ANY)
def test_closed(bench):
    """A READ at a data server right behind the reply to CLOSE is refused."""
    user = user_with_layout(bench)
    written(bench, user, EFFECT)
    part = user.parts()[0]
    expect(user.read_part(part), EFFECT, must=[kinds.REPLY])
    user.session.close(user.handle, user.stateid)
    expect(user.read_part(part), OPENS, must=_LOST)


@case(
    "server.pnfs.stateid.other-client", requirements=[EFFECT], needs=NEEDS, over=ANY, hostile=True
)
def test_other_client(bench):
    """A client with a layout of its own reads at a data server by the stateid of another client."""
    user = user_with_layout(bench)
    written(bench, user, EFFECT)
    other = LayoutUser(bench, name=user.name)
    other.use_layout()
    part = other.parts(user.size)[0]
    expect(other.read_part(part), EFFECT, must=[kinds.REPLY])
    expect(other.read_part(part, user.for_io), EFFECT, must=BAD_STATEID)


@case("server.pnfs.hole.{io}-{place}", requirements=[HOLE], needs=NEEDS, over=ANY, hostile=True)
@pytest.mark.parametrize("io", ["read", "write"])
@pytest.mark.parametrize("place", ["neighbour", "across"])
def test_hole(bench, io, place):
    """With sparse packing, I/O at a data server in the stripe unit of a neighbour, and I/O that crosses
    into it."""
    user = user_with_layout(bench)
    if user.layout.dense or len(user.device.servers) < 2:
        bench.not_testable("dense packing, and a single data server, have no holes")
    written(bench, user, HOLE)
    part, neighbour = user.parts()[:2]
    offset = neighbour.offset if place == "neighbour" else neighbour.offset - 2
    session, data = user.data_server(part.server), b"hole"
    if io == "read":
        outcome = user.read_at(session, part.handle, offset, len(data))
    else:
        outcome = user.write_at(session, part.handle, offset, data)
    expect(outcome, HOLE, must=["nfs:NFS4ERR_PNFS_IO_HOLE"])


# Each with the row that says it first.
DENIALS = {"owner-only": ACCESS, "despite-layout": KEPT, "after-setattr": CHANGED}


@case(
    "server.pnfs.access.{name}-{io}",
    requirements=list(DENIALS.values()),
    needs=NEEDS,
    over=ANY,
)
@pytest.mark.parametrize("io", ["read", "write"])
@pytest.mark.parametrize("name", DENIALS)
def test_access(bench, name, io):
    """Another user than the owner reads or writes at a data server. It is refused by mode 0600. With
    `after-setattr` it succeeded by mode 0666 before, and the reply to SETATTR has just come."""
    requirement_id = DENIALS[name]
    user = user_with_layout(bench)
    content = written(bench, user, requirement_id)
    part = user.parts()[0]
    conn = user.data_server(part.server).conn
    conn.credential = auth_sys(STRANGER, STRANGER)

    def attempt():
        return user.read_part(part) if io == "read" else user.write_part(part, content)

    if name == "after-setattr":
        _set_mode(user, 0o666)
        expect(attempt(), requirement_id, must=[kinds.REPLY])
    _set_mode(user, 0o600)
    expect(attempt(), requirement_id, must=DENIED)


@case("server.pnfs.access.withdrawn-often", requirements=[CHANGED], needs=NEEDS, over=ANY)
def test_withdrawn_often(bench):
    """The owner lets everyone read the file, and takes that back, 100 times. Another user reads at a data server behind
    each reply to SETATTR."""
    user = user_with_layout(bench)
    written(bench, user, CHANGED)
    part = user.parts()[0]
    user.data_server(part.server).conn.credential = auth_sys(STRANGER, STRANGER)
    for _ in range(WITHDRAWALS):
        _set_mode(user, 0o644)
        expect(user.read_part(part), CHANGED, must=[kinds.REPLY])
        _set_mode(user, 0)
        expect(user.read_part(part), CHANGED, must=DENIED)


def _set_mode(user, mode):
    change = operation("SETATTR", stateid=user.stateid, obj_attributes=NFS4.fattr(mode=mode))
    user.session.run(putfh(user.handle), change)
