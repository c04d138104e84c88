"""SETATTR of the size, and OPEN that truncates, while a client has a layout (RFC 8881 13.6)."""

import pytest

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.compound import operation
from steertag.suite.nfs_client.layout_user import BOTH, LayoutUser
from steertag.suite.nfs_client.nfs4_client import putfh
from .layout_checks import attributes, commit_at_data_servers, NEEDS, NFS4
from .layout_checks import user_with_layout, written
from .test_layout_recall import DELAY, next_recall, return_recalled

SIZE = "RFC8881-13.6-7"
LEFT = 100  # octets after SETATTR


def _set_size(user, size):
    change = operation("SETATTR", stateid=user.stateid, obj_attributes=NFS4.fattr(size=size))
    return user.session.exchange(putfh(user.handle), change)


def _open_empty(bench, user):
    """OPEN that truncates the file to nothing."""
    how = {"mode": NFS4.CreateMode.UNCHECKED4, "createattrs": NFS4.fattr(size=0)}
    opening = operation(
        "OPEN",
        share_access=BOTH,
        owner={"clientid": user.client.id, "owner": b"truncates"},
        openhow={"opentype": NFS4.OpenType.OPEN4_CREATE, "how": how},
        claim={"claim": NFS4.ClaimType.CLAIM_NULL, "file": user.name},
    )
    return user.session.exchange(putfh(bench.nfs4_files(user.session).directory), opening)


def _expect_done(user, attempt):
    """What a client does succeeds, after the return of the user's layout if that is recalled for it."""
    user.session.conn.callbacks.configure(answers_null=False)
    outcome = expect(attempt(), SIZE, must=[kinds.REPLY, DELAY])
    if outcome.kind == kinds.REPLY:
        return
    callback = next_recall(user)
    expect.true(callback is not None, SIZE, "CB_LAYOUTRECALL comes after NFS4ERR_DELAY")
    return_recalled(user, callback, SIZE)
    expect(attempt(), SIZE, must=[kinds.REPLY])


@case("server.pnfs.truncation.{by}", requirements=[SIZE], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("by", ["holder", "other-client", "open"])
def test_truncation(bench, by):
    """A file that data servers have is truncated at the metadata server, and extended again. The client with the layout
    does it, or another one, and the layout may be recalled before. READ at the data servers gives zeros behind the cut.
    Fewer octets are zeros too (RFC 8881 13.10)."""
    user = user_with_layout(bench)
    content = written(bench, user, SIZE)
    commit_at_data_servers(user, SIZE)
    expect(user.layout_commit(len(content) - 1), SIZE, must=[kinds.REPLY])
    left = 0 if by == "open" else LEFT
    if by == "holder":
        for size in (left, len(content)):
            _expect_done(user, lambda size=size: _set_size(user, size))
    else:
        other = LayoutUser(bench, name=user.name)
        cut = (
            (lambda: _open_empty(bench, other))
            if by == "open"
            else (lambda: _set_size(other, LEFT))
        )
        _expect_done(user, cut)
        _expect_done(user, lambda: _set_size(other, len(content)))
    expect.equal(attributes(user, "size")["size"], len(content), SIZE, "size after the extension")
    if user.layout_stateid is None:
        user.use_layout()
    wanted = content[:left] + bytes(len(content) - left)
    for part in user.parts(len(content)):
        outcome = expect(user.read_part(part), SIZE, must=[kinds.REPLY])
        found = bytes(outcome.result["READ"].resok4.data)
        octets = wanted[part.start : part.start + part.length]
        if part.start == 0:
            expect.at_least(len(found), left, SIZE, "octets of the first READ", outcome=outcome)
        expect.data(found, octets[: len(found)], SIZE, "octets of a READ", outcome=outcome)
