"""Small files of a server: a reader of all of them, a writer that changes some, and cells of both."""

import concurrent.futures
import contextlib
import dataclasses
import itertools
import threading
import time

from ci.jobs.bench_direct.direct_clients import (
    INLINE,
    OPTIMISTIC_WAYS,
    client,
    client_cpu_s,
    collect,
    kind_of,
)
from ci.jobs.bench_nfs.bench_clients import LEAST_CALLS, NO_CRC, connect, figures_of
from ci.jobs.bench_nfs.figures import Figures, whole
from ci.jobs.bench_nfs.rounds import Cell

SEED = 2003  # of the order in which a reader takes files
_numbers = itertools.count()


@contextlib.contextmanager
def small_files(server, count, size):
    """The paths of so many new files of `size` octets, as long as the context lasts."""
    with contextlib.ExitStack() as stack:
        files = connect(server, NO_CRC)
        stack.callback(files.end)
        directory = files.find("/export")
        names = [f"small-{next(_numbers)}" for _ in range(count)]
        for name in names:
            new = files.new_bench(directory, name, size)
            stack.callback(files.remove, directory, name)
            new.fill()
            new.close()
        yield [f"/export/{name}" for name in names]


@contextlib.contextmanager
def small_reader(server, way, paths, size):
    """A SmallReader of these files, as long as the context lasts."""
    with contextlib.ExitStack() as stack:
        files = client(server, way)
        stack.callback(files.end)
        bench = files.small_files_bench([files.find(path) for path in paths])
        stack.callback(bench.close)
        yield SmallReader(server, way, files, bench, len(paths), size)


@contextlib.contextmanager
def small_writer(server, paths, size):
    """A SmallWriter of these files, as long as the context lasts."""
    with contextlib.ExitStack() as stack:
        files = client(server, INLINE)
        stack.callback(files.end)
        benches = []
        for path in paths:
            benches.append(files.bench(files.find(path)))
            stack.callback(benches[-1].close)
        writer = SmallWriter(benches, size)
        # The first WRITE of each makes its content, which takes milliseconds.
        writer.change(len(benches))
        yield writer


class SmallReader:
    """A client that has `count` files of one READ each open, and reads one at a time."""

    def __init__(self, server, way, files, bench, count, size):
        self.server = server
        self.way = way
        self.files = files
        self.bench = bench
        self.count = count
        self.size = size

    def collect(self):
        """Reads all once, if that is optimistic, so that there is a valid reference to each. They lapse."""
        if self.way in OPTIMISTIC_WAYS:
            collect(self.files, self.bench.read_all, "some files have no reference")

    def caching_cell(self, share):
        """A Cell of files at random. The client keeps this share of all."""
        kept = round(share * self.count)

        def run(seconds):
            self.collect()
            before = self.server.cpu_s()
            found, hits = self._at_random(seconds, kept)
            # The cache was filled before the clock started, by READs as good as the others.
            reads = found.calls - hits
            return figures_of(found, (self.server.cpu_s() - before) * reads / (reads + kept))

        return Cell(self.way, (share,), run)

    def cell_behind(self, writer, share, name):
        """A Cell of passes over all files, after a writer has changed this share of them."""

        def run(seconds):
            found = []
            began = time.monotonic()
            while not found or time.monotonic() - began < seconds:
                self.collect()
                writer.change(round(share * self.count))
                found.append(self._pass())
            return whole(found)

        return Cell(name, kind_of(self.size), run)

    def cell_beside(self, writer, rate, name):
        """A Cell of files at random, while a writer changes up to so many a second."""

        def run(seconds):
            self.collect()
            before = self._by_counts()
            with writer.writing(rate):
                written = writer.written
                found, _ = self._at_random(seconds, 0)
                written = writer.written - written
            counted = self._counted(figures_of(found, 0.0), before)
            return dataclasses.replace(counted, writes=written)

        return Cell(name, kind_of(self.size), run)

    def _at_random(self, seconds, kept):
        return self.bench.measure(
            cached_files=kept, seed=SEED, duration_s=seconds, least_reads=LEAST_CALLS
        )

    def _pass(self):
        """The Figures of one pass over all files."""
        counts, server_s = self._by_counts(), self.server.cpu_s()
        user, system = client_cpu_s()
        began = time.monotonic()
        self.bench.read_all()
        elapsed = time.monotonic() - began
        now_user, now_system = client_cpu_s()
        found = Figures(
            self.size * self.count,
            self.count,
            elapsed,
            now_user - user,
            now_system - system,
            self.server.cpu_s() - server_s,
        )
        return self._counted(found, counts)

    def _by_counts(self):
        """(optimistic READs without a valid frame, READs by RPC) so far, or None: all are by RPC."""
        counts = self.files.optimistic
        return counts and (counts["failed"], counts["rpc_reads"] + counts["nfs_reads"])

    def _counted(self, figures, before):
        """The Figures with what was counted since."""
        if before is None:
            return dataclasses.replace(figures, by_rpc=figures.calls)
        stale, by_rpc = (now - then for now, then in zip(self._by_counts(), before))
        return dataclasses.replace(figures, stale=stale, by_rpc=by_rpc)


class SmallWriter:
    """A client that changes files of one WRITE each."""

    def __init__(self, benches, size):
        self.benches = benches
        self.size = size
        self.written = 0

    def change(self, count):
        """Changes the first so many files."""
        for bench in self.benches[:count]:
            self._write(bench)

    @contextlib.contextmanager
    def writing(self, rate):
        """Changes one file after the other in a thread, up to so many a second, as long as the context lasts."""
        end = threading.Event()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            writing = pool.submit(self._write_at, rate, end)
            try:
                yield
            finally:
                end.set()
            writing.result()

    def _write_at(self, rate, end):
        if not rate:
            return
        began = time.monotonic()
        for number, bench in enumerate(itertools.cycle(self.benches)):
            if end.wait(max(0.0, began + number / rate - time.monotonic())):
                return
            self._write(bench)

    def _write(self, bench):
        bench.measure("write_sync", io_bytes=self.size, duration_s=0)  # the first call alone
        self.written += 1
