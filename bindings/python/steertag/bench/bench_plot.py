"""The plot of a bench: throughput and processor time by the size of a call, a line for each number of calls under way."""

import io

from ..failure import Failure
from .bench_table import NAMES, size

NEEDS = "plots need matplotlib: install the Debian package python3-matplotlib"


def check(path):
    """Raises Failure if no plot can be drawn to that path."""
    if path.suffix != ".svg":
        raise Failure(f"--plot {path}: the name ends with .svg")
    need_library()


def need_library():
    """Raises Failure if the library is not there."""
    try:
        import matplotlib  # noqa: F401; most runs draw nothing
    except ImportError:
        raise Failure(NEEDS) from None


def figure(columns, rows):
    """(figure, axes by row and column) without a display."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(5.5 * columns, 3.6 * rows), layout="constrained")
    return made, made.subplots(rows, columns, squeeze=False)


def octets_axis(axis, sizes):
    """An axis with a tick at each size."""
    axis.set_xscale("log", base=2)
    axis.set_xticks(sizes, [size(each) for each in sizes])
    axis.minorticks_off()
    axis.set_xlabel("octets of a call")
    from_zero(axis)
    axis.grid(alpha=0.3)


def from_zero(axis):
    """The values of an axis begin at 0, with room above the largest, whatever is drawn later."""
    axis.axhline(0, linewidth=0).sticky_edges.y.append(0)
    axis.autoscale(axis="y")


def to_svg(made):
    """The text of a figure, the same for the same figure."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "steertag", "svg.fonttype": "none"}):
        out = io.StringIO()
        made.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def svg(found):
    """The plot of a document."""
    operations = [each for each in NAMES if any(row["operation"] == each for row in found["rows"])]
    made, axes = figure(2, len(operations))
    made.suptitle(f"{found['url']}, NFS {found['nfs']}", parse_math=False)
    for (throughput, processor), operation in zip(axes, operations):
        rows = [row for row in found["rows"] if row["operation"] == operation]
        sizes = sorted({row["io_bytes"] for row in rows})
        for calls in sorted({row["in_flight"] for row in rows}):
            line = [row for row in rows if row["in_flight"] == calls]
            at = [row["io_bytes"] for row in line]
            label = f"{calls} in flight"
            throughput.plot(at, [row["bytes_per_s"] / 1e6 for row in line], "o-", label=label)
            processor.plot(at, [row["cpu_s_per_gib"] for row in line], "o-", label=label)
        throughput.set_title(f"{NAMES[operation]}, MB/s")
        processor.set_title(f"{NAMES[operation]}, client CPU s/GiB")
        for axis in (throughput, processor):
            octets_axis(axis, sizes)
        throughput.legend()
    return to_svg(made)
