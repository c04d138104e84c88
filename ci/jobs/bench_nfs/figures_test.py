"""Medians, spreads and ratios of rounds, and what of them is reported."""

import pytest

from ci.jobs.bench_nfs import figures
from ci.jobs.bench_nfs.figures import GIB, Figures, Value


def of_rate(rate, cpu=0.5):
    return Figures(rate, 100, 1.0, cpu / 2, cpu / 2, 0.25)


def test_a_value_is_the_median_with_the_spread():
    rounds = [of_rate(rate) for rate in (100, 70, 90, 110, 120)]
    found = figures.of(rounds, "rate")
    assert (found.median, found.spread) == (100, 0.2)


def test_single_rounds_that_were_disturbed_make_no_spread():
    rounds = [of_rate(rate) for rate in (100, 100, 10, 100, 100, 100, 500)]
    found = figures.of(rounds, "rate")
    assert (found.median, found.spread) == (100, 0)


@pytest.mark.parametrize("rates", [(100,), (0, 0)])
def test_what_has_no_spread(rates):
    assert figures.of([of_rate(rate) for rate in rates], "rate").spread == 0


def test_ratios_are_taken_round_by_round():
    quick, slow = of_rate(200), of_rate(20)
    found = figures.ratio([quick, slow], [of_rate(100), of_rate(10)], "rate")
    assert (found.median, found.spread) == (2, 0), "both were slow in the second round"


@pytest.mark.parametrize(
    ("spread", "text"), [(0.05, "12.3"), (0.1, "12.3"), (0.11, "~12.3"), (0.31, "(12.3)")]
)
def test_wide_figures_are_marked_and_the_widest_are_no_result(spread, text):
    assert Value(12.345, spread).text(1) == text


def test_processor_time_is_for_each_gib_and_each_call():
    found = Figures(2 * GIB, 1000, 4.0, 1.0, 2.0, 5.0)
    assert found.cpu_s_per_gib == 1.5
    assert found.server_s_per_gib == 2.5
    assert found.cpu_us_per_call == 3000
    assert found.cpu_share == 0.75
