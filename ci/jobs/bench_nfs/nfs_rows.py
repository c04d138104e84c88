"""The rows of the comparison that are measured. Each gives {(way, kind): [Figures]}."""

import contextlib

from ci.jobs.bench_nfs.bench_clients import (
    IWARP,
    NO_CRC,
    TCP,
    WAYS,
    connect,
    data_cell,
    name_cell,
    new_file,
)
from ci.jobs.bench_nfs.bench_servers import server
from ci.jobs.bench_nfs.rounds import measure

GIB = 1024**3
FILE_BYTES = GIB
WRITTEN_BYTES = 128 * 1024**2
SIZES = (512, 4096, 32768, 262144, 1048576)
# Reads ahead of 2003: 0, 1, 4, 8 and 16, beside the one that is waited for.
IN_FLIGHT = (1, 2, 5, 9, 17)
WRITE_SIZES = (4096, 32768, 262144, 1048576)
WRITE_IN_FLIGHT = 5
# Row C6: READs of these sizes fit into one message of our server with this announced size.
INLINE_SIZES = (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
INLINE_BYTES = 66560
INLINE, CHUNK = "inline", "chunk"
OPENED, STAYS = "opened for each call", "kept open"
COPIED, KEPT = "with a copy", "without a copy"
COPIED_SIZES = (32768, 262144)
RECEIVE_BYTES = (1024, 4096, 16384)
CREDITS = (3, 32, 128)
LISTED = (100, 10_000)


def reading(main, path, rounds, seconds):
    """C1, C2 and C3: READ by size and calls in flight."""
    with contextlib.ExitStack() as stack:
        benches = _benches(stack, main, path)
        cells = [
            data_cell(main, way, bench, "read", size, calls)
            for way, bench in benches.items()
            for size in SIZES
            for calls in IN_FLIGHT
        ]
        return measure(cells, rounds, seconds)


def writing(main, rounds, seconds):
    """C4: WRITE by size, unstable and FILE_SYNC."""
    with contextlib.ExitStack() as stack:
        path = stack.enter_context(new_file(main, TCP, WRITTEN_BYTES))
        benches = _benches(stack, main, path)
        cells = [
            data_cell(main, way, bench, operation, size, WRITE_IN_FLIGHT)
            for way, bench in benches.items()
            for operation in ("write", "write_sync")
            for size in WRITE_SIZES
        ]
        return measure(cells, rounds, seconds)


def threshold(rounds, seconds):
    """C6: the same READs inline and by chunks."""
    with contextlib.ExitStack() as stack:
        large = stack.enter_context(server("--inline-bytes", INLINE_BYTES))
        path = stack.enter_context(new_file(large, TCP, WRITTEN_BYTES))
        ways = {INLINE: {}, CHUNK: {"chunk_from": 1}}
        cells = []
        for way, options in ways.items():
            bench = _bench(stack, large, IWARP, path, inline_bytes=INLINE_BYTES, **options)
            cells += [data_cell(large, way, bench, "read", size, 1) for size in INLINE_SIZES]
        return measure(cells, rounds, seconds)


def registration(main, path, rounds, seconds):
    """C7: READ by chunks in memory that is opened for each call, and in memory that stays open."""
    with contextlib.ExitStack() as stack:
        cells = []
        for way, transfer in ((OPENED, "direct"), (STAYS, "cached")):
            bench = _bench(stack, main, NO_CRC, path, transfer=transfer)
            cells += [data_cell(main, way, bench, "read", size, 1) for size in SIZES]
        return measure(cells, rounds, seconds)


def copies(main, path, rounds, seconds):
    """C8: READ with and without one more copy, by each transport."""
    with contextlib.ExitStack() as stack:
        cells = []
        for way, bench in _benches(stack, main, path).items():
            for size in COPIED_SIZES:
                for name, copied in ((KEPT, False), (COPIED, True)):
                    cells.append(data_cell(main, name, bench, "read", size, 5, (way, size), copied))
        return measure(cells, rounds, seconds)


def names(rounds, seconds):
    """C9: GETATTR, LOOKUP, listings and small READs by the size of receives and by credits."""
    with contextlib.ExitStack() as stack:
        cells = []
        for size in RECEIVE_BYTES:
            for credits in CREDITS:
                for entries in LISTED:
                    cells += _name_cells(stack, (size, credits), entries)
        return measure(cells, rounds, seconds)


def _name_cells(stack, way, entries):
    """Cells of a server whose export has so many entries."""
    size, credits = way
    one = stack.enter_context(server("--inline-bytes", size, "--credits", credits))
    files = connect(one, NO_CRC, inline_bytes=size, credits=credits)
    stack.callback(files.end)
    export = files.find("/export")
    made = [files.new_bench(export, f"entry-{number}", 65536) for number in range(entries)]
    yield name_cell(one, way, files, f"READDIRPLUS of {entries}", "/export", "list")
    if entries == LISTED[0]:
        yield name_cell(one, way, files, "GETATTR", "/export/entry-0", "getattr")
        yield name_cell(one, way, files, "LOOKUP", "/export/entry-0", "lookup")
        made[0].fill()
        yield data_cell(one, way, made[0], "read", 512, 17, "READ of 512, 17 in flight")


def _benches(stack, main, path):
    return {way: _bench(stack, main, way, path) for way in WAYS}


def _bench(stack, main, way, path, **options):
    files = connect(main, way, **options)
    stack.callback(files.end)
    bench = files.bench(files.find(path))
    stack.callback(bench.close)
    return bench
