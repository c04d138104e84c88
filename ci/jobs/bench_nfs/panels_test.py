"""What a panel shows: all points, from zero on, and no point where nothing was measured."""

import math

import pytest

from ci.jobs.bench_nfs.figures import Figures
from ci.jobs.bench_nfs.panels import bars, medians, panels, ratios, size_lines, step_lines

pytest.importorskip("matplotlib", reason="python3-matplotlib is not installed")
ALIKE = (38, 40, 39)


def rounds(rate):
    return [Figures(rate, 100, 1.0, 0.2, 0.1)] * 3


@pytest.mark.parametrize("first", [ALIKE, (0, 0, 40)])
def test_the_values_begin_at_zero_and_none_is_cut_off(first):
    _, axes = panels(2)
    size_lines(axes[0], "by size", (512, 1024, 2048), {"a": first})
    step_lines(axes[1], "by step", "credits", (3, 32, 128), {"a": first})
    for axis in axes:
        least, most = axis.get_ylim()
        assert least == 0
        assert most > max(first)


def test_a_line_that_is_drawn_later_is_seen():
    _, (axis,) = panels(1)
    step_lines(axis, "ratios", "credits", (3, 32), {"a": (0.2, 0.3)})
    axis.axhline(1)
    assert axis.get_ylim()[1] > 1


def test_a_cell_that_was_not_measured_has_no_point():
    _, (axis,) = panels(1)
    values = medians([rounds(5), None], "rate", 2)
    assert values == [10, None]
    step_lines(axis, "by way", "size", ("small", "large"), {"a": values})
    drawn = axis.get_lines()[0].get_ydata()
    assert drawn[0] == 10 and math.isnan(drawn[1])


def test_ratios_are_those_of_cells_at_the_same_place():
    assert ratios([rounds(6), rounds(8)], [rounds(2), rounds(2)], "rate") == [3, 4]


def test_each_name_has_a_bar_of_each_series():
    _, (axis,) = panels(1)
    bars(axis, "times", ("a", "b", "c"), {"ours": (1, 2, 3), "theirs": (4, 5, 6)})
    assert [patch.get_width() for patch in axis.patches] == [1, 2, 3, 4, 5, 6]
    assert [text.get_text() for text in axis.get_yticklabels()] == ["a", "b", "c"]
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["ours", "theirs"]
