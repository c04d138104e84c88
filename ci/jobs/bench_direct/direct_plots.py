"""The plots of a run, as SVG."""

from ci.jobs.bench_direct import raw
from ci.jobs.bench_direct.direct_clients import DIRECT, OPTIMISTIC, kind_of
from ci.jobs.bench_direct.direct_page import PAPER_BANDWIDTH, PAPER_ROUND_TRIP
from ci.jobs.bench_direct.direct_rows import (
    BLOCKS,
    F3_WAYS,
    F6_WAYS,
    F7_WAYS,
    HITS,
    RECORD,
    SHARES,
    SIZES,
    SMALL,
    T3_WAYS,
    WORK,
    WRITE_RATES,
    X2_WAYS,
    measured,
    way_at,
)
from ci.jobs.bench_direct.stale_sections import FORMS
from ci.jobs.bench_nfs.panels import bars, medians, panels, ratios, size_lines, step_lines
from steertag.bench.bench_plot import to_svg
from steertag.bench.bench_table import size as octets


def plots(results):
    """{name of a file: SVG} of the rows that were measured."""
    return {
        f"direct-access-{name}.svg": to_svg(draw(results[row]))
        for row, name, draw in PLOTS
        if row in results
    }


def _primitives(found):
    made, axes = panels(2)
    tests = (
        ("one octet and back, ratio of times", raw.ROUND_TRIP, "round_trip_us", PAPER_ROUND_TRIP),
        ("1 MiB at a time, ratio of throughputs", raw.BANDWIDTH, "rate", PAPER_BANDWIDTH),
    )
    for axis, (title, kind, name, paper) in zip(axes, tests):
        cells = [found[way, kind] for way in paper]
        ours = ratios(cells, [found[raw.TCP, kind]] * len(cells), name)
        series = {"this run, to TCP": ours, "2003, to UDP": list(paper.values())}
        bars(axis, title, list(paper), series)
    return made


def _reading(found):
    return _by_size(found, F3_WAYS, SIZES, {"rate": ("READ, MB/s", 1e-6)})


def _processors(found):
    properties = {
        "cpu_s_per_gib": ("client CPU, s/GiB", 1),
        "server_s_per_gib": ("server CPU, s/GiB", 1),
    }
    return _by_size(found, F3_WAYS, SIZES, properties)


def _two_clients(found):
    properties = {
        "rate": ("two clients, MB/s", 1e-6),
        "server_us_per_call": ("server CPU of a READ, us", 1),
    }
    return _by_size(found, F7_WAYS, BLOCKS, properties)


def _by_size(found, ways, sizes, properties):
    made, axes = panels(len(properties))
    for axis, (name, (title, scale)) in zip(axes, properties.items()):
        lines = {}
        for way in ways:
            cells = [found[way, kind_of(size)] if measured(way, size) else None for size in sizes]
            lines[way] = medians(cells, name, scale)
        size_lines(axis, title, sizes, lines)
    axes[0].legend()
    return made


def _join(found):
    made, (axis,) = panels(1)
    lines = {
        way: medians([found[way, kind_of(RECORD, work)] for work in WORK], "rate", 1e-6)
        for way in F3_WAYS
    }
    title = f"READ of {octets(RECORD)} records, MB/s"
    step_lines(
        axis, title, "copied of each", [octets(work) if work else "none" for work in WORK], lines
    )
    axis.legend()
    return made


def _response(found):
    made, (axis,) = panels(1)
    properties = {
        "response_us": "response",
        "cpu_us_per_call": "client CPU",
        "server_us_per_call": "server CPU",
    }
    cells = [found[way, kind_of(SMALL)] for way in T3_WAYS]
    series = {label: medians(cells, name) for name, label in properties.items()}
    bars(axis, f"READ of {octets(SMALL)}, us", T3_WAYS, series)
    return made


def _many_files(found):
    made, axes = panels(2)
    properties = {"calls_per_s": ("files/s", 1), "server_share": ("server busy, %", 100)}
    for axis, (name, (title, scale)) in zip(axes, properties.items()):
        lines = {
            way: medians([found[way, (share,)] for share in HITS], name, scale) for way in F6_WAYS
        }
        step_lines(axis, title, "kept by the client", _percents(HITS), lines)
    axes[0].legend()
    return made


def _percents(shares):
    return [f"{share * 100:g} %" for share in shares]


def _stale(found):
    made, axes = panels(2)
    direct = [found[DIRECT, kind_of(SMALL)]] * len(SHARES)
    cells = {
        form: [found[way_at(way, share), kind_of(SMALL)] for share in SHARES]
        for way, form in FORMS.items()
    }
    times = {form: ratios(its, direct, "round_trip_us") for form, its in cells.items()}
    by_rpc = {form: medians(its, "rpc_share", 100) for form, its in cells.items()}
    what, steps = "stale references", _percents(SHARES)
    step_lines(axes[0], "optimistic READ, time to a direct one's", what, steps, times)
    axes[0].axhline(1, color="black", linewidth=0.5)
    step_lines(axes[1], "optimistic READs made by RPC, %", what, steps, by_rpc)
    axes[0].legend()
    return made


def _beside_a_writer(found):
    made, axes = panels(2)
    cells = {
        way: [found[way_at(way, rate), kind_of(SMALL)] for rate in WRITE_RATES] for way in X2_WAYS
    }
    rates = {way: medians(its, "calls_per_s") for way, its in cells.items()}
    shares = {
        "met a stale reference": medians(cells[OPTIMISTIC], "stale_share", 100),
        "by RPC": medians(cells[OPTIMISTIC], "rpc_share", 100),
    }
    what = "WRITEs/s that the writer was asked for"
    step_lines(axes[0], "READs/s", what, WRITE_RATES, rates)
    step_lines(axes[1], "optimistic READs, %", what, WRITE_RATES, shares)
    for axis in axes:
        axis.legend()
    return made


PLOTS = (
    ("T2", "primitives", _primitives),
    ("F3", "read", _reading),
    ("F3", "cpu", _processors),
    ("F5", "join", _join),
    ("T3", "response", _response),
    ("F6", "files", _many_files),
    ("F7", "server", _two_clients),
    ("X1", "stale", _stale),
    ("X2", "writer", _beside_a_writer),
)
