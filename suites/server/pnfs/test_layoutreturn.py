"""LAYOUTRETURN, and what data servers do afterwards (RFC 8881 12.5.5, 13.6, 18.44)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.layout_user import ANY_LAYOUT, LayoutUser, READ_LAYOUT
from .layout_checks import FENCED, need_commit_at_data_servers, NEEDS, NFS4
from .layout_checks import user_with_layout, written

LAST, HARMLESS, WITHOUT = "RFC8881-18.44.3-1", "RFC8881-18.44.3-2", "RFC8881-12.5.1-3"
PART = "RFC8881-18.44.3-4"
REJECTED = "RFC8881-13.6-2"
ZEROS = bytes(12)
BULK = {
    "fsid": NFS4.LayoutreturnType.LAYOUTRETURN4_FSID,
    "all": NFS4.LayoutreturnType.LAYOUTRETURN4_ALL,
}


@case("server.pnfs.layoutreturn.last", requirements=[LAST], needs=NEEDS, over=ANY)
def test_last(bench):
    """The return of all layouts of a file leaves no stateid."""
    outcome = expect(user_with_layout(bench).layout_return(), LAST, must=[kinds.REPLY])
    left = outcome.result["LAYOUTRETURN"].resok4
    expect.true(not left.lrs_present, LAST, "lrs_present is FALSE", outcome=outcome)


@case("server.pnfs.layoutreturn.not-held", requirements=[HARMLESS, PART], needs=NEEDS, over=ANY)
def test_not_held(bench):
    """LAYOUTRETURN of an iomode without a layout succeeds, and the other layout is left."""
    user = user_with_layout(bench)
    outcome = expect(user.layout_return(lora_iomode=READ_LAYOUT), HARMLESS, must=[kinds.REPLY])
    left = outcome.result["LAYOUTRETURN"].resok4
    expect.true(left.lrs_present, PART, "lrs_present is TRUE", outcome=outcome)
    expect(user.write_part(user.parts()[0], bytes(user.size)), PART, must=[kinds.REPLY])


@case(
    "server.pnfs.layoutreturn.reclaim-{name}",
    requirements=[HARMLESS],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("name", BULK)
def test_reclaim(bench, name):
    """LAYOUTRETURN of a file system, or of all, with lora_reclaim."""
    outcome = _return_bulk(user_with_layout(bench), name, lora_reclaim=True)
    expect(outcome, HARMLESS, must=["nfs:NFS4ERR_INVAL"])


def _return_bulk(user, name, **fields):
    scope = {"lr_returntype": BULK[name]}
    return user.layout_return(lora_layoutreturn=scope, lora_iomode=ANY_LAYOUT, **fields)


@case(
    "server.pnfs.fencing.{scope}-{io}",
    requirements=[WITHOUT, REJECTED],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
@pytest.mark.parametrize("scope", ["file", *BULK])
@pytest.mark.parametrize("io", ["read", "write", "commit"])
def test_fencing(bench, scope, io):
    """READ, WRITE and COMMIT at a data server after the return of the layout. The open stateid is still good."""
    user = user_with_layout(bench)
    content = written(bench, user, WITHOUT)
    part = user.parts()[0]
    if io == "commit":
        need_commit_at_data_servers(bench, user)
    returned = user.layout_return() if scope == "file" else _return_bulk(user, scope)
    expect(returned, WITHOUT, must=[kinds.REPLY])
    if io == "read":
        expect(user.read_part(part), WITHOUT, should=FENCED)
    elif io == "write":
        expect(user.write_part(part, content), REJECTED, must=FENCED)
    else:
        expect(user.commit_part(part), REJECTED, must=FENCED)


@case(
    "server.pnfs.fencing.never",
    requirements=[REJECTED],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
def test_never(bench):
    """A client that has the file open, and no layout, reads at a data server by another's filehandle."""
    user = user_with_layout(bench)
    written(bench, user, REJECTED)
    part = user.parts()[0]
    other = LayoutUser(bench, name=user.name)
    other.layout, other.device = user.layout, user.device
    expect(other.read_part(part), REJECTED, must=FENCED)
