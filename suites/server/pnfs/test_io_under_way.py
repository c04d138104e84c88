"""I/O at data servers that is under way while its layout is returned or its file is closed (RFC 8881 13.6, 13.9.2.2).

A client must not do that. A data server must not let it through: the octets of a WRITE reach it when the layout has
gone."""

import pytest

from steertag.suite import case, expect, kinds
from .held_io import HeldIo
from .layout_checks import BAD_STATEID, FENCED, NEEDS, user_with_layout
from .test_pnfs_lease import committed, expect_content

RETURNED, CLOSED = "RFC8881-13.6-2", "RFC8881-13.9.2.2-1"


def _return(user):
    expect(user.layout_return(), RETURNED, must=[kinds.REPLY])


def _close(user):
    user.session.close(user.handle, user.stateid)


# What takes the right away: the row, how, and what the I/O may have.
ENDS = {
    "layoutreturn": (RETURNED, _return, FENCED),
    "close": (CLOSED, _close, [*FENCED, *BAD_STATEID]),
}


@case(
    "server.pnfs.under-way.{end}-{io}",
    requirements=[RETURNED, CLOSED],
    needs=NEEDS,
    hostile=True,
)
@pytest.mark.parametrize("io", ["read", "write"])
@pytest.mark.parametrize("end", ENDS)
def test_under_way(bench, end, io):
    """A READ or WRITE whose call a data server has is not executed before the client answers its RDMA Reads. Before that
    the client returns the layout, or closes the file. The I/O is refused, and leaves file and write chunk as they are.
    """
    requirement_id, take_away, refusals = ENDS[end]
    user = user_with_layout(bench)
    content = committed(bench, user, requirement_id)
    part = user.parts()[0]
    held = HeldIo(bench, user, part, io, content, requirement_id)
    take_away(user)
    outcome = held.let_go()
    expect_content(bench, user, content, [part], requirement_id)
    expect(outcome, requirement_id, must=refusals)
    held.expect_untouched(outcome)
