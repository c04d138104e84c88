"""Estimates of a run on a clock that stands."""

import types

from steertag.suite.run.time_left import TimeLeft


def lines_of(total, seconds_each):
    clock = types.SimpleNamespace(now=100.0)
    left = TimeLeft(lambda: clock.now)
    lines = []
    for _ in range(total):
        lines.append(left.line_after_case(total))
        clock.now += seconds_each
    return [line for line in lines if line]


def test_estimates_come_after_twice_the_time():
    lines = lines_of(total=101, seconds_each=1)
    firsts = [line.rpartition(" first ")[2] for line in lines]
    assert firsts == [f"{ended} of 101 cases" for ended in (4, 7, 13, 25, 49, 97)]
    assert lines[0].startswith("about 73 s left, at the pace of")


def test_a_long_rest_is_in_minutes():
    assert lines_of(total=1000, seconds_each=1)[0].startswith("about 12 min left")


def test_a_short_run_has_no_estimate():
    assert not lines_of(total=30, seconds_each=0.1)
