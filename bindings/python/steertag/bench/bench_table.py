"""The table of a bench for people."""

from ..files import optimistic_reads

HEADS = (
    "operation",
    "octets",
    "in flight",
    "MB/s",
    "spread",
    "calls/s",
    "median ms",
    "99 % ms",
    "CPU s/GiB",
    "CPU",
)
NAMES = {"read": "READ", "write": "WRITE", "write_sync": "WRITE sync"}
# Beyond this spread of the rounds a figure is marked.
WIDE = 0.1


def text(found):
    """The table of a document, with what it is about above it."""
    rows = [HEADS, *map(_columns, found["rows"])]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = [
        f"{found['url']}: NFS {found['nfs']}, a file of {found['file_bytes']} octets, {found['rounds']} rounds of "
        f"{found['seconds']:g} s"
    ]
    for columns in rows:
        first, *others = [each.rjust(width) for each, width in zip(columns, widths)]
        lines.append("  ".join([columns[0].ljust(len(first)), *others]).rstrip())
    if "optimistic" in found:
        lines.append(f"{optimistic_reads.sentence(found['optimistic'])}.")
    lines.append("MB/s: 10^6 octets a second. CPU: this client's processor time, of one processor.")
    if any(row["spread"] > WIDE for row in found["rows"]):
        lines.append(f"~ the rounds differ by more than {WIDE:.0%}.")
    return "\n".join(lines)


def size(octets):
    """4096 as 4K."""
    for unit, letter in ((1024**3, "G"), (1024**2, "M"), (1024, "K")):
        if octets % unit == 0:
            return f"{octets // unit}{letter}"
    return str(octets)


def _columns(row):
    mark = "~" if row["spread"] > WIDE else ""
    return (
        NAMES[row["operation"]],
        size(row["io_bytes"]),
        str(row["in_flight"]),
        f"{row['bytes_per_s'] / 1e6:.1f}",
        f"{mark}{row['spread']:.0%}",
        f"{row['calls_per_s']:.0f}",
        f"{row['median_s'] * 1e3:.3f}",
        f"{row['p99_s'] * 1e3:.3f}",
        f"{row['cpu_s_per_gib']:.2f}",
        f"{row['cpu_share']:.0%}",
    )
