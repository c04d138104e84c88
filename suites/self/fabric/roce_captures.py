"""Runs of one case over RoCE, and what tshark shows of their captures."""

import json
import shutil
import subprocess

import pytest
import warm_runs
from steertag_command import RUN_LIMIT_S

from steertag import build_paths

CASE = "server.header.null"

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


def run_case(folder, *arguments, listen="roce://127.0.0.1:0"):
    """The row of one case of the server suite over RoCE, as in report.json, and its capture."""
    report = folder / "report"
    words = ["suites/server", "-q", "--report", str(report)]
    words += ["--listen", listen, "--captures", "all", "--case", CASE]
    root = build_paths.checkout()
    done = warm_runs.completed("pytest", [*words, *arguments], root, RUN_LIMIT_S)
    assert (report / "report.json").exists(), done.stdout + done.stderr
    (row,) = json.loads((report / "report.json").read_text())["cases"]
    assert row["capture"], f"no capture: {done.stdout}"
    return row, report / row["capture"]


def shown(path, *arguments):
    """The lines of tshark about a capture."""
    done = subprocess.run(
        ["tshark", "-n", "-2", "-r", str(path), *arguments],
        capture_output=True,
        text=True,
        timeout=RUN_LIMIT_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def expect_roce(path, also="udp"):
    """Every packet is one of RoCEv2, and this filter finds it too."""
    packets = shown(path)
    found = shown(path, "-Y", f"infiniband && udp.dstport == 4791 && {also}")
    assert packets and len(found) == len(packets), "\n".join(packets)
    assert shown(path, "-Y", "_ws.malformed") == []
    kinds = shown(path, "-Y", "infiniband.cm.req || infiniband.cm.rep")
    assert len(kinds) >= 2, "\n".join(packets)


def expect_right_checksums(path):
    check = ("-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE")
    bad = shown(path, *check, "-Y", "udp.checksum.status == 0 || ip.checksum.status == 0")
    assert bad == []
