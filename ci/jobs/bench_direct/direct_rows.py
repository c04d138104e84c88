"""The rows of the comparison that are measured. Each gives {(way, kind): [Figures]}."""

import contextlib
import random

from ci.jobs.bench_direct import raw
from ci.jobs.bench_direct.direct_clients import (
    CACHED,
    DIRECT,
    FAULTING,
    INLINE,
    INLINE_BYTES,
    LEFT,
    MOST_INLINE,
    OPTIMISTIC,
    PRE_POSTED,
    RECOVERABLE,
    opened,
    pair_cell,
    small_cell,
    small_files,
)
from ci.jobs.bench_nfs.bench_clients import NO_CRC, TCP, new_file
from ci.jobs.bench_nfs.bench_servers import server
from ci.jobs.bench_nfs.rounds import measure

KIB = 1024
SIZES = tuple(size * KIB for size in (4, 16, 64, 128, 256, 512))
WARM_BYTES = 64 * KIB * KIB
# READs in flight, and octets of all of them: more than a processor's own cache make loopback TCP slow at random.
WINDOW = 8
MOST_IN_FLIGHT = 512 * KIB
F3_WAYS = (INLINE, DIRECT, CACHED, PRE_POSTED, TCP)
SMALL = 4 * KIB
T3_WAYS = (LEFT, INLINE, DIRECT, CACHED, PRE_POSTED, OPTIMISTIC, RECOVERABLE)
BLOCKS = tuple(size * KIB for size in (4, 8, 16, 32, 64))
F7_WAYS = (DIRECT, CACHED, OPTIMISTIC)
# 60 KB records, and what is copied of each.
RECORD = 60 * KIB
RECORDS = 1024
WORK = tuple(size * KIB for size in (0, 15, 30, 60))
SHARES = (0, 0.01, 0.1, 0.5, 1)
STALE_WAYS = (OPTIMISTIC, RECOVERABLE, FAULTING)
# The option of a server that closes the memory of a block when it is stale.
CLOSING = ("--deviate", "revoked-memory-closed")
# A server grants so many frames to one client, and each has a block.
FRAMES = 512
CLIENTS = 2
F6_WAYS = (DIRECT, OPTIMISTIC)
# Of one client's files, and the shares of them that it keeps: its hit ratios.
FILES = 400
HITS = (0.25, 0.5, 0.75)


def primitives(rounds, seconds):
    """T2: one octet there and back, and a mebibyte at a time, without NFS."""
    return measure(raw.cells(), rounds, seconds)


def streams(rounds, seconds):
    """F3 and F4: READ by size with several in flight."""
    with contextlib.ExitStack() as stack:
        main = stack.enter_context(server("--inline-bytes", INLINE_BYTES))
        path = stack.enter_context(new_file(main, TCP, WARM_BYTES))
        ways = [stack.enter_context(opened(main, way, path)) for way in F3_WAYS]
        cells = [
            way.cell(size, in_flight(size))
            for way in ways
            for size in SIZES
            if measured(way.name, size)
        ]
        return measure(shuffled(cells), rounds, seconds)


def in_flight(size):
    """How many READs of so many octets."""
    return max(1, min(WINDOW, MOST_IN_FLIGHT // size))


def join(rounds, seconds):
    """F5: READs of records. The reader copies more or less of each."""
    with contextlib.ExitStack() as stack:
        main = stack.enter_context(server("--inline-bytes", INLINE_BYTES))
        path = stack.enter_context(new_file(main, TCP, RECORD * RECORDS))
        ways = [stack.enter_context(opened(main, way, path)) for way in F3_WAYS]
        cells = [way.cell(RECORD, in_flight(RECORD), work) for way in ways for work in WORK]
        return measure(shuffled(cells), rounds, seconds)


def stale(rounds, seconds):
    """X1: optimistic READs, one at a time, when a share of the references leads nowhere."""
    with contextlib.ExitStack() as stack:
        main, path = _with_frames(stack, SMALL)
        places = {way: (main, path) for way in STALE_WAYS}
        places[FAULTING] = _with_frames(stack, SMALL, *CLOSING)
        cells = []
        for way, (its_server, its_path) in places.items():
            reader = stack.enter_context(opened(its_server, way, its_path))
            writer = stack.enter_context(opened(its_server, INLINE, its_path))
            cells += [reader.reading_beside(writer, share, SMALL) for share in SHARES]
        plain = stack.enter_context(opened(main, DIRECT, path))
        cells.append(plain.cell(SMALL, 1))
        return measure(shuffled(cells), rounds, seconds)


def measured(way, size):
    """Whether data of so many octets can come that way."""
    return size <= MOST_INLINE or way not in (INLINE, PRE_POSTED)


def response(rounds, seconds):
    """T3: response time of small READs, one at a time."""
    with contextlib.ExitStack() as stack:
        main, path = _with_frames(stack, SMALL)
        ways = [stack.enter_context(opened(main, way, path)) for way in T3_WAYS]
        return measure(shuffled([way.cell(SMALL, 1) for way in ways]), rounds, seconds)


def many_files(rounds, seconds):
    """F6: whole files at random, when the client keeps a share of them."""
    with contextlib.ExitStack() as stack:
        main = stack.enter_context(_frame_server(SMALL))
        cells = []
        for way in F6_WAYS:
            files, bench = stack.enter_context(small_files(main, way, FILES, SMALL))
            for share in HITS:
                cells.append(small_cell(main, way, files, bench, round(share * FILES), share))
        return measure(shuffled(cells), rounds, seconds)


def two_clients(rounds, seconds):
    """F7: what a server gives to two clients, by the size of its blocks."""
    with contextlib.ExitStack() as stack:
        cells = []
        for size in BLOCKS:
            main, path = _with_frames(stack, size)
            for way in F7_WAYS:
                pair = [stack.enter_context(opened(main, way, path)) for _ in range(CLIENTS)]
                cells.append(pair_cell(pair, size, WINDOW))
        return measure(shuffled(cells), rounds, seconds)


def _with_frames(stack, block, *options):
    """(server, path): a file of as many blocks as one client may have frames, of a server with these options besides."""
    main = stack.enter_context(_frame_server(block, *options))
    return main, stack.enter_context(new_file(main, NO_CRC, FRAMES * block))


def _frame_server(block, *more):
    options = ("--inline-bytes", INLINE_BYTES, "--optimistic", "--direct-block", block)
    options += ("--recoverable-faults",)  # for the clients that ask for it
    # One provider, so that no turn of the server looks at another.
    return server(*options, *more, providers=("iwarp",))


def shuffled(cells):
    """The cells in another order, the same in each run: neighbours of a table do not follow each other."""
    return random.Random(2003).sample(cells, len(cells))
