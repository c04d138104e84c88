"""The plots of a run, as SVG."""

from ci.jobs.bench_direct.direct_clients import kind_of
from ci.jobs.bench_direct.direct_rows import (
    BLOCKS,
    F3_WAYS,
    F7_WAYS,
    SIZES,
    SMALL,
    T3_WAYS,
    measured,
)
from ci.jobs.bench_nfs import figures
from steertag.bench.bench_plot import figure, octets_axis, to_svg


def plots(results):
    """{name of a file: SVG} of the rows that were measured."""
    found = {}
    if "F3" in results:
        found["direct-access-read.svg"] = _by_size(
            results["F3"], F3_WAYS, SIZES, {"rate": ("READ, MB/s", 1e-6)}
        )
        found["direct-access-cpu.svg"] = _by_size(
            results["F3"],
            F3_WAYS,
            SIZES,
            {
                "cpu_s_per_gib": ("client CPU, s/GiB", 1),
                "server_s_per_gib": ("server CPU, s/GiB", 1),
            },
        )
    if "T3" in results:
        found["direct-access-response.svg"] = _response(results["T3"])
    if "F7" in results:
        found["direct-access-server.svg"] = _by_size(
            results["F7"],
            F7_WAYS,
            BLOCKS,
            {
                "rate": ("two clients, MB/s", 1e-6),
                "server_us_per_call": ("server CPU of a READ, us", 1),
            },
        )
    return found


def _by_size(found, ways, sizes, properties):
    made, axes = figure(len(properties), 1)
    for axis, (name, (title, scale)) in zip(axes[0], properties.items()):
        for way in ways:
            at = [size for size in sizes if measured(way, size)]
            values = [figures.of(found[way, kind_of(size)], name) for size in at]
            axis.plot(at, [value.median * scale for value in values], "o-", label=way)
        octets_axis(axis, sizes)
        axis.set_title(title)
    axes[0][0].legend()
    return to_svg(made)


def _response(found):
    made, axes = figure(1, 1)
    axis = axes[0][0]
    bars = {
        "response_us": "response",
        "cpu_us_per_call": "client CPU",
        "server_us_per_call": "server CPU",
    }
    height = 0.8 / len(bars)
    for number, (name, label) in enumerate(bars.items()):
        values = [figures.of(found[way, kind_of(SMALL)], name).median for way in T3_WAYS]
        at = [place + number * height for place in range(len(T3_WAYS))]
        axis.barh(at, values, height, label=label)
    axis.set_yticks([place + height for place in range(len(T3_WAYS))], T3_WAYS)
    axis.invert_yaxis()
    axis.set_title("READ of 4 KiB, us")
    axis.grid(alpha=0.3, axis="x")
    axis.legend()
    return to_svg(made)
