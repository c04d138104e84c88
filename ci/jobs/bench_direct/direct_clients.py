"""The clients of a run: one connection for each way of the data, and cells of one or two of them."""

import concurrent.futures
import contextlib
import functools
import resource
import time

from ci.jobs.bench_nfs.bench_clients import (
    LEAST_CALLS,
    NO_CRC,
    TCP,
    connect,
    data_cell,
)
from ci.jobs.bench_nfs.figures import Figures
from ci.jobs.bench_nfs.rounds import Cell

# What is compared: {way: transfer mode of peer.Files}. All but TCP are iWARP. Neither end asks for CRC32C, which
# an adapter would sum up by itself.
INLINE, DIRECT, CACHED, PRE_POSTED = "inline", "direct", "cached", "pre-posted"
OPTIMISTIC = "optimistic"
# With recoverable refusals; the other one is A+B of the results.
RECOVERABLE = "optimistic D"
# From a server that closes the memory of a stale block, without recoverable refusals: the Read ends its connection.
FAULTING = "optimistic A"
OPTIMISTIC_WAYS = (OPTIMISTIC, RECOVERABLE, FAULTING)
# A pass over a file takes this time at least, and at most ten times as much.
PASS_S = 0.01
MOST_PASSES = 50
# In the first, data stays where the message was received. In all others it is in a buffer of its own at the end.
LEFT = "inline, left in the message"
# The largest that is announced, and the READs that fit into it.
INLINE_BYTES = 262144
MOST_INLINE = 131072


def client(server, way):
    """A peer.Files that moves data that way."""
    mode = INLINE if way == LEFT else way
    options = {} if way == TCP else {"transfer": mode}
    if way == RECOVERABLE:
        options = {"transfer": OPTIMISTIC, "recoverable_faults": True}
    if way == FAULTING:
        # Our client usually waits for a second, and for a minute after three ends.
        options = {"transfer": OPTIMISTIC, "limits_hellos": False}
    return connect(server, TCP if way == TCP else NO_CRC, **options)


@contextlib.contextmanager
def opened(server, way, path):
    """A Way to a file of a server, as long as the context lasts."""
    files = client(server, way)
    bench = files.bench(files.find(path))
    try:
        yield Way(server, way, files, bench)
    finally:
        bench.close()
        files.end()


class Way:
    """A client with an open file."""

    def __init__(self, server, name, files, bench):
        self.server = server
        self.name = name
        self.files = files
        self.bench = bench

    @property
    def copies(self):
        """Whether a copy brings the data to its own buffer."""
        return self.name in (TCP, INLINE)

    def cell(self, size, calls, work_bytes=0):
        """A Cell of READs, whose reader copies so many octets of each for its own purposes."""
        plain = data_cell(
            self.server,
            self.name,
            self.bench,
            "read",
            size,
            calls,
            kind_of(size, work_bytes),
            self.copies,
            work_bytes,
        )

        def run(seconds):
            self.collect(size)
            return plain.run(seconds)

        return Cell(self.name, plain.kind, run)

    def collect(self, size):
        """Of optimistic reads: reads the file once, so that there is a valid reference to each block. They lapse."""
        if self.name not in OPTIMISTIC_WAYS:
            return
        read_all = functools.partial(
            self.bench.measure,
            "read",
            io_bytes=size,
            in_flight=1,
            duration_s=PASS_S,
            least_calls=self.bench.size // size,
        )
        collect(self.files, read_all, f"some blocks of {size} have no reference")


def collect(files, read_all, why):
    """Reads until each optimistic READ finds a valid reference."""
    for _ in range(MOST_PASSES):
        before = dict(files.optimistic)
        read_all()
        after = files.optimistic
        if all(after[each] == before[each] for each in ("failed", "rpc_reads", "nfs_reads")):
            return
    raise NotCollected(f"after {MOST_PASSES} passes {why}")


def kind_of(size, work_bytes=0):
    """The kind of a Cell."""
    return "read", size, work_bytes


class NotCollected(Exception):
    """References were not granted; the text is one sentence."""


def pair_cell(ways, size, calls):
    """A Cell of two clients at once, which share this process."""
    server, name = ways[0].server, ways[0].name

    def run(seconds):
        for way in ways:
            way.collect(size)
        with concurrent.futures.ThreadPoolExecutor(len(ways)) as pool:
            before, before_s, before_user_s = client_cpu_s(), server.cpu_s(), server.user_s()
            began = time.monotonic()
            found = list(pool.map(lambda way: _measure(way, size, calls, seconds), ways))
            elapsed = time.monotonic() - began
            user, system = (after - old for after, old in zip(client_cpu_s(), before))
            return Figures(
                sum(each.bytes for each in found),
                sum(each.calls for each in found),
                elapsed,
                user,
                system,
                server.cpu_s() - before_s,
                server_user_s=server.user_s() - before_user_s,
            )

    return Cell(name, kind_of(size), run)


def _measure(way, size, calls, seconds):
    return way.bench.measure(
        "read",
        io_bytes=size,
        in_flight=calls,
        duration_s=seconds,
        least_calls=LEAST_CALLS,
        copies=way.copies,
    )


def client_cpu_s():
    """(user, system) of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime, usage.ru_stime
