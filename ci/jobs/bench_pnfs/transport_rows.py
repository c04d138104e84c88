"""The rows that compare latencies over RDMA and over TCP: cells of S4, S5 and S6. No link is limited."""

import functools

from ci.jobs.bench_nfs.bench_clients import figures_of
from ci.jobs.bench_nfs.bench_servers import CannotMeasure, server
from ci.jobs.bench_nfs.rounds import Cell
from ci.jobs.bench_pnfs.striped import DATA_SERVERS, EXPORT, MIB, TRANSPORTS, striped_server
from steertag import peer

FILE = "file"
LEAST_CALLS = 100
# S4: turns of the only data server in a stripe. Its filehandles in a layout are as many.
HANDLES = (1, 20, 41, 84, 170, 340, 681)
# S5: creates under way, and servers that each is made at.
CREATES = (1, 2, 4, 8, 16)
CREATED_AT = (1, 8)
# S6: octets of a READ, and those of the file, whose blocks are read by Zipf's law.
ZIPF_READ_BYTES, ZIPF_FILE_BYTES = 32768, 128 * MIB
ZIPF_ALPHA, ZIPF_SEED = 0.9, 2008


def layout_cells(stack, place):
    """S4: LAYOUTGET, one at a time, by the filehandles of the layout."""
    for way, provider in TRANSPORTS.items():
        for handles in HANDLES:
            how = ("--packing", "dense", "--stripe-turns", handles)
            main = stack.enter_context(striped_server(place, provider, 1, *how))
            files = _client(stack, main)
            files.new_bench(files.find(EXPORT), FILE, 1).close()
            bench = files.layout_bench(files.find(f"{EXPORT}/{FILE}"))
            stack.callback(bench.close)
            yield _cell([main], way, ("layoutget", handles), bench.measure)


def create_cells(stack, place):
    """S5: creates at all servers, one server after the other, by creates under way."""
    for way, provider in TRANSPORTS.items():
        servers = [
            stack.enter_context(server(providers=(provider,), place=place))
            for _ in range(max(CREATED_AT))
        ]
        first, *others = (_client(stack, each, layouts=False) for each in servers)
        bench = first.create_bench(others, EXPORT)
        for count in CREATED_AT:
            for creates in CREATES:
                how = {"servers": count, "in_flight": creates}
                measured = functools.partial(bench.measure, **how)
                yield _cell(servers, way, ("create", count, creates), measured)


def zipf_cells(stack, place):
    """S6: READs at places of one striped file that Zipf's law chooses, by data servers."""
    for way, provider in TRANSPORTS.items():
        for data_servers in DATA_SERVERS:
            main = stack.enter_context(striped_server(place, provider, data_servers))
            files = _client(stack, main)
            bench = files.new_bench(files.find(EXPORT), FILE, ZIPF_FILE_BYTES)
            stack.callback(_close_striped, files, bench, data_servers)
            bench.fill()
            how = {"io_bytes": ZIPF_READ_BYTES, "zipf_alpha": ZIPF_ALPHA, "seed": ZIPF_SEED}
            measured = functools.partial(bench.measure, "read", **how)
            yield _cell([main], way, ("zipf", data_servers), measured)


def _client(stack, main, **options):
    files = peer.Files(next(iter(main.urls.values())), version=4, uid=0, crc=False, **options)
    stack.callback(files.end)
    return files


def _cell(servers, way, kind, measure):
    """`measure` gives a peer.Measured."""

    def run(seconds):
        before = sum(each.cpu_s() for each in servers)
        found = measure(duration_s=seconds, least_calls=LEAST_CALLS)
        return figures_of(found, sum(each.cpu_s() for each in servers) - before)

    return Cell(way, kind, run)


def _close_striped(files, bench, data_servers):
    """Raises CannotMeasure if a data server had no part: what was measured is then not what the row says."""
    bench.close()
    used = [each for each in files.pnfs["data_servers"] if each["read_bytes"]]
    if len(used) != data_servers:
        raise CannotMeasure(f"{len(used)} of {data_servers} data servers were used")
