"""The clients of a run, in this process: one connection for each way to the server."""

import contextlib
import itertools

from ci.jobs.bench_nfs.figures import Figures
from ci.jobs.bench_nfs.rounds import Cell
from steertag import peer

# What is compared: {way: (provider, whether the client asks for CRC32C)}.
TCP, IWARP, NO_CRC = "TCP", "iWARP", "iWARP without CRC"
WAYS = {TCP: ("tcp", True), IWARP: ("iwarp", True), NO_CRC: ("iwarp", False)}
NFS = 3  # as in 2003
_numbers = itertools.count()


def connect(server, way, **options):
    """A peer.Files."""
    provider, crc = WAYS[way]
    return peer.Files(server.urls[provider], version=NFS, uid=0, crc=crc, in_flight=32, **options)


@contextlib.contextmanager
def new_file(server, way, size):
    """The path of a file of the bench's octets, as long as the context lasts."""
    files = connect(server, way)
    name = f"bench-{next(_numbers)}"
    directory = files.find("/export")
    files.new_bench(directory, name, size).fill()
    try:
        yield f"/export/{name}"
    finally:
        files.remove(directory, name)
        files.end()


def data_cell(
    server, way, bench, operation, io_bytes, in_flight, kind=None, copies=False, work_bytes=0
):
    """A Cell of calls to the file of a peer.Bench."""

    def run(seconds):
        before, user_before = server.cpu_s(), server.user_s()
        found = bench.measure(
            operation,
            io_bytes=io_bytes,
            in_flight=in_flight,
            duration_s=seconds,
            least_calls=LEAST_CALLS,
            copies=copies,
            work_bytes=work_bytes,
        )
        return figures_of(found, server.cpu_s() - before, server.user_s() - user_before)

    return Cell(way, kind or (operation, io_bytes, in_flight), run)


def name_cell(server, way, files, kind, path, operation):
    """A Cell of LOOKUPs of a path, GETATTRs of the object there or listings of a directory."""

    def run(seconds):
        before = server.cpu_s()
        found = files.measure_names(path, operation, duration_s=seconds)
        return figures_of(found, server.cpu_s() - before)

    return Cell(way, kind, run)


# A cell goes on for so many calls; the engine ends one that takes ten times as long as it should.
LEAST_CALLS = 100


def figures_of(found, server_s, server_user_s=0.0):
    """The Figures of a peer.Measured."""
    return Figures(
        found.bytes,
        found.calls,
        found.elapsed_s,
        found.user_s,
        found.system_s,
        server_s,
        found.response_s(0.5),
        server_user_s,
    )
