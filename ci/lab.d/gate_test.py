"""Tests of the gate: it reads reports and baselines with the package's code, and without its engine."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import types

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import command  # noqa: E402
import gate  # noqa: E402
from failure import LabFailure  # noqa: E402

ROW = """- case: server.a
  verdict: fail
  requirement: RFC8166-4.5.1-1
  reason: dropped
  note: drops it
"""


@pytest.fixture
def target(tmp_path):
    """A target with a baseline of one row, and a report of one case."""
    (tmp_path / "baseline.yaml").write_text(f"target: mine\ndate: 2025-01-01\nrows:\n{ROW}")
    write_report(tmp_path, "dropped")
    return types.SimpleNamespace(name="mine", baseline=tmp_path / "baseline.yaml", report=tmp_path)


def write_report(directory, reason, **more):
    case = {"id": "server.a", "verdict": "fail", "reason": reason, "findings": []}
    case["requirements"] = ["RFC8166-4.5.1-1"]
    (directory / "report.json").write_text(json.dumps({"cases": [case], **more}))


def test_the_last_run_is_compared_with_the_baseline(target, tmp_path):
    expected = gate.expected(target)
    assert gate.compare(target, expected).matches()
    assert gate.skeleton(target) == target.baseline.read_text()
    write_report(tmp_path, "refused")
    (difference,) = gate.compare(target, expected).differences
    assert difference.kind == "other reason"


def test_what_cannot_be_used_is_a_failure_of_the_lab(target, tmp_path):
    write_report(tmp_path, "dropped", partial=True)
    with pytest.raises(LabFailure, match="is of a part of the suite"):
        gate.compare(target, gate.expected(target))
    (tmp_path / "report.json").unlink()
    with pytest.raises(LabFailure, match="no report"):
        gate.skeleton(target)
    target.name = "other"
    with pytest.raises(LabFailure, match="not of other"):
        gate.expected(target)


def test_the_suite_runs_with_the_baseline_and_the_next_target_with_its_own(
    target, tmp_path, monkeypatch
):
    target.role = command.SERVER
    given = []
    monkeypatch.setattr(command, "run", lambda _, options: given.append(options.arguments) or 1)
    shared = argparse.Namespace(arguments=[])
    (row,) = command.gate_rows(target, shared)
    assert (row.outcome, shared.arguments) == ("ok", [])
    write_report(tmp_path, "refused")
    (row,) = command.gate_rows(target, shared)
    assert row.outcome == "1 difference (1 other reason)"
    assert given == [["--baseline", str(target.baseline)]] * 2


def test_no_engine_is_needed(tmp_path):
    environment = {**os.environ, "STEERTAG_BUILD": str(tmp_path)}
    program = "import gate, steertag; assert steertag.engine_problem; print(gate.baseline.PASS)"
    done = subprocess.run(
        ["/usr/bin/python3", "-B", "-c", program],
        cwd=HERE,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("pass\n", "")
