"""Row S8 on the page."""

from ci.jobs.bench_nfs import figures
from ci.jobs.bench_nfs.nfs_page import megabytes
from ci.jobs.bench_nfs.panels import panels
from ci.jobs.bench_pnfs import killed_server
from ci.jobs.bench_pnfs.killed_server import FATES
from ci.jobs.bench_pnfs.pnfs_rows import DEATH_AMONG
from ci.jobs.bench_pnfs.striped import IN_FLIGHT, TRANSPORTS
from steertag.bench.bench_plot import from_zero, to_svg
from steertag.matrix.matrix_markdown import table

ROW, TITLE = "S8", "S8: a data server dies"
PLOT = "pnfs-death.svg"
LEAST_SHOWN = 0.01


def lines(found):
    """Those of the section."""
    look_ms = round(killed_server.LOOK_S * 1000)
    steady_ms = round(killed_server.STEADY_S * 1000)
    yield f"READ from {DEATH_AMONG} data servers with links as in S1, {IN_FLIGHT} calls in flight for each. One of them is killed. Or its host"
    yield "vanishes: the bridge has no link to it any more, so that no FIN and no RST comes. Its process goes on, and keeps its"
    yield "control connection to the metadata server, a UNIX socket. The metadata server gives the part of the dead one, by a"
    yield f"link of the same rate. The client waits for a reply of a data server for {killed_server.CALL_LIMIT_S} s here, and for 20 s by default."
    yield ""
    yield f"The throughput is looked at every {look_ms} ms. It is back at the end of the last look without it, so times are known to {look_ms} ms."
    yield f"For {steady_ms} ms from there, any {killed_server.TOGETHER} looks have {killed_server.RETURNED * 100:.0f} % of what it was, and each has {killed_server.LEAST_LOOK * 100:.0f} %. A round is made again where the"
    yield f"data server carries less than {killed_server.LEAST_PART * 100:.0f} % of an equal part before its death: {killed_server.MOST_TRIES} tries in all. Fail-over was future work in 2008."
    yield ""
    rows = [_row(found, fate, way) for fate in FATES for way in TRANSPORTS]
    heads = ["data server", "transport", "MB/s before", "ms until it is back, at most"]
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
    return row + [_share(figures.ratio(each, before, "rate")) for each in (gap, after)]


def _share(value):
    """As text. A share near nothing has no mark if its rounds differ by less than is shown: their spread is to the median."""
    lowest, highest = value.range
    if highest - lowest < LEAST_SHOWN:
        value = figures.Value(value.median, 0.0)
    return value.text(2)


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
