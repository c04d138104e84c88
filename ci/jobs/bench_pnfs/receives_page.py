"""The section on credits, slots and receives."""

from ci.jobs.bench_nfs import figures
from ci.jobs.bench_nfs.nfs_page import megabytes
from ci.jobs.bench_pnfs.receives import CLIENTS, CREDITS, DATA_SERVERS, EQUAL, OWN, POOL, SHARED
from ci.jobs.bench_pnfs.receives import SLOTS, granted, way_of
from steertag.bench.bench_table import size as octets
from steertag.matrix.matrix_markdown import table

TITLE = "S7: slots are buffers"
KIND = ("credits",)
BASE = way_of(CREDITS[0], EQUAL)


def lines(found):
    """Both tables."""
    yield from _slots(found)
    yield ""
    yield from _pool(found)


def _slots(found):
    yield f"READs of 32 KiB of a file at {DATA_SERVERS} data servers, whose links are not limited. A client asks for as many"
    yield "slots as credits, for half, or for twice as many. Our server grants no more slots than credits, and 64 at most:"
    yield "over RDMA a slot without a credit cannot be used. Ratios are to 32 credits with 32 slots."
    yield ""
    rows = []
    for credits in sorted(CREDITS):
        for slots in SLOTS:
            rounds = found[way_of(credits, slots), KIND]
            row = [str(credits), slots, str(granted(credits, slots))]
            row.append(megabytes(figures.of(rounds, "rate")))
            row.append(figures.ratio(rounds, found[BASE, KIND], "rate").text(2))
            rows.append(row)
    yield from table(["credits", "slots asked for", "granted", "MB/s", "throughput"], rows)


def _pool(found):
    yield "READs of 4 KiB, 8 in flight of each client, over iWARP. Each connection has 34 receives for its 32 credits, or all"
    yield f"have a pool of {POOL} (`--shared-receives`). Memory is the server's (Pss), as it is behind the READs."
    yield ""
    rows = []
    for clients in CLIENTS:
        own, shared = (found[way, ("read", clients)] for way in (OWN, SHARED))
        row = [str(clients), megabytes(figures.of(own, "rate"))]
        row.append(figures.ratio(shared, own, "rate").text(2))
        row.append(figures.ratio(shared, own, "server_us_per_call").text(2))
        row += [_memory(own), _memory(shared)]
        rows.append(row)
    heads = ["clients", f"MB/s, {OWN}", "throughput, pool", "server's CPU a call, pool"]
    yield from table([*heads, f"memory, {OWN}", "memory, pool"], rows)


def _memory(rounds):
    return octets(round(figures.of(rounds, "server_bytes").median / 1024) * 1024)
