"""The rows of scaling. Each gives {(way, kind): [Figures]}; the ways are numbers of data servers, or transports."""

import contextlib
import functools
import itertools

from ci.jobs.bench_nfs.namespaces import join, namespace, run
from ci.jobs.bench_nfs.rounds import measure
from ci.jobs.bench_pnfs import killed_server, transport_rows
from ci.jobs.bench_pnfs.receives import pool_cells, slot_cells
from ci.jobs.bench_pnfs.shaped_links import ShapedLinks
from ci.jobs.bench_pnfs.striped import DATA_SERVERS, IO_BYTES, MIB, TRANSPORTS
from ci.jobs.bench_pnfs.striped import StripedFile, striped_server
from ci.jobs.bench_pnfs.vanishing_host import VanishingHost

COMMITS = ("ds", "mds")
UNITS = (65536, 1048576)
PACKINGS = ("sparse", "dense")
# A data server's part of a file: with links of 100 Mbit/s two thirds of a second.
SHAPED_SHARE, SHARE = 8 * MIB, 32 * MIB
FLOOR_AT, FLOOR = 8, 7.2
# Of all rows together, without the build.
LIMIT_S = 15 * 60
DEATH_AMONG = 4  # data servers


NETWORK = "stripes"
LATENCIES = {
    "S4": transport_rows.layout_cells,
    "S5": transport_rows.create_cells,
    "S6": transport_rows.zipf_cells,
}


@contextlib.contextmanager
def _joined():
    """(an ExitStack, the Place of servers in a namespace that is joined with this one)."""
    with contextlib.ExitStack() as stack:
        pid = stack.enter_context(namespace())
        place = join(pid, NETWORK, 0)
        # A namespace that ends takes its links along, but some time later: the next one needs the name now.
        stack.callback(run, "ip", "link", "delete", NETWORK)
        yield stack, place


def _file(stack, place, provider, servers, share, *options, links=None, io_bytes=IO_BYTES):
    main = stack.enter_context(striped_server(place, provider, servers, *options, links=links))
    file = StripedFile(main, servers, share, io_bytes)
    stack.callback(file.close)
    return file


class Rows:
    """Measures in network namespaces that last as long as the context."""

    def __init__(self, rate_mbit, rounds, seconds):
        self._rate, self._how = rate_mbit, (rounds, seconds)

    def measured(self, name):
        rows = {
            "S1": self.reading,
            "S2": self.writing,
            "S3": self.transports,
            "S7": self.receives,
            "S8": self.death,
        }
        for row, cells in LATENCIES.items():
            rows[row] = functools.partial(self.latencies, cells)
        return rows[name]()

    def reading(self):
        """S1: READ by data servers, each behind a link of its own; by stripe unit and packing."""
        kinds = [(unit, packing) for unit in UNITS for packing in PACKINGS]
        with _joined() as (stack, place):
            links = ShapedLinks(place, NETWORK, self._rate)
            cells = [
                _file(
                    stack,
                    place,
                    "iwarp",
                    servers,
                    SHAPED_SHARE,
                    *("--stripe-unit", unit, "--packing", packing),
                    links=links,
                    io_bytes=unit,
                ).cell(servers, ("read", unit, packing), "read")
                for unit, packing in kinds
                for servers in DATA_SERVERS
            ]
            return measure(cells, *self._how)

    def writing(self):
        """S2: WRITE and COMMIT, the same; by the place of the COMMIT."""
        with _joined() as (stack, place):
            links = ShapedLinks(place, NETWORK, self._rate)
            cells = [
                _file(
                    stack, place, "iwarp", servers, SHAPED_SHARE, "--commit", commit, links=links
                ).cell(servers, ("write", commit), "write")
                for commit in COMMITS
                for servers in DATA_SERVERS
            ]
            return measure(cells, *self._how)

    def transports(self):
        """S3: READ and WRITE over each transport, by data servers; no link is limited."""
        with _joined() as (stack, place):
            cells = []
            for way, provider in TRANSPORTS.items():
                for servers in DATA_SERVERS:
                    file = _file(stack, place, provider, servers, SHARE)
                    for operation in ("read", "write"):
                        cells.append(file.cell(way, (operation, servers), operation))
            return measure(cells, *self._how)

    def latencies(self, cells_of):
        """S4, S5 and S6: over each transport; no link is limited."""
        with _joined() as (stack, place):
            return measure(list(cells_of(stack, place)), *self._how)

    def receives(self):
        """S7: credits with slots, and receives of each connection beside a pool."""
        found = {}
        for cells in (slot_cells, pool_cells):
            with _joined() as (stack, place):
                found |= measure(list(cells(stack, place)), *self._how)
        return found

    def death(self):
        """S8: READ by data servers as in S1; one of them dies, or its host vanishes. By transport."""
        found = {}
        with _joined() as (stack, place):
            links = ShapedLinks(place, NETWORK, self._rate)
            hosts = {
                killed_server.KILLED: None,
                killed_server.VANISHED: VanishingHost(stack, self._rate),
            }
            cells = list(itertools.product(hosts, TRANSPORTS))
            for fate, name in cells * self._how[0]:
                how = (place, links, TRANSPORTS[name], DEATH_AMONG, self._rate, hosts[fate])
                for way, each in killed_server.measure(*how).items():
                    found.setdefault((way, (name, fate)), []).append(each)
        return found
