"""The filehandles of layouts with dense packing (RFC 8881 13.3)."""

import itertools

from steertag.suite import ANY, case, expect
from .layout_checks import NEEDS, user_with_layout

DENSE = "RFC8881-13.3-5"
REMEDY = "a server with dense packing: --server-arg=--packing=dense --server-arg=--stripe-turns=2"


@case("server.pnfs.layout.dense-handles", requirements=[DENSE], needs=NEEDS, over=ANY)
def test_dense_handles(bench):
    """With dense packing a layout has a filehandle for each stripe index. Those of stripe indices whose
    multipath lists have an address in common differ."""
    user = user_with_layout(bench)
    if not user.layout.dense:
        bench.not_testable("the packing is sparse", REMEDY)
    handles, device = user.layout.handles, user.device
    expect.equal(len(handles), len(device.indices), DENSE, "filehandles of a layout")
    ways = [set(device.servers[index]) for index in device.indices]
    for (i, one), (j, other) in itertools.combinations(enumerate(handles), 2):
        apart = one != other or not ways[i] & ways[j]
        expect.true(apart, DENSE, f"filehandles {i} and {j} of one data server differ")
