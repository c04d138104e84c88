"""Cells of a reader count what its client counts, and a writer changes as many files as it should."""

import threading
import types

import pytest

from ci.jobs.bench_direct.direct_clients import DIRECT, OPTIMISTIC
from ci.jobs.bench_direct.small_files import SmallReader, SmallWriter

SIZE = 4096
FILES = 4
LIMIT_S = 30  # of what other threads do


class Cache:
    """A server's files, one reader with references to all, and what is stale of them."""

    def __init__(self):
        self.stale = set()
        self.order = []
        self.optimistic = {"valid": 0, "failed": 0, "rpc_reads": 0, "nfs_reads": 0}
        self.least = None  # changes that a measurement waits for
        self.enough = threading.Event()

    def cpu_s(self):
        return 0.0

    def read_all(self):
        self.optimistic["failed"] += len(self.stale)
        self.optimistic["rpc_reads"] += len(self.stale)
        self.stale.clear()

    def measure(self, **_):
        """READs that go on until all files were changed twice meanwhile."""
        self.least = len(self.order) + 2 * FILES
        assert self.enough.wait(LIMIT_S), "the writer does not go on"
        self.read_all()
        found = types.SimpleNamespace(
            bytes=10 * SIZE, calls=10, elapsed_s=1.0, user_s=0.0, system_s=0.0
        )
        found.response_s = lambda share: 0.0
        return found, 0

    def reader(self, way):
        if way == DIRECT:
            self.optimistic = None
        return SmallReader(self, way, self, self, FILES, SIZE)

    def writer(self):
        return SmallWriter([WriteBench(self, number) for number in range(FILES)], SIZE)


class WriteBench:
    """One file of a Cache as the writer sees it."""

    def __init__(self, cache, number):
        self.cache = cache
        self.number = number

    def measure(self, operation, io_bytes, duration_s):
        assert (operation, io_bytes, duration_s) == ("write_sync", SIZE, 0), "one WRITE"
        self.cache.stale.add(self.number)
        self.cache.order.append(self.number)
        if self.cache.least and len(self.cache.order) >= self.cache.least:
            self.cache.enough.set()


def test_the_share_of_reads_that_meet_a_stale_reference_is_that_of_the_files():
    cache = Cache()
    found = cache.reader(OPTIMISTIC).cell_behind(cache.writer(), 0.5, "half").run(0)
    assert (found.calls, found.stale, found.by_rpc) == (FILES, 2, 2)
    assert (found.stale_share, found.rpc_share) == (0.5, 0.5)


def test_a_reader_that_is_not_optimistic_reads_all_by_rpc():
    cache = Cache()
    cache.read_all = lambda: None
    found = cache.reader(DIRECT).cell_behind(cache.writer(), 0, DIRECT).run(0)
    assert (found.calls, found.stale, found.by_rpc) == (FILES, 0, FILES)


def test_reads_beside_a_writer_come_with_the_number_of_its_writes():
    cache = Cache()
    found = cache.reader(OPTIMISTIC).cell_beside(cache.writer(), 1e6, "beside").run(0)
    assert found.writes > FILES
    assert found.stale == found.by_rpc > 0
    assert cache.order[:5] == [0, 1, 2, 3, 0], "one file after the other"


def test_a_writer_without_a_rate_writes_nothing():
    writer = Cache().writer()
    with writer.writing(0):
        pass
    assert writer.written == 0


def test_what_goes_wrong_in_the_thread_of_a_writer_is_raised():
    failed = threading.Event()

    def fails(*_, **__):
        failed.set()
        raise OSError("the connection is gone")

    writer = SmallWriter([types.SimpleNamespace(measure=fails)], SIZE)
    with pytest.raises(OSError, match="the connection is gone"):
        with writer.writing(1):
            assert failed.wait(LIMIT_S)
