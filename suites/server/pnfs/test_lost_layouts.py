"""Data servers after a client has come back, and after a file is gone (RFC 8881 12.5.5, 12.7.1)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.layout_user import LayoutUser
from steertag.suite.nfs_client.nfs4_client import putfh
from .layout_checks import FENCED, LOST, NEEDS, user_with_layout, written
from .test_layout_recall import remove

STALE, RELEASED = "RFC8881-12.5.5-2", "RFC8881-12.7.1-1"


@case("server.pnfs.lost.restart", requirements=[RELEASED], needs=NEEDS, over=ANY, hostile=True)
def test_restart(bench):
    """A client with a layout comes back with another verifier. READ at a data server is refused to its
    former instance. It is refused to the new one, which has the file open, until that has a layout.
    """
    user = user_with_layout(bench)
    written(bench, user, RELEASED)
    part = user.parts()[0]
    expect(user.read_part(part), RELEASED, must=[kinds.REPLY])
    back = LayoutUser(bench, name=user.name, former=user)
    expect(user.read_part(part), RELEASED, must=LOST)
    back.layout, back.device = user.layout, user.device
    expect(back.read_part(part), RELEASED, must=FENCED)
    back.use_layout()
    expect(back.read_part(back.parts()[0]), RELEASED, must=[kinds.REPLY])


@case("server.pnfs.lost.restart-other-client", requirements=[RELEASED], needs=NEEDS, over=ANY)
def test_restart_other_client(bench):
    """A client with a layout comes back with another verifier. Another client gets a layout of the file, and returns it.
    It then removes the file, and waits for no layout of the former instance."""
    user = user_with_layout(bench)
    LayoutUser(bench, name=user.name, former=user)
    other = LayoutUser(bench, name=user.name)
    other.take(expect(other.layout_get(), RELEASED, must=[kinds.REPLY]))
    expect(other.layout_return(), RELEASED, must=[kinds.REPLY])
    removed = [kinds.REPLY, "nfs:NFS4ERR_FILE_OPEN"]
    expect(remove(bench, other, other.name), RELEASED, must=removed)


@case("server.pnfs.lost.removed-{name}", requirements=[STALE], needs=NEEDS, over=ANY, hostile=True)
@pytest.mark.parametrize("name", ["read", "write", "commit"])
def test_removed(bench, name):
    """An operation at each data server on a file that was closed and removed, after the return of its layout."""
    user = user_with_layout(bench)
    content = written(bench, user, STALE)
    expect(user.layout_return(), STALE, must=[kinds.REPLY])
    user.session.close(user.handle, user.stateid)
    directory = bench.nfs4_files(user.session).directory
    user.session.run(putfh(directory), operation("REMOVE", target=user.name))
    attempt = {
        "read": user.read_part,
        "write": lambda part: user.write_part(part, content),
        "commit": user.commit_part,
    }[name]
    for part in user.a_part_of_each():
        expect(attempt(part), STALE, should=["nfs:NFS4ERR_STALE"])
