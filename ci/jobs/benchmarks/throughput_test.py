"""The floors of `ci/bench`: what they are measured beside, and what is said of them."""

import re

import pytest

from ci.jobs.benchmarks import throughput
from ci.jobs.benchmarks.throughput import SLOWER, TCP, UDP, Floor

RATES = throughput.references({TCP: 2e9, UDP: 3e9}, {TCP: 1e9, UDP: 4e9})
ROWS = {
    "rdma_write/roce/1048576/crc:1/real_time": {"bytes_per_second": 1.5e9},
    "rdma_write/iwarp/1048576/crc:0/real_time": {"bytes_per_second": 9e8},
    "rdma_write/iwarp/1048576/crc:1/real_time": {"bytes_per_second": 1.1e9},
    "ping_pong/iwarp/64/crc:1/real_time": {"items_per_second": 40000},
    "ping_pong/roce/64/crc:1/real_time": {"items_per_second": 31000},
}


def floor_of(subject):
    (found,) = [floor for floor in throughput.FLOORS if floor.subject.startswith(subject)]
    return found


def test_a_reference_is_the_better_of_two_runs():
    assert RATES == {TCP: 2e9, UDP: 4e9, SLOWER: 2e9}


@pytest.mark.parametrize(
    "subject, said",
    [
        (
            "RDMA Write of 1 MiB over roce",
            "ok       RDMA Write of 1 MiB over roce, octets/s: 1.5e+09, floor 1e+09; "
            "0.75 of the slower of TCP and UDP",
        ),
        (
            "RDMA Write of 1 MiB over iwarp",
            "BELOW    RDMA Write of 1 MiB over iwarp, octets/s: 9e+08, floor 1e+09; "
            "0.45 of iperf3, one TCP stream",
        ),
        (
            "round trips",
            "ok       round trips of 64 octets over roce, a second: 3.1e+04, floor 3.08e+04; "
            "0.78 of ping_pong/iwarp/64/crc:1/real_time",
        ),
    ],
)
def test_a_floor_is_a_share_of_what_is_beside_it(subject, said):
    assert str(throughput.check(floor_of(subject), ROWS, RATES)) == said


def test_a_floor_may_stand_alone():
    floor = Floor("messages/s", re.compile("judge"), "items_per_second", 2e6)
    assert throughput.check(floor, {"judge": {"items_per_second": 2e6}}, RATES).good
    below = throughput.check(floor, {"judge": {"items_per_second": 1.9e6}}, RATES)
    assert str(below) == "BELOW    messages/s: 1.9e+06, floor 2e+06"


@pytest.mark.parametrize("missing", ["ping_pong/iwarp", "ping_pong/roce"])
def test_a_benchmark_that_is_missing_is_said(missing):
    rows = {name: row for name, row in ROWS.items() if not name.startswith(missing)}
    with pytest.raises(throughput.CannotMeasure, match="no benchmark is named .*round trips"):
        throughput.check(floor_of("round trips"), rows, RATES)
