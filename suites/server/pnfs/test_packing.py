"""Layouts with dense packing: filehandles, and where a data server has its octets (RFC 8881 13.3, 13.4.4)."""

import itertools

import pytest

from steertag.suite import ANY, case, expect, kinds
from .layout_checks import commit_at_data_servers, expect_at_data_servers
from .layout_checks import expect_at_metadata_server, NEEDS, user_with_layout
from .layout_checks import write_at_metadata_server, written

DENSE, STRIPES = "RFC8881-13.3-5", "RFC8881-13.4.4-3"
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


@case("server.pnfs.data.dense-{io}", requirements=[STRIPES], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("io", ["read", "write"])
def test_dense_stripes(bench, io):
    """With dense packing a file has more than two stripes. It is written at the metadata server and read at the data
    servers, or the reverse."""
    user = user_with_layout(bench)
    if not user.layout.dense:
        bench.not_testable("the packing is sparse", REMEDY)
    if user.units <= len(user.device.indices):
        bench.not_testable(f"a stripe has {len(user.device.indices)} units")
    if io == "read":
        content = write_at_metadata_server(bench, user, STRIPES)
        expect_at_data_servers(user, content, STRIPES)
        return
    content = written(bench, user, STRIPES)
    commit_at_data_servers(user, STRIPES)
    expect(user.layout_commit(len(content) - 1), STRIPES, must=[kinds.REPLY])
    expect_at_metadata_server(user, content, STRIPES)
