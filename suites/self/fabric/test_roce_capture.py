"""Runs cases over RoCE, and reads their captures back with tshark and `steertag grade`."""

import pytest
from roce_captures import expect_right_checksums, expect_roce, needs_tshark, run_case
from steertag_command import steertag


@pytest.fixture(scope="module")
def conforming(tmp_path_factory):
    return run_case(tmp_path_factory.mktemp("roce"))


@needs_tshark
def test_every_packet_is_roce(conforming):
    row, path = conforming
    assert row["verdict"] == "pass", row["reason"]
    expect_roce(path)


@needs_tshark
def test_checksums_are_right(conforming):
    expect_right_checksums(conforming[1])


def test_conforming_peers_have_no_finding(conforming):
    done = steertag("grade", conforming[1])
    assert done.returncode == 0, done.stdout + done.stderr


def test_grade_finds_what_the_run_found(tmp_path):
    row, path = run_case(tmp_path, "--deviate", "grants-zero")
    assert row["verdict"] == "fail", row["reason"]
    live = {found["id"] for found in row["findings"]}
    assert live, row
    done = steertag("grade", path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert all(requirement in done.stdout for requirement in live), (live, done.stdout)
