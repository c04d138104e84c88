"""The plots of a run, as SVG."""

from ci.jobs.bench_nfs import figures
from ci.jobs.bench_pnfs.pnfs_rows import DATA_SERVERS, PACKINGS, TRANSPORTS, UNITS
from steertag.bench.bench_plot import figure, from_zero, to_svg
from steertag.bench.bench_table import size as octets


def plots(results):
    """{name of a file: SVG}."""
    drawn = {"S1": ("pnfs-scaling.svg", _scaling), "S8": ("pnfs-death.svg", _death)}
    return {name: draw(results[row]) for row, (name, draw) in drawn.items() if row in results}


def _scaling(found):
    made, axes = figure(1, 1)
    axis = axes[0][0]
    for unit in UNITS:
        for packing in PACKINGS:
            kind = ("read", unit, packing)
            ratios = [
                figures.ratio(found[n, kind], found[DATA_SERVERS[0], kind], "rate").median
                for n in DATA_SERVERS
            ]
            axis.plot(DATA_SERVERS, ratios, "o-", label=f"{octets(unit)}, {packing}")
    axis.plot(DATA_SERVERS, DATA_SERVERS, color="black", linewidth=0.5, label="as many as servers")
    axis.set_title("READ: throughput to that of one data server")
    axis.set_xlabel("data servers")
    axis.set_xticks(DATA_SERVERS)
    from_zero(axis)
    axis.grid(alpha=0.3)
    axis.legend()
    return to_svg(made)


def _death(found):
    made, axes = figure(1, 1)
    axis = axes[0][0]
    for way in TRANSPORTS:
        # The ends of looks have numbers, other times names.
        looks = sorted(at for at, kind in found if kind == (way,) and isinstance(at, int))
        rates = [figures.of(found[at, (way,)], "rate").median / 1e6 for at in looks]
        axis.plot(looks, rates, ".-", label=way)
    axis.axvline(0, color="black", linewidth=0.5)
    axis.set_title("READ while a data server dies, at 0")
    axis.set_xlabel("milliseconds")
    axis.set_ylabel("MB/s")
    from_zero(axis)
    axis.grid(alpha=0.3)
    axis.legend()
    return to_svg(made)
