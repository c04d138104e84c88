"""The section on credits, slots and receives, and its plots. Its conclusions are computed from the figures."""

from ci.jobs.bench_nfs import figures
from ci.jobs.bench_nfs.figures import MARKED
from ci.jobs.bench_nfs.nfs_page import megabytes
from ci.jobs.bench_nfs.panels import panels, step_lines
from ci.jobs.bench_pnfs.receives import CLIENTS, CREDITS, DATA_SERVERS, DOUBLE, EQUAL, HALF, OWN
from ci.jobs.bench_pnfs.receives import POOL, SHARED, SLOTS, slot_count, way_of
from steertag.bench.bench_plot import to_svg
from steertag.bench.bench_table import size as octets
from steertag.matrix.matrix_markdown import table

TITLE = "S7: slots are buffers"
KIND = ("credits",)
BASE = way_of(CREDITS[0], EQUAL)


def lines(found):
    """Both tables, with what they show, and the plots."""
    yield from _slots(found)
    yield ""
    yield from _pool(found)
    yield ""
    yield "![Throughput by credits and slots, and by clients with a pool](pnfs-receives.svg)"


def to_equal(found, credits, slots):
    """The throughput, to that with as many slots as these credits."""
    return _ratio(found, way_of(credits, slots), way_of(credits, EQUAL))


def _ratio(found, way, other):
    return figures.ratio(found[way, KIND], found[other, KIND], "rate")


def to_own(found, clients, name="rate"):
    """The pool, to receives of each connection."""
    own, shared = (found[way, ("read", clients)] for way in (OWN, SHARED))
    return figures.ratio(shared, own, name)


def _span(values):
    """The lowest and the highest median, as text."""
    medians = sorted(each.median for each in values.values())
    return f"{medians[0]:.2f} to {medians[-1]:.2f}"


def verdict(values):
    """Where ratios differ from 1 beyond the mark of a figure and their own spread, as text. `values` are {name: Value}."""
    clear = {
        name: each.median
        for name, each in values.items()
        if abs(each.median - 1) > max(MARKED, each.spread)
    }
    said = []
    for word, names in (
        ("more", [name for name in clear if clear[name] > 1]),
        ("less", [name for name in clear if clear[name] < 1]),
        ("no clear difference", [name for name in values if name not in clear]),
    ):
        if names:
            said.append(f"{word} with {_listed(names, len(values))}")
    return ", ".join(said)


def _listed(names, of):
    """Names in one phrase: "all" if there are so many."""
    if len(names) == of:
        return "all"
    *first, last = map(str, names)
    return f"{', '.join(first)} and {last}" if first else last


def _slots(found):
    yield f"READs of 32 KiB of a file at {DATA_SERVERS} data servers, whose links are not limited. A session has as many slots as"
    yield "its connection has credits, half, or twice as many (`--slots`). A call with a slot but no credit waits at the client."
    yield ""
    rows = []
    for credits in sorted(CREDITS):
        for slots in SLOTS:
            way = way_of(credits, slots)
            row = [str(credits), slots, str(slot_count(credits, slots))]
            row.append(megabytes(figures.of(found[way, KIND], "rate")))
            row.append(to_equal(found, credits, slots).text(2))
            row.append(_ratio(found, way, BASE).text(2))
            rows.append(row)
    heads = ["credits", "slots", "of each session", "MB/s", "to equal slots"]
    yield from table([*heads, f"to {BASE}"], rows)
    yield ""
    half, double = (
        {credits: to_equal(found, credits, slots) for credits in sorted(CREDITS)}
        for slots in (HALF, DOUBLE)
    )
    yield f"A difference is clear if it is more than {MARKED * 100:.0f} %, and more than the spread. By credits:"
    yield ""
    yield f"- Half the slots give {_span(half)} of the throughput of equal ones: {verdict(half)}."
    yield f"- Twice the slots give {_span(double)} of it: {verdict(double)}."


def _pool(found):
    yield "READs of 4 KiB, 8 in flight of each client, over iWARP. Each connection has 34 receives for its 32 credits, or all"
    yield f"have a pool of {POOL} (`--shared-receives`). Memory is the server's (Pss), as it is behind the READs."
    yield ""
    rows = []
    for clients in CLIENTS:
        own, shared = (found[way, ("read", clients)] for way in (OWN, SHARED))
        row = [str(clients), megabytes(figures.of(own, "rate"))]
        row.append(to_own(found, clients).text(2))
        row.append(to_own(found, clients, "server_us_per_call").text(2))
        row += [_memory(own), _memory(shared)]
        rows.append(row)
    heads = ["clients", f"MB/s, {OWN}", "throughput, pool", "server's CPU a call, pool"]
    yield from table([*heads, f"memory, {OWN}", "memory, pool"], rows)
    yield ""
    rates = {clients: to_own(found, clients) for clients in CLIENTS}
    most = CLIENTS[-1]
    memory = to_own(found, most, "server_bytes").text(2)
    yield f"By clients, the pool gives {_span(rates)} of the throughput: {verdict(rates)}."
    yield f"With {most} clients the server has {memory} of the memory."


def _memory(rounds):
    return octets(round(figures.of(rounds, "server_bytes").median / 1024) * 1024)


PLOT = "pnfs-receives.svg"


def plots(results):
    """{name of the file: SVG}; nothing without the row."""
    if "S7" not in results:
        return {}
    found = results["S7"]
    made, (slots_axis, pool_axis) = panels(2)
    credits_at = sorted(CREDITS)
    lines_of = {
        f"{slots} slots": [
            figures.of(found[way_of(credits, slots), KIND], "rate").median / 1e6
            for credits in credits_at
        ]
        for slots in SLOTS
    }
    step_lines(slots_axis, "READs of 32 KiB, MB/s", "credits", credits_at, lines_of)
    pool = {
        way: [figures.of(found[way, ("read", clients)], "rate").median / 1e6 for clients in CLIENTS]
        for way in (OWN, SHARED)
    }
    step_lines(pool_axis, "READs of 4 KiB, MB/s", "clients", CLIENTS, pool)
    for axis in (slots_axis, pool_axis):
        axis.legend()
    return {PLOT: to_svg(made)}
