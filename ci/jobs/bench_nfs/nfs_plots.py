"""The plots of a run, as SVG."""

from ci.jobs.bench_nfs import networks, nfs_rows
from ci.jobs.bench_nfs.bench_clients import IWARP, NO_CRC, TCP, WAYS
from ci.jobs.bench_nfs.nfs_page import PAPER_MTU, WRITES, name_kinds
from ci.jobs.bench_nfs.panels import bars, medians, panels, ratios, size_lines, step_lines
from steertag.bench.bench_plot import from_zero, to_svg
from steertag.bench.bench_table import size as octets


def plots(results):
    """{name of a file: SVG} of the rows that were measured."""
    return {
        f"nfs-2003-{name}.svg": to_svg(draw(results[row]))
        for row, name, draw in PLOTS
        if row in results
    }


def _reads(found, way, calls):
    """The cells of READs by size."""
    return [found[way, ("read", size, calls)] for size in nfs_rows.SIZES]


def _throughput(found):
    made, axes = panels(len(WAYS))
    for axis, way in zip(axes, WAYS):
        lines = {
            f"{calls} in flight": medians(_reads(found, way, calls), "rate", 1e-6)
            for calls in nfs_rows.IN_FLIGHT
        }
        size_lines(axis, f"READ, {way}, MB/s", nfs_rows.SIZES, lines)
    _same_scale(axes)
    axes[0].legend()
    return made


def _same_scale(axes):
    most = max(axis.get_ylim()[1] for axis in axes)
    for axis in axes:
        axis.set_ylim(0, most)


def _processor(found):
    made, (axis,) = panels(1)
    for way in WAYS:
        cells = _reads(found, way, 5)
        axis.plot(medians(cells, "rate", 1e-6), medians(cells, "cpu_share", 100), "o-", label=way)
    axis.set_title("READ, 5 in flight, 512 octets to 1 MiB")
    axis.set_xlabel("MB/s")
    axis.set_ylabel("client CPU, % of one processor")
    from_zero(axis)
    axis.set_xlim(left=0)
    axis.grid(alpha=0.3)
    axis.legend()
    return made


def _per_call(found):
    made, (axis,) = panels(1)
    tcp = _reads(found, TCP, 1)
    lines = {
        f"{way} to TCP": ratios(_reads(found, way, 1), tcp, "cpu_us_per_call")
        for way in (IWARP, NO_CRC)
    }
    size_lines(axis, "client CPU of a READ, one in flight", nfs_rows.SIZES, lines)
    axis.axhspan(0.3, 0.6, alpha=0.2, label="2003, with an adapter")
    _one(axis)
    axis.legend()
    return made


def _one(axis):
    """A line where two ways are alike."""
    axis.axhline(1, color="black", linewidth=0.5)


def _writing(found):
    made, axes = panels(len(WRITES))
    for axis, (operation, name) in zip(axes, WRITES.items()):
        lines = {}
        for way in WAYS:
            kinds = [(operation, size, nfs_rows.WRITE_IN_FLIGHT) for size in nfs_rows.WRITE_SIZES]
            lines[way] = medians([found[way, kind] for kind in kinds], "rate", 1e-6)
        size_lines(axis, f"WRITE, {name}, MB/s", nfs_rows.WRITE_SIZES, lines)
    _same_scale(axes)
    axes[0].legend()
    return made


def _mtu(found):
    made, axes = panels(2)
    large, small = networks.MTUS
    properties = {"rate": "throughput", "cpu_s_per_gib": "client CPU s/GiB"}
    for axis, (name, what) in zip(axes, properties.items()):
        lines = {}
        for way in WAYS:
            pair = [[found[mtu, (way, size)] for size in networks.SIZES] for mtu in (small, large)]
            lines[way] = ratios(*pair, name)
        size_lines(axis, f"READ, {what}, MTU {small} to {large}", networks.SIZES, lines)
        _one(axis)
    axes[0].axhline(PAPER_MTU, color="gray", linestyle="--", label="2003, RDMA")
    axes[0].legend()
    return made


def _threshold(found):
    return _one_to_other(found, nfs_rows.CHUNK, nfs_rows.INLINE, nfs_rows.INLINE_SIZES)


def _registration(found):
    return _one_to_other(found, nfs_rows.STAYS, nfs_rows.OPENED, nfs_rows.SIZES)


def _one_to_other(found, way, other, sizes):
    """READs one at a time of one way beside those of another."""
    made, (axis,) = panels(1)
    pair = [[found[each, ("read", size, 1)] for size in sizes] for each in (way, other)]
    properties = {"calls_per_s": "calls/s", "cpu_us_per_call": "client CPU of a call"}
    lines = {label: ratios(*pair, name) for name, label in properties.items()}
    size_lines(axis, f"READ, {way} to {other}", sizes, lines)
    _one(axis)
    axis.legend()
    return made


def _copies(found):
    made, (axis,) = panels(1)
    kinds = [(way, size) for way in WAYS for size in nfs_rows.COPIED_SIZES]
    series = {
        name: medians([found[name, kind] for kind in kinds], "cpu_s_per_gib")
        for name in (nfs_rows.KEPT, nfs_rows.COPIED)
    }
    names = [f"{way}, {octets(size)}" for way, size in kinds]
    bars(axis, "client CPU of READ, s/GiB", names, series)
    return made


def _names(found):
    kinds = name_kinds(found)
    columns = 3
    made, axes = panels(columns, -(-len(kinds) // columns))
    for axis, kind in zip(axes, kinds):
        lines = {
            f"receives of {octets(size)}": medians(
                [found[(size, credits), kind] for credits in nfs_rows.CREDITS], "calls_per_s"
            )
            for size in nfs_rows.RECEIVE_BYTES
        }
        step_lines(axis, f"{kind}, calls/s", "credits", nfs_rows.CREDITS, lines)
    axes[0].legend()
    for axis in axes[len(kinds) :]:
        axis.remove()
    return made


PLOTS = (
    ("C1", "read", _throughput),
    ("C2", "cpu", _processor),
    ("C3", "call", _per_call),
    ("C4", "write", _writing),
    ("C5", "mtu", _mtu),
    ("C6", "inline", _threshold),
    ("C7", "registration", _registration),
    ("C8", "copies", _copies),
    ("C9", "names", _names),
)
