"""Tests of how the provider tests' results are counted: a run that says nothing is no success."""

import pytest

from lab.failure import LabFailure
from lab.suite_runs import provider_tests

REPORT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4">
  <testsuite name="Verbs/ProviderTest">
    <testcase name="Good/verbs" status="run" result="completed" classname="Verbs/ProviderTest" />
    <testcase name="Bad/verbs" status="run" result="completed" classname="Verbs/ProviderTest">
      <failure message="one_test.cpp:7&#x0A;no" type=""></failure>
      <failure message="nor here" type=""></failure>
    </testcase>
    <testcase name="None/verbs" status="run" result="skipped" classname="Verbs/ProviderTest">
      <skipped message="the device has none" />
    </testcase>
    <testcase name="Out/verbs" status="notrun" result="suppressed" classname="Verbs/ProviderTest" />
  </testsuite>
</testsuites>
"""


def read(tmp_path, text, output="[ RUN      ] something\n"):
    (tmp_path / "report.xml").write_text(text)
    (tmp_path / "output.log").write_text(output)
    return provider_tests.read_report(tmp_path / "report.xml", tmp_path / "output.log")


def test_counts_each_outcome(tmp_path):
    totals = read(tmp_path, REPORT)
    assert totals.passed == 1
    assert totals.failed == {"Verbs/ProviderTest.Bad/verbs": ["one_test.cpp:7", "no", "nor here"]}
    assert totals.skipped == ["Verbs/ProviderTest.None/verbs"]


@pytest.mark.parametrize("text", ["", REPORT[:200]], ids=["empty", "cut"])
def test_no_report_is_a_failure_with_the_last_words(tmp_path, text):
    with pytest.raises(LabFailure, match="something"):
        read(tmp_path, text)


def test_a_missing_program_is_a_failure():
    with pytest.raises(LabFailure, match="is missing"):
        provider_tests.find_programs("build/no-such-program")
