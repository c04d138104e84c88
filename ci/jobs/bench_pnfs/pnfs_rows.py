"""The rows of scaling. Each gives {(way, kind): [Figures]}; the ways are numbers of data servers, or transports."""

import contextlib
import functools
import itertools

from ci.jobs.bench_nfs.namespaces import add_subnet, join, namespace, run
from ci.jobs.bench_nfs.rounds import measure
from ci.jobs.bench_pnfs import killed_server, transport_rows
from ci.jobs.bench_pnfs.receives import pool_cells, slot_cells
from ci.jobs.bench_pnfs.shaped_hosts import ShapedHosts
from ci.jobs.bench_pnfs.striped import DATA_SERVERS, IO_BYTES, MIB, ROCE, STRIPED_TRANSPORTS
from ci.jobs.bench_pnfs.striped import TRANSPORTS, StripedFile, striped_server
from ci.jobs.bench_pnfs.striped_processes import StripedProcesses

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


def _file(stack, main, servers, share, io_bytes=IO_BYTES):
    file = StripedFile(main, servers, share, io_bytes)
    stack.callback(file.close)
    return file


class Rows:
    """Measures in network namespaces that last as long as a row."""

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
        kinds = itertools.product(UNITS, PACKINGS)
        return self._shaped(
            "read",
            {
                ("read", unit, packing): (unit, ("--stripe-unit", unit, "--packing", packing))
                for unit, packing in kinds
            },
        )

    def writing(self):
        """S2: WRITE and COMMIT, the same; by the place of the COMMIT."""
        return self._shaped(
            "write",
            {("write", commit): (IO_BYTES, ("--commit", commit)) for commit in COMMITS},
        )

    def _shaped(self, operation, kinds):
        """One operation by data servers, for {kind: (octets of a call, options of the metadata server)}."""
        with contextlib.ExitStack() as stack:
            hosts = ShapedHosts(stack, self._rate, max(DATA_SERVERS))
            cells = []
            for kind, (io_bytes, options) in kinds.items():
                for servers in DATA_SERVERS:
                    main = StripedProcesses(stack, hosts, "iwarp", servers, *options)
                    file = _file(stack, main, servers, SHAPED_SHARE, io_bytes)
                    cells.append(file.cell(servers, kind, operation))
            return measure(cells, *self._how)

    def transports(self):
        """S3: READ and WRITE over each transport, by data servers; no link is limited."""
        with _joined() as (stack, place):
            cells = []
            for way, provider in STRIPED_TRANSPORTS.items():
                for number, servers in enumerate(DATA_SERVERS, 1):
                    # Each end of RoCE takes UDP port 4791 of an address.
                    roce = way == ROCE
                    where = add_subnet(place.enter, NETWORK, number) if roce else place
                    main = stack.enter_context(striped_server(where, provider, servers))
                    file = _file(stack, main, servers, SHARE)
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
        with contextlib.ExitStack() as stack:
            hosts = ShapedHosts(stack, self._rate, DEATH_AMONG)
            cells = list(itertools.product(killed_server.FATES, TRANSPORTS))
            for fate, name in cells * self._how[0]:
                died = killed_server.measure(hosts, TRANSPORTS[name], fate, self._rate)
                for way, each in died.items():
                    found.setdefault((way, (name, fate)), []).append(each)
        return found
