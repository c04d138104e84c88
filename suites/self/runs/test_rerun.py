"""A failure is the same in every run against one living server.

A run does not depend on what an earlier one left in the server's memory."""

import pytest
from steertag_command import bundled, run_again

RUNS = 8


@pytest.mark.parametrize(
    "transport, deviation, case_id",
    [
        ("rdma", "write-beyond-chunk", "server.write-chunk.read-1"),
        ("tcp", "fragments-refused", "server.records.fragments-of-1"),
    ],
)
def test_eight_runs_give_one_verdict(tmp_path, transport, deviation, case_id):
    with bundled(tmp_path, "--deviate", deviation, over=transport) as url:
        seen = [run_again(tmp_path, url, case_id) for _ in range(RUNS)]
    assert seen[0][0] == "fail", seen[0]
    assert seen == seen[:1] * RUNS
