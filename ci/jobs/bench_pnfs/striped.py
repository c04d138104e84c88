"""Servers of striped files, and what is measured of one file at them."""

import contextlib
import itertools
import os
import resource
import time

from ci.jobs.bench_nfs.bench_servers import CannotMeasure, server
from ci.jobs.bench_nfs.figures import Figures
from ci.jobs.bench_nfs.rounds import Cell
from steertag import peer

DATA_SERVERS = (1, 2, 4, 8)
# {name of a column: provider}
TRANSPORTS = {"TCP": "tcp", "iWARP without CRC": "iwarp"}
ROCE = "RoCE"
STRIPED_TRANSPORTS = {**TRANSPORTS, ROCE: "roce"}  # of S3
EXPORT = "/export"
IN_FLIGHT = 4  # READs or WRITEs for each data server
IO_BYTES = 65536
MIB = 1024**2
STEP_S = 0.1
# What a removed file had stays with the server, so many octets at most. Pages that the C library gives back and takes anew
# double the processor time of a WRITE. It does so with files of 32 MiB, and now and then with those of 64 MiB.
KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(2_000_000_000)}
_numbers = itertools.count()


@contextlib.contextmanager
def striped_server(place, provider, data_servers, *options):
    """A bench_servers.Server with so many data servers, all in its process."""
    how = ("--pnfs", data_servers, *options)
    serving = {"providers": (provider,), "place": place, "environment": KEEP_MEMORY}
    with server(*how, **serving) as main:
        for _ in range(data_servers):  # each says where it listens
            main.process.stdout.readline()
        yield main


class StripedFile:
    """A client of its own, and the file that it reads or writes. `share_bytes` are at each data server. Further options are
    of peer.Files."""

    def __init__(self, main, data_servers, share_bytes, io_bytes=IO_BYTES, **options):
        self._servers, self._main = data_servers, main
        self._bytes = data_servers * share_bytes
        url = next(iter(main.urls.values()))
        self._files = peer.Files(
            url,
            version=4,
            uid=0,
            crc=url.startswith("roce:"),  # it has one always
            io_bytes=io_bytes,
            layouts=True,
            **{"in_flight": IN_FLIGHT * data_servers, **options},
        )
        self._local = os.memfd_create("striped")
        os.truncate(self._local, self._bytes)
        self._name = f"striped-{next(_numbers)}"
        self._store()

    def _store(self):
        directory = self._files.find(EXPORT)
        transfer = self._files.store(
            self._local, self._bytes, directory, self._name, 0o644, sparse=False
        )
        self._complete(transfer)

    def _fetch(self):
        found = self._files.find(f"{EXPORT}/{self._name}")
        self._complete(self._files.fetch(found, self._local, sparse=False))

    def _complete(self, transfer):
        while not transfer.step(STEP_S):
            pass

    def _remove(self):
        self._files.remove(self._files.find(EXPORT), self._name)

    def close(self):
        self._check_places()
        self._remove()
        self._files.end()
        os.close(self._local)

    @property
    def slots(self):
        """How many the sessions have, with the metadata server and with data servers: each number once."""
        known = self._files.pnfs
        return {known["slots"], *(each["slots"] for each in known["data_servers"])}

    def _check_places(self):
        """Raises CannotMeasure if a data server had no part: what was measured is then not what the row says."""
        used = [each for each in self._files.pnfs["data_servers"] if each["written_bytes"]]
        if len(used) != self._servers:
            raise CannotMeasure(f"{len(used)} of {self._servers} data servers were used")

    def cell(self, way, kind, operation):
        """A Cell: the whole file is read, or written anew."""

        def once():
            if operation == "read":
                self._fetch()
            else:
                self._remove()
                self._store()

        def run(seconds):
            before, own = self._main.cpu_s(), resource.getrusage(resource.RUSAGE_SELF)
            start = time.monotonic()
            calls = 0
            while not calls or time.monotonic() - start < seconds:
                once()
                calls += 1
            elapsed = time.monotonic() - start
            now = resource.getrusage(resource.RUSAGE_SELF)
            return Figures(
                bytes=calls * self._bytes,
                calls=calls,
                elapsed_s=elapsed,
                user_s=now.ru_utime - own.ru_utime,
                system_s=now.ru_stime - own.ru_stime,
                server_s=self._main.cpu_s() - before,
            )

        return Cell(way, kind, run)
