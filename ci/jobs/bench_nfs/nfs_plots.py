"""The plots of a run, as SVG."""

from ci.jobs.bench_nfs import figures, nfs_rows
from ci.jobs.bench_nfs.bench_clients import IWARP, NO_CRC, TCP, WAYS
from steertag.bench.bench_plot import figure, octets_axis, to_svg


def plots(found):
    """{name of a file: SVG} of the results of reading."""
    return {
        "nfs-2003-read.svg": _throughput(found),
        "nfs-2003-cpu.svg": _processor(found),
        "nfs-2003-call.svg": _per_call(found),
    }


def _median(found, way, size, calls, name):
    return figures.of(found[way, ("read", size, calls)], name).median


def _throughput(found):
    made, axes = figure(len(WAYS), 1)
    for axis, way in zip(axes[0], WAYS):
        for calls in nfs_rows.IN_FLIGHT:
            rates = [_median(found, way, size, calls, "rate") / 1e6 for size in nfs_rows.SIZES]
            axis.plot(nfs_rows.SIZES, rates, "o-", label=f"{calls} in flight")
        octets_axis(axis, nfs_rows.SIZES)
        axis.set_title(f"READ, {way}, MB/s")
    most = max(axis.get_ylim()[1] for axis in axes[0])
    for axis in axes[0]:
        axis.set_ylim(0, most)
    axes[0][0].legend()
    return to_svg(made)


def _processor(found):
    made, axes = figure(1, 1)
    axis = axes[0][0]
    for way in WAYS:
        rates = [_median(found, way, size, 5, "rate") / 1e6 for size in nfs_rows.SIZES]
        shares = [_median(found, way, size, 5, "cpu_share") * 100 for size in nfs_rows.SIZES]
        axis.plot(rates, shares, "o-", label=way)
    axis.set_title("READ, 5 in flight, 512 octets to 1 MiB")
    axis.set_xlabel("MB/s")
    axis.set_ylabel("client CPU, % of one processor")
    axis.set_ylim(bottom=0)
    axis.set_xlim(left=0)
    axis.grid(alpha=0.3)
    axis.legend()
    return to_svg(made)


def _per_call(found):
    made, axes = figure(1, 1)
    axis = axes[0][0]
    for way in (IWARP, NO_CRC):
        ratios = [
            figures.ratio(
                found[way, ("read", size, 1)], found[TCP, ("read", size, 1)], "cpu_us_per_call"
            ).median
            for size in nfs_rows.SIZES
        ]
        axis.plot(nfs_rows.SIZES, ratios, "o-", label=f"{way} to TCP")
    axis.axhspan(0.3, 0.6, alpha=0.2, label="2003, with an adapter")
    axis.axhline(1, color="black", linewidth=0.5)
    octets_axis(axis, nfs_rows.SIZES)
    axis.set_title("client CPU of a READ, one in flight")
    axis.legend()
    return to_svg(made)
