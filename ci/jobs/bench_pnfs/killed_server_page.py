"""Row S8 on the page."""

from ci.jobs.bench_nfs import figures
from ci.jobs.bench_nfs.nfs_page import megabytes
from ci.jobs.bench_nfs.panels import panels
from ci.jobs.bench_pnfs import killed_server
from ci.jobs.bench_pnfs.killed_server import KILLED, VANISHED
from ci.jobs.bench_pnfs.pnfs_rows import DEATH_AMONG
from ci.jobs.bench_pnfs.striped import TRANSPORTS
from steertag.bench.bench_plot import from_zero, to_svg
from steertag.matrix.matrix_markdown import table

ROW, TITLE = "S8", "S8: a data server dies"
PLOT = "pnfs-death.svg"
FATES = (KILLED, VANISHED)


def lines(found):
    """Those of the section."""
    look_ms = round(killed_server.LOOK_S * 1000)
    yield f"READ from {DEATH_AMONG} data servers, processes of their own that share a directory. One of them is killed. Or its"
    yield "host vanishes: the data server has a network namespace of its own, whose link goes down, so that no FIN and no RST"
    yield "comes. Then the metadata server gives its part, over a link of the same rate. The client waits for a reply of a data"
    yield f"server for {killed_server.CALL_LIMIT_S} s here, and for 20 s by default. The throughput is looked at every {look_ms} ms. It is back when"
    yield f"{killed_server.STEADY} looks together have {killed_server.RETURNED * 100:.0f} % of what it was. Fail-over was future work in 2008."
    yield ""
    rows = [_row(found, fate, way) for fate in FATES for way in TRANSPORTS]
    heads = ["data server", "transport", "MB/s before", "ms until it is back"]
    yield from table([*heads, "throughput meanwhile, to before", "afterwards, to before"], rows)
    yield ""
    yield f"![Throughput around the death of a data server]({PLOT})"


def _row(found, fate, way):
    before, gap, after = (
        found[each, (way, fate)]
        for each in (killed_server.BEFORE, killed_server.GAP, killed_server.AFTER)
    )
    row = [fate, way, megabytes(figures.of(before, "rate"))]
    row.append(figures.value(each.elapsed_s * 1000 for each in gap).text())
    return row + [figures.ratio(each, before, "rate").text(2) for each in (gap, after)]


def plots(results):
    """{name of a file: SVG}."""
    return {PLOT: _draw(results[ROW])} if ROW in results else {}


def _draw(found):
    made, axes = panels(len(FATES))
    for axis, fate in zip(axes, FATES):
        for way in TRANSPORTS:
            # The ends of looks have numbers, other times names.
            looks = sorted(at for at, kind in found if kind == (way, fate) and isinstance(at, int))
            rates = [figures.of(found[at, (way, fate)], "rate").median / 1e6 for at in looks]
            axis.plot(looks, rates, ".-", label=way)
        axis.axvline(0, color="black", linewidth=0.5)
        axis.set_title(f"READ from data servers: {fate} at 0")
        axis.set_xlabel("milliseconds")
        axis.set_ylabel("MB/s")
        from_zero(axis)
        axis.grid(alpha=0.3)
        axis.legend()
    return to_svg(made)
