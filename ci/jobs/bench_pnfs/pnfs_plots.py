"""The plots of a run, as SVG."""

from ci.jobs.bench_nfs import figures
from ci.jobs.bench_pnfs import killed_server_page, transport_page
from ci.jobs.bench_pnfs.pnfs_rows import PACKINGS, UNITS
from ci.jobs.bench_pnfs.striped import DATA_SERVERS
from steertag.bench.bench_plot import figure, from_zero, to_svg
from steertag.bench.bench_table import size as octets


def plots(results):
    """{name of a file: SVG}."""
    made = transport_page.plots(results) | killed_server_page.plots(results)
    if "S1" in results:
        made["pnfs-scaling.svg"] = _scaling(results["S1"])
    return made


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
