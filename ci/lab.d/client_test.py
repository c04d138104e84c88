"""Tests of the workload's results: lines of the guest, verdicts and the table."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import client  # noqa: E402
import workload  # noqa: E402

FSX = next(step for step in workload.STEPS if step.name == "fsx")


def test_a_result_has_seconds_and_a_sentence():
    result = client.parse("step fsx v3 pass 2.5 600 operations, seed 3", FSX, "v3", "memory")
    assert (result.verdict, result.seconds) == (client.PASS, 2.5)
    assert result.detail == "600 operations, seed 3"
    assert result.column() == "v3 memory"


def test_a_result_without_a_sentence():
    assert client.parse("step fsx v3 hang 300", FSX, "v3", "memory").verdict == client.HANG


def test_other_lines_are_no_results():
    for line in (
        "",
        "log step fsx v3 pass 1 x",
        "step fsx v4.1 pass 1 of another version",
        "step big v3 pass 1 of another step",
        "step fsx v3 perhaps 1 x",
        "step fsx v3 pass soon x",
    ):
        assert client.parse(line, FSX, "v3", "memory") is None


def test_what_was_not_run_is_not_good():
    results = [client.Result("fsx", "v3", "memory", verdict) for verdict in (client.PASS, "-")]
    assert all(map(client.is_good, results))
    for verdict in (client.FAIL, client.HANG, client.NOT_RUN):
        assert not client.is_good(client.Result("fsx", "v3", "memory", verdict))


def test_the_table_has_a_column_for_each_version_and_storage():
    results = [
        client.Result("mount", "v3", "memory", client.PASS),
        client.Result("fsx", "v3", "memory", client.FAIL),
        client.Result("mount", "v4.1", "directory", client.HANG),
        client.Result("fsx", "v4.1", "directory", client.NOT_RUN),
    ]
    lines = client.table("a-client", "Linux 6", results).splitlines()
    assert lines[2].split() == ["step", "v3", "memory", "v4.1", "directory"]
    assert lines[4].split() == ["fsx", "FAIL", "not", "run"]
    assert lines[-1] == "workload: 1 passed, 2 failed, 1 not run"
