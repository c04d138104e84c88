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
)
from ci.jobs.bench_direct.small_files import small_files, small_reader, small_writer
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
# The option of a server that closes the memory of a block when it is stale.
CLOSING = ("--deviate", "revoked-memory-closed")
# What a writer beside a reader is asked for, in WRITEs a second.
WRITE_RATES = (0, 100, 1000, 10_000)
X2_WAYS = (DIRECT, OPTIMISTIC)
# A server grants so many frames to one client, and each has a block.
FRAMES = 512
CLIENTS = 2
F6_WAYS = (DIRECT, OPTIMISTIC)
# Small files of one client, and the shares of them that it keeps: its hit ratios.
FILES = 400
HITS = (0.25, 0.5, 0.75)
# Of those that a writer changes. It takes a mebibyte of memory for each.
CHANGED_FILES = 100


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
    """X1: optimistic READs, one at a time, when a share of the references leads nowhere. A reply to READ brings references
    to more blocks of its file. Files of one block each keep the share of READs that meet a stale one.
    """
    with contextlib.ExitStack() as stack:
        main = stack.enter_context(_frame_server(SMALL))
        closing = stack.enter_context(_frame_server(SMALL, *CLOSING))
        cells = []
        for one, ways in ((main, (OPTIMISTIC, RECOVERABLE)), (closing, (FAULTING,))):
            paths = stack.enter_context(small_files(one, CHANGED_FILES, SMALL))
            writer = stack.enter_context(small_writer(one, paths, SMALL))
            for way in ways:
                reader = stack.enter_context(small_reader(one, way, paths, SMALL))
                cells += [reader.cell_behind(writer, share, way_at(way, share)) for share in SHARES]
            if one is main:
                plain = stack.enter_context(small_reader(one, DIRECT, paths, SMALL))
                cells.append(plain.cell_behind(writer, 0, DIRECT))
        return measure(shuffled(cells), rounds, seconds)


def way_at(way, number):
    """The way of a Cell of READs with this share of stale references, or so many WRITEs a second beside them."""
    return f"{way}, {number:g}"


def written(rounds, seconds):
    """X2: small READs, one at a time, while another client changes what is read."""
    with contextlib.ExitStack() as stack:
        main = stack.enter_context(_frame_server(SMALL))
        paths = stack.enter_context(small_files(main, CHANGED_FILES, SMALL))
        writer = stack.enter_context(small_writer(main, paths, SMALL))
        cells = []
        for way in X2_WAYS:
            reader = stack.enter_context(small_reader(main, way, paths, SMALL))
            cells += [reader.cell_beside(writer, rate, way_at(way, rate)) for rate in WRITE_RATES]
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
        paths = stack.enter_context(small_files(main, FILES, SMALL))
        readers = [stack.enter_context(small_reader(main, way, paths, SMALL)) for way in F6_WAYS]
        cells = [reader.caching_cell(share) for reader in readers for share in HITS]
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


def _with_frames(stack, block):
    """(server, path): a file of as many blocks as one client may have frames."""
    main = stack.enter_context(_frame_server(block))
    return main, stack.enter_context(new_file(main, NO_CRC, FRAMES * block))


def _frame_server(block, *more):
    options = ("--inline-bytes", INLINE_BYTES, "--optimistic", "--direct-block", block)
    options += ("--recoverable-faults",)  # for the clients that ask for it
    # One provider, so that no turn of the server looks at another.
    return server(*options, *more, providers=("iwarp",))


def shuffled(cells):
    """The cells in another order, the same in each run: neighbours of a table do not follow each other."""
    return random.Random(2003).sample(cells, len(cells))
