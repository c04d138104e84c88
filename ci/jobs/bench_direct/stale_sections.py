"""The sections of the page on optimistic READs whose references another client makes stale: X1 and X2."""

from ci.jobs.bench_direct.direct_clients import (
    DIRECT,
    FAULTING,
    OPTIMISTIC,
    RECOVERABLE,
    kind_of,
)
from ci.jobs.bench_direct.direct_rows import CHANGED_FILES, SHARES, SMALL, WRITE_RATES, way_at
from ci.jobs.bench_nfs import figures
from ci.jobs.bench_nfs.nfs_page import percent
from steertag.bench.bench_table import size as octets
from steertag.matrix.matrix_markdown import table

# How a client finds out that a reference is stale.
FORMS = {OPTIMISTIC: "A+B", RECOVERABLE: "D", FAULTING: "A alone"}


def by_share(found):
    """X1."""
    yield (
        f"Passes of optimistic READs over {CHANGED_FILES} files of {octets(SMALL)}, one at a time. A writer has changed this share of "
        "them before, from the first on. Each file is one block, so that a reply by RPC brings no reference to another one. A READ that meets a stale "
        "reference is made again by RPC. A+B: the block says that it is stale. D: the server refuses the RDMA Read, and the "
        "connection goes on. A alone: the memory is closed, and the RDMA Read ends the connection. HELLO follows at once here; our "
        "client otherwise waits for a second. One end voids all references. So one READ of a pass meets a stale one at most, and "
        "those behind it are made by RPC."
    )
    yield ""
    direct = found[DIRECT, kind_of(SMALL)]
    rows = []
    for way, form in FORMS.items():
        for share in SHARES:
            cells = _cells(found[way_at(way, share), kind_of(SMALL)], direct)
            rows.append((form, f"{share * 100:g} %", *cells))
    rows.append(("direct READs", "", *_cells(direct, direct)))
    heads = ["READs that met one", "READs by RPC", "us a READ", "to direct", "server CPU us"]
    yield from table(["form", "stale references", *heads], rows)
    yield ""
    yield "![Time of a READ, and READs by RPC, by the share of stale references](direct-access-stale.svg)"


def _cells(rounds, direct):
    return [
        percent(figures.of(rounds, "stale_share"), 1),
        percent(figures.of(rounds, "rpc_share"), 1),
        figures.of(rounds, "round_trip_us").text(1),
        figures.ratio(rounds, direct, "round_trip_us").text(2),
        figures.of(rounds, "server_us_per_call").text(1),
    ]


def beside_a_writer(found):
    """X2."""
    yield (
        f"READs of {CHANGED_FILES} files of {octets(SMALL)}, one at a time and at random, while another client changes one file after the "
        "other. It is a thread of the same process and shares the processor with the reader. The direct READs beside the same "
        "writer show what that costs. Form A+B: a READ whose block is stale, or is being changed, is made again once, by RPC. "
        "The writer waits for each WRITE, so that it may not reach the rate that it was asked for."
    )
    yield ""
    alone = found[way_at(OPTIMISTIC, 0), kind_of(SMALL)]
    rows = []
    for rate in WRITE_RATES:
        direct, optimistic = pair = [
            found[way_at(way, rate), kind_of(SMALL)] for way in (DIRECT, OPTIMISTIC)
        ]
        rows.append(
            (
                str(rate),
                *(figures.of(each, "writes_per_s").text() for each in pair),
                *(figures.of(each, "calls_per_s").text() for each in pair),
                figures.ratio(optimistic, direct, "calls_per_s").text(2),
                figures.ratio(optimistic, alone, "calls_per_s").text(2),
                figures.of(optimistic, "stale_share").text(3),
                percent(figures.of(optimistic, "rpc_share"), 1),
            )
        )
    heads = ["WRITEs/s asked for", "beside direct", "beside optimistic"]
    heads += ["READs/s, direct", "optimistic", "to direct", "to no writer"]
    yield from table([*heads, "retries a READ", "READs by RPC"], rows)
    yield ""
    yield "![READs a second beside a writer, and optimistic READs that go by RPC](direct-access-writer.svg)"
