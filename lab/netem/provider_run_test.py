"""Tests of a test program that the agent of a guest runs: what is kept of it, and one that is cut off."""

import pytest

from lab.failure import LabFailure
from lab.netem import provider_run

REPORT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="1">
  <testsuite name="Roce/ProviderTest">
    <testcase name="Good/roce" status="run" result="completed" classname="Roce/ProviderTest" />
  </testsuite>
</testsuites>"""


class Agent:
    """Says what the guest would have."""

    def __init__(self, status, report):
        self.status, self.report, self.limits = status, report, []

    def do(self, line, limit_s=120):
        if line.endswith("echo $?"):
            self.limits.append(limit_s)
            return [str(self.status)]
        return self.report.splitlines() if "report" in line else ["[ RUN      ] Good/roce"]


def test_status_report_and_output_are_kept(tmp_path):
    agent = Agent(1, REPORT)
    status, totals = provider_run.run_ordered(agent, tmp_path / "fabric_test")
    assert (status, totals.passed, totals.failed) == (1, 1, {})
    assert agent.limits == [provider_run.RUN_LIMIT_S]
    assert (tmp_path / "fabric_test.log").read_text() == "[ RUN      ] Good/roce"
    assert (tmp_path / "fabric_test.xml").read_text() == REPORT


def test_a_program_that_leaves_no_report_is_named_with_its_last_words(tmp_path):
    with pytest.raises(LabFailure, match=r"(?s)left no report.*RUN      \] Good/roce"):
        provider_run.run_ordered(Agent(139, ""), tmp_path / "fabric_test")
