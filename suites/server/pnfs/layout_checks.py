"""What the cases on file layouts share."""

from steertag import nfs
from steertag.suite import expect, kinds
from steertag.suite.nfs_client.file_layout import COMMIT_THROUGH_SERVER
from steertag.suite.nfs_client.layout_user import LayoutUser
from steertag.suite.nfs_client.nfs4_client import getattr_of, putfh
from ..short_lease import need_short

NFS4 = nfs.nfs4
NEEDS = ["pnfs-files"]
# What a data server says of a file without a layout, or of a handle that is of no use any more.
FENCED = ["nfs:NFS4ERR_PNFS_NO_LAYOUT", "nfs:NFS4ERR_STALE", "nfs:NFS4ERR_BADHANDLE"]
BAD_STATEID = ["nfs:NFS4ERR_BAD_STATEID"]
# And where the opens or the sessions of the client may be gone with its layouts.
LOST = [
    *FENCED,
    *BAD_STATEID,
    "nfs:NFS4ERR_EXPIRED",
    "nfs:NFS4ERR_BADSESSION",
    "nfs:NFS4ERR_DEADSESSION",
]


def user_with_layout(bench, **fields):
    """A LayoutUser with a layout for reading and writing, and its device."""
    user = LayoutUser(bench)
    user.use_layout(**fields)
    return user


def written(bench, user, requirement_id):
    """Writes the usual file at the data servers. Returns its octets."""
    content = bench.random.randbytes(user.size)
    for part in user.parts():
        outcome = expect(user.write_part(part, content), requirement_id, must=[kinds.REPLY])
        count = outcome.result["WRITE"].resok4.count
        expect.equal(count, part.length, requirement_id, "count of WRITE", outcome=outcome)
    return content


def write_at_metadata_server(bench, user, requirement_id, stable="FILE_SYNC4"):
    """Writes the usual file at the metadata server. Returns its octets."""
    content = bench.random.randbytes(user.size)
    for part in user.parts():
        data = content[part.start : part.start + part.length]
        asked = user.session, user.handle, part.start, data, user.stateid, stable
        expect(user.write_at(*asked), requirement_id, must=[kinds.REPLY])
    return content


def expect_at_metadata_server(user, content, requirement_id):
    """READ at the metadata server gives these octets."""
    for part in user.parts(len(content)):
        asked = user.session, user.handle, part.start, part.length, user.stateid
        expect_octets(user.read_at(*asked), part, content, requirement_id)


def expect_at_data_servers(user, content, requirement_id):
    """READ at the data servers gives these octets."""
    for part in user.parts(len(content)):
        expect_octets(user.read_part(part), part, content, requirement_id)


def expect_octets(outcome, part, content, requirement_id):
    """A READ of this part gives the file's octets."""
    expect(outcome, requirement_id, must=[kinds.REPLY])
    found = outcome.result["READ"].resok4.data
    wanted = content[part.start : part.start + part.length]
    expect.data(found, wanted, requirement_id, "octets of a READ", outcome=outcome)


def need_commit_at_data_servers(bench, user):
    """Ends the case if COMMIT goes to the metadata server."""
    if user.layout.util & COMMIT_THROUGH_SERVER:
        bench.not_testable("COMMIT goes to the metadata server", "a server with --commit=ds")


def commit_at_data_servers(user, requirement_id):
    """COMMIT at each data server, if the layout has it there."""
    if not user.layout.util & COMMIT_THROUGH_SERVER:
        for part in user.parts():
            expect(user.commit_part(part), requirement_id, must=[kinds.REPLY])


def attributes(user, *names):
    """{name: value} of the file at the metadata server."""
    found = user.session.run(putfh(user.handle), getattr_of(*names))["GETATTR"].resok4
    return NFS4.attributes(found.obj_attributes)


def short_lease_of(bench, user):
    """Seconds of the lease, if a case can wait for its end."""
    lease_s = attributes(user, "lease_time")["lease_time"]
    need_short(bench, lease_s)
    return lease_s
