"""I/O at data servers that is under way while its client loses the layout (RFC 8881 12.7.3, 13.11)."""

import pytest

from steertag.suite import case, expect
from .held_io import HeldIo
from .layout_checks import LOST, NEEDS, user_with_layout
from .test_pnfs_lease import committed, expect_content, WAYS

EXECUTED, FENCING = "RFC8881-12.7.3-1", "RFC8881-13.11-1"


@case(
    "server.pnfs.lost.under-way-{way}-{io}",
    requirements=[EXECUTED, FENCING],
    needs=[*NEEDS, "fault-hooks"],
    hostile=True,
)
@pytest.mark.parametrize("io", ["read", "write"])
@pytest.mark.parametrize("way", ["lease", "recall"])
def test_under_way(bench, way, io):
    """A data server has the call of a READ or WRITE, and the client does not answer its RDMA Reads yet. It does so when
    its lease is over, or when its recalled layout was revoked. The I/O is refused, and leaves file and write chunk as they
    are. Over RoCE the connection would be lost by then."""
    user = user_with_layout(bench)
    content = committed(bench, user, EXECUTED)
    part = user.parts()[0]
    held = HeldIo(bench, user, part, io, content, FENCING)
    WAYS[way](bench, user, FENCING)
    outcome = held.let_go()
    expect_content(bench, user, content, [part], EXECUTED)
    expect(outcome, FENCING, must=LOST)
    held.expect_untouched(outcome)
