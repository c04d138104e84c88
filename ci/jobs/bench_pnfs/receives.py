"""What a server has posted for its clients: credits with slots, and receives for each connection or for all."""

import concurrent.futures
import pathlib
import re
import resource
import time

from ci.jobs.bench_nfs.bench_servers import CannotMeasure, server
from ci.jobs.bench_nfs.figures import Figures
from ci.jobs.bench_nfs.rounds import Cell
from ci.jobs.bench_pnfs.striped import MIB, StripedFile, striped_server
from steertag import peer

DATA_SERVERS = 4
CREDITS = (32, 8, 16, 128)  # the first is what others are compared with
EQUAL, HALF, DOUBLE = "equal", "half", "double"
SLOTS = {EQUAL: 1, HALF: 0.5, DOUBLE: 2}
# A data server's part of the file has twice as many READs as the most slots, so that all slots are in use.
SLOT_IO_BYTES, SLOT_SHARE = 32768, 16 * MIB
CLIENTS = (1, 8, 64)
OWN, SHARED = "receives for each", "one pool"
POOL = 64
POOL_IO_BYTES, POOL_FILE, POOL_IN_FLIGHT = 4096, MIB, 8


def way_of(credits, slots):
    """How a table calls a server with so many credits, and a client that asks for these slots."""
    return f"{credits} credits, {slots}"


def slot_count(credits, slots):
    """Slots of each session."""
    return int(credits * SLOTS[slots])


def slot_cells(stack, place):
    """READs of a striped file: each number of credits with each number of slots."""
    for credits in CREDITS:
        most = max(slot_count(credits, slots) for slots in SLOTS)
        how = ("--credits", credits, "--slots", most)
        main = stack.enter_context(striped_server(place, "iwarp", DATA_SERVERS, *how))
        for slots in SLOTS:
            file = StripedFile(
                main,
                DATA_SERVERS,
                SLOT_SHARE,
                SLOT_IO_BYTES,
                in_flight=None,
                credits=credits,
                slots=slot_count(credits, slots),
            )
            stack.callback(file.close)
            if file.slots != {slot_count(credits, slots)}:
                raise CannotMeasure(f"{way_of(credits, slots)}: sessions have {file.slots} slots")
            yield file.cell(way_of(credits, slots), ("credits",), "read")


def pool_cells(stack, place):
    """Small READs of many clients at a time, from servers with receives of either kind."""
    for clients in CLIENTS:
        for way, options in ((OWN, ()), (SHARED, ("--shared-receives", POOL))):
            one = stack.enter_context(server(*options, providers=("iwarp",), place=place))
            crowd = Crowd(one, clients)
            stack.callback(crowd.close)
            yield crowd.cell(way, ("read", clients))


class Crowd:
    """Clients of one server, each with a connection and a thread, that read one file."""

    def __init__(self, one, clients):
        self._server = one
        (url,) = one.urls.values()
        self._files = [
            peer.Files(url, version=4, uid=0, crc=False, layouts=False) for _ in range(clients)
        ]
        first = self._files[0]
        made = first.new_bench(first.find("/export"), "read-by-all", POOL_FILE)
        made.fill()
        made.close()
        self._benches = [files.bench(files.find("/export/read-by-all")) for files in self._files]
        self._threads = concurrent.futures.ThreadPoolExecutor(clients)

    def close(self):
        self._threads.shutdown()
        for bench in self._benches:
            bench.close()
        for files in self._files:
            files.end()

    def cell(self, way, kind):
        """A Cell of the READs of all, with the server's memory behind them."""

        def run(seconds):
            before, own = self._server.cpu_s(), resource.getrusage(resource.RUSAGE_SELF)
            start = time.monotonic()
            measured = list(
                self._threads.map(lambda bench: self._read(bench, seconds), self._benches)
            )
            elapsed = time.monotonic() - start
            now = resource.getrusage(resource.RUSAGE_SELF)
            return Figures(
                bytes=sum(each.bytes for each in measured),
                calls=sum(each.calls for each in measured),
                elapsed_s=elapsed,
                user_s=now.ru_utime - own.ru_utime,
                system_s=now.ru_stime - own.ru_stime,
                server_s=self._server.cpu_s() - before,
                server_bytes=resident_bytes(self._server.process.pid),
            )

        return Cell(way, kind, run)

    @staticmethod
    def _read(bench, seconds):
        return bench.measure(
            "read", io_bytes=POOL_IO_BYTES, in_flight=POOL_IN_FLIGHT, duration_s=seconds
        )


def resident_bytes(pid):
    """The memory of a process, its share of pages that others have too (Pss)."""
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    return int(re.search(r"^Pss:\s+(\d+) kB$", text, re.MULTILINE)[1]) * 1024
