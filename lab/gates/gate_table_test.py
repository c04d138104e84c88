"""Tests of the table of a gate over several targets."""

from lab.gates.gate_table import PASSED, Row, passed, text


def test_each_verdict_that_was_seen_has_a_column():
    rows = [
        Row("linux-6.1-siw", "suite", {"pass": 230, "fail": 9}, PASSED, kernel="6.1.192-2"),
        Row("client", "v4.1 memory", {"pass": 12, "hang": 1}, "1 step failed"),
    ]
    lines = text(rows).splitlines()
    assert lines[0].split() == ["target", "kernel", "version", "pass", "fail", "hang", "outcome"]
    assert lines[1].split() == ["linux-6.1-siw", "6.1.192-2", "suite", "230", "9", "ok"]
    assert lines[2].split() == ["client", "-", "v4.1", "memory", "12", "1", "1", "step", "failed"]
    assert lines[-1] == "gate: 2 rows, 1 not as expected"


def test_what_differed_once_only_is_listed():
    lines = text([Row("linux-6.1-siw", "suite", {"pass": 1}, PASSED, ("server.a",))]).splitlines()
    assert "not seen again: linux-6.1-siw: server.a" in lines
    assert lines[-1] == "gate: 1 rows, 0 not as expected"


def test_a_kernel_that_is_not_the_one_of_the_rows_is_a_warning_and_no_failure():
    row = Row("a", "suite", {"pass": 1}, PASSED, other_kernel="booted 2, rows of 1")
    assert "warning: a: booted 2, rows of 1" in text([row]).splitlines()
    assert passed([row])


def test_nothing_has_not_passed():
    assert not passed([])
    assert passed([Row("a", "suite", {}, PASSED)])
    assert not passed([Row("a", "suite", {}, PASSED), Row("b", "suite", {}, "error")])
