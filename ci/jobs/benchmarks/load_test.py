"""The server under some clients keeps the floors of `ci/bench-load`, and the floors can be missed."""

import dataclasses

import pytest

from ci.jobs.benchmarks import load

CONNECTIONS, ACTIVE, SECONDS = 1000, 200, 1
GOOD = load.Result(
    connections=100,
    active=10,
    seconds=1,
    alone_kib=5000,
    idle_kib=5100,
    called_kib=9000,
    least=50,
    most=150,
    calls=1000,
)


@pytest.mark.skipif(not load.CLIENTS.exists(), reason="the release build has no benchmarks")
def test_the_server_keeps_the_floors():
    result = load.measure(CONNECTIONS, ACTIVE, SECONDS)
    assert result.calls > 0 and result.failures() == [], "\n".join(result.table())


@pytest.mark.parametrize(
    "change, said",
    [
        ({}, None),
        ({"idle_kib": 9047}, "100 connections idle: 9047 KiB, limit 9046"),
        ({"called_kib": 9047}, "100 connections that have made a call: 9047 KiB, limit 9046"),
        (
            {"connections": 10_000, "called_kib": 409_601},
            "10000 connections that have made a call: 409601 KiB, limit 409600",
        ),
        ({"least": 49}, "the least served of 10 connections had 49 calls answered"),
    ],
)
def test_what_misses_a_floor_is_said(change, said):
    failures = dataclasses.replace(GOOD, **change).failures()
    assert [each.startswith(said) for each in failures] == ([True] if said else [])


def test_the_limit_of_open_files_is_told():
    with pytest.raises(load.CannotMeasure, match="open files are needed, the limit"):
        load.allow_descriptors(1 << 40)
