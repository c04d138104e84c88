"""The panels of a plot: lines by the size of a call or by named steps, and bars side by side."""

import itertools

from ci.jobs.bench_nfs import figures
from steertag.bench.bench_plot import figure, from_zero, octets_axis

# Lines that cover each other are seen.
STYLES = ("o-", "s--", "^-.", "D:", "v-")


def panels(columns, rows=1):
    """(figure, its axes in the order of reading)."""
    made, axes = figure(columns, rows)
    return made, [axis for row in axes for axis in row]


def medians(cells, name, scale=1):
    """Of one property of each cell's rounds; a cell that was not measured is None, and has no point."""
    return [None if rounds is None else figures.of(rounds, name).median * scale for rounds in cells]


def ratios(cells, others, name):
    """The medians of the ratios of two lists of cells."""
    return [figures.ratio(*pair, name).median for pair in zip(cells, others)]


def size_lines(axis, title, sizes, lines):
    """`lines` is {label: a value for each size}."""
    _lines(axis, title, sizes, lines)
    octets_axis(axis, sizes)


def step_lines(axis, title, what, steps, lines):
    """`lines` is {label: a value for each step}; `what` the steps are, and the text of each, stand below."""
    at = range(len(steps))
    _lines(axis, title, at, lines)
    axis.set_xticks(at, steps)
    axis.set_xlabel(what)
    from_zero(axis)
    axis.grid(alpha=0.3)


def _lines(axis, title, at, lines):
    for style, (label, values) in zip(itertools.cycle(STYLES), lines.items()):
        known = [float("nan") if value is None else value for value in values]
        axis.plot(at, known, style, label=label)
    axis.set_title(title)


def bars(axis, title, names, series):
    """Below each other, for each name one of each of the `series`: {label: a value for each name}."""
    height = 0.8 / len(series)
    for number, (label, values) in enumerate(series.items()):
        axis.barh(
            [place + number * height for place in range(len(names))], values, height, label=label
        )
    middle = height * (len(series) - 1) / 2
    axis.set_yticks([place + middle for place in range(len(names))], names)
    axis.invert_yaxis()
    axis.set_title(title)
    axis.grid(alpha=0.3, axis="x")
    # Bars leave no place for it.
    axis.legend(loc="upper right", bbox_to_anchor=(1, -0.08), ncols=len(series))
