"""Tests of the gate: it reads reports and baselines with the package's code, and without its engine."""

import argparse
import json
import os
import subprocess
import types

import pytest

from lab import command
from lab.failure import LabFailure
from lab.gates import gate
from lab.gates.gate import baseline
from lab.target import PROJECT

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
    report = tmp_path / "report"
    report.mkdir()
    write_report(report, "dropped")
    return types.SimpleNamespace(
        name="mine",
        role=command.SERVER,
        gated=True,
        baseline=tmp_path / "baseline.yaml",
        directory=tmp_path,
        report=report,
    )


def write_report(directory, reason, **more):
    case = {"id": "server.a", "verdict": "fail", "reason": reason, "findings": []}
    case["requirements"] = ["RFC8166-4.5.1-1"]
    (directory / "report.json").write_text(json.dumps({"cases": [case], **more}))


def test_the_last_run_is_compared_with_the_baseline(target):
    expected = gate.expected(target)
    assert gate.compare(target, expected).matches()
    assert gate.skeleton(target) == target.baseline.read_text()
    write_report(target.report, "refused")
    (difference,) = gate.compare(target, expected).differences
    assert difference.kind == "other reason"


def test_what_cannot_be_used_is_a_failure_of_the_lab(target):
    write_report(target.report, "dropped", partial=True)
    with pytest.raises(LabFailure, match="is of a part of the suite"):
        gate.compare(target, gate.expected(target))
    (target.report / "report.json").unlink()
    with pytest.raises(LabFailure, match="no report"):
        gate.skeleton(target)
    target.name = "other"
    with pytest.raises(LabFailure, match="not of other"):
        gate.expected(target)


@pytest.fixture
def runs(target, monkeypatch):
    """Runs of the suite that see these reasons, one after the other; `runs.given` are their arguments."""
    fake = types.SimpleNamespace(given=[], reasons=[])

    def run(_, options):
        selected = any(each.startswith("--case=") for each in options.arguments)
        fake.given.append(options.arguments)
        write_report(target.report, fake.reasons.pop(0), **({"partial": True} if selected else {}))
        return 1

    monkeypatch.setattr(command, "run", run)
    return fake


def test_the_suite_runs_with_the_baseline_and_the_next_target_with_its_own(target, runs):
    runs.reasons = ["dropped"]
    shared = argparse.Namespace(arguments=[])
    (row,) = command.gate_rows(target, shared)
    assert (row.outcome, shared.arguments) == ("ok", [])
    assert runs.given == [["--baseline", str(target.baseline)]]


@pytest.mark.parametrize(
    "again, outcome", [("refused", "1 difference (1 other reason)"), ("dropped", "ok")]
)
def test_what_differs_is_run_again_and_counts_if_it_differs_again(
    target, runs, again, outcome, capfd
):
    runs.reasons = ["refused", again]
    (row,) = command.gate_rows(target, argparse.Namespace(arguments=[]))
    assert row.outcome == outcome and row.counts == {"fail": 1}
    assert runs.given[1] == ["--baseline", str(target.baseline), "--case=server.a"]
    told = "not seen again: server.a: expected fail: dropped; seen fail: refused"
    assert (told in capfd.readouterr().err) == (outcome == "ok")
    first = json.loads((target.directory / gate.FIRST_REPORT / "report.json").read_text())
    assert first["cases"][0]["reason"] == "refused"


def test_what_was_not_seen_again_is_in_the_table(target, runs):
    runs.reasons = ["refused", "dropped"]
    (row,) = command.gate_rows(target, argparse.Namespace(arguments=[]))
    assert row.unseen == ("server.a",)


def test_a_boot_of_another_kernel_than_that_of_the_rows_is_told(target, runs, capfd, monkeypatch):
    text = target.baseline.read_text()
    target.baseline.write_text(text.replace("rows:", "kernel: 6.1.192-2\nrows:"))

    def run(_, options):
        write_report(target.report, "dropped", software="Linux 6.1.0-57-amd64 (Debian 6.1.195-1)")
        return 1

    monkeypatch.setattr(command, "run", run)
    (row,) = command.gate_rows(target, argparse.Namespace(arguments=[]))
    assert (row.outcome, row.kernel) == ("ok", "6.1.195-1")
    assert "kernel 6.1.195-1" in row.other_kernel and "kernel 6.1.192-2" in row.other_kernel
    assert f"warning: mine: {row.other_kernel}" in capfd.readouterr().err


def test_a_target_of_the_newest_kernel_is_not_gated(target):
    target.gated = False
    with pytest.raises(LabFailure, match="mine follows the newest kernel and has no baseline"):
        command.gate_rows(target, argparse.Namespace(arguments=[]))


@pytest.mark.parametrize("verdict", ["crash", "hang"])
def test_a_target_that_stopped_once_counts(target, verdict):
    write_report(target.report, "dropped")
    seen = baseline.Difference("other verdict", "server.a", "fail: dropped", f"{verdict}: gone")
    first = baseline.Comparison({}, [seen])
    assert not gate.confirm(target, gate.expected(target), first).matches()


def test_what_a_second_run_did_not_come_to_counts(target):
    write_report(target.report, "refused")
    first = gate.compare(target, gate.expected(target))
    (target.report / "report.json").write_text(json.dumps({"cases": [], "partial": True}))
    assert not gate.confirm(target, gate.expected(target), first).matches()


def test_many_differences_are_no_matter_of_luck():
    def differing(count):
        found = [baseline.Difference("other reason", f"server.{n}", "", "") for n in range(count)]
        return baseline.Comparison({}, found)

    assert len(gate.doubted(differing(gate.MOST_DOUBTED))) == gate.MOST_DOUBTED
    assert gate.doubted(differing(gate.MOST_DOUBTED + 1)) == []
    assert gate.doubted(baseline.compare(baseline.Report([]), baseline.Baseline("mine", []))) == []


def test_a_row_whose_case_is_gone_is_stale_without_a_second_run(target, runs):
    with target.baseline.open("a") as rows:
        rows.write(ROW.replace("server.a", "server.gone"))
    runs.reasons = ["dropped"]
    (row,) = command.gate_rows(target, argparse.Namespace(arguments=[]))
    assert row.outcome == "1 difference (1 stale row)" and len(runs.given) == 1


def test_no_engine_is_needed(tmp_path):
    environment = {**os.environ, "STEERTAG_BUILD": str(tmp_path)}
    program = "from lab.gates import gate; import steertag; assert steertag.engine_problem; print(gate.baseline.PASS)"
    done = subprocess.run(
        ["/usr/bin/python3", "-B", "-c", program],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("pass\n", "")
