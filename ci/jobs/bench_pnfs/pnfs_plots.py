"""The plots of a run, as SVG."""

from ci.jobs.bench_nfs import figures
from ci.jobs.bench_nfs.panels import panels, ratios, step_lines
from ci.jobs.bench_pnfs import killed_server_page, receives_page, transport_page
from ci.jobs.bench_pnfs.pnfs_rows import COMMITS, PACKINGS, UNITS
from ci.jobs.bench_pnfs.striped import DATA_SERVERS, TRANSPORTS
from steertag.bench.bench_plot import figure, from_zero, to_svg
from steertag.bench.bench_table import size as octets


def plots(results):
    """{name of a file: SVG}."""
    made = transport_page.plots(results) | killed_server_page.plots(results)
    made |= receives_page.plots(results)
    drawn = {
        "S1": ("pnfs-scaling.svg", _reading),
        "S2": ("pnfs-writing.svg", _writing),
        "S3": ("pnfs-transports.svg", _transports),
    }
    return made | {
        name: to_svg(draw(results[row])) for row, (name, draw) in drawn.items() if row in results
    }


def _reading(found):
    kinds = {
        f"{octets(unit)}, {packing}": ("read", unit, packing)
        for unit in UNITS
        for packing in PACKINGS
    }
    return _scaling(found, "READ: throughput to that of one data server", kinds)


def _writing(found):
    kinds = {f"COMMIT at {commit.upper()}": ("write", commit) for commit in COMMITS}
    return _scaling(found, "WRITE and COMMIT: throughput to that of one data server", kinds)


def _scaling(found, title, kinds):
    made, axes = figure(1, 1)
    axis = axes[0][0]
    for label, kind in kinds.items():
        lines = [
            figures.ratio(found[n, kind], found[DATA_SERVERS[0], kind], "rate").median
            for n in DATA_SERVERS
        ]
        axis.plot(DATA_SERVERS, lines, "o-", label=label)
    axis.plot(DATA_SERVERS, DATA_SERVERS, color="black", linewidth=0.5, label="as many as servers")
    axis.set_title(title)
    axis.set_xlabel("data servers")
    axis.set_xticks(DATA_SERVERS)
    from_zero(axis)
    axis.grid(alpha=0.3)
    axis.legend()
    return made


def _transports(found):
    """Throughput and both sides' processor time of READ and WRITE, iWARP to TCP."""
    tcp, iwarp = TRANSPORTS
    made, axes = panels(2)
    names = {
        "throughput": "rate",
        "client's CPU": "cpu_s_per_gib",
        "servers' CPU": "server_s_per_gib",
    }
    for axis, operation in zip(axes, ("read", "write")):
        cells = {
            way: [found[way, (operation, servers)] for servers in DATA_SERVERS]
            for way in TRANSPORTS
        }
        lines = {label: ratios(cells[iwarp], cells[tcp], name) for label, name in names.items()}
        step_lines(
            axis, f"{operation.upper()}, {iwarp} to {tcp}", "data servers", DATA_SERVERS, lines
        )
        axis.axhline(1, color="black", linewidth=0.5)
        axis.legend()
    return made
