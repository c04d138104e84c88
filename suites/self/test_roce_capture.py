"""Runs cases over RoCE, and reads their captures back with tshark and `steertag grade`."""

import json
import shutil
import subprocess

import pytest
import warm_runs
from steertag_command import RUN_LIMIT_S, steertag

from steertag import build_paths

CASE = "server.header.null"

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


def run_case(folder, *arguments):
    """The row of one case of the server suite over RoCE, as in report.json, and its capture."""
    report = folder / "report"
    words = ["suites/server", "-q", "--report", str(report)]
    words += ["--listen", "roce://127.0.0.1:0", "--captures", "all", "--case", CASE]
    root = build_paths.checkout()
    done = warm_runs.completed("pytest", [*words, *arguments], root, RUN_LIMIT_S)
    assert (report / "report.json").exists(), done.stdout + done.stderr
    (row,) = json.loads((report / "report.json").read_text())["cases"]
    assert row["capture"], f"no capture: {done.stdout}"
    return row, report / row["capture"]


@pytest.fixture(scope="module")
def conforming(tmp_path_factory):
    return run_case(tmp_path_factory.mktemp("roce"))


def shown(path, *arguments):
    done = subprocess.run(
        ["tshark", "-n", "-2", "-r", str(path), *arguments],
        capture_output=True,
        text=True,
        timeout=RUN_LIMIT_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@needs_tshark
def test_every_packet_is_roce(conforming):
    row, path = conforming
    assert row["verdict"] == "pass", row["reason"]
    packets = shown(path)
    assert packets and len(shown(path, "-Y", "infiniband && udp.dstport == 4791")) == len(packets)
    assert shown(path, "-Y", "_ws.malformed") == []
    kinds = shown(path, "-Y", "infiniband.cm.req || infiniband.cm.rep")
    assert len(kinds) >= 2, "\n".join(packets)


@needs_tshark
def test_checksums_are_right(conforming):
    check = ("-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE")
    bad = shown(conforming[1], *check, "-Y", "udp.checksum.status == 0 || ip.checksum.status == 0")
    assert bad == []


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
