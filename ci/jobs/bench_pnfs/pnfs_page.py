"""The page of a run: docs/results/pnfs.md."""

from ci.jobs.bench_nfs import figures
from ci.jobs.bench_nfs.nfs_page import Section, machine_table, megabytes, method, section_lines
from ci.jobs.bench_pnfs import killed_server_page, receives_page, transport_page
from ci.jobs.bench_pnfs.pnfs_rows import COMMITS, FLOOR, FLOOR_AT, LIMIT_S, PACKINGS, UNITS
from ci.jobs.bench_pnfs.striped import DATA_SERVERS, IN_FLIGHT, ROCE, TRANSPORTS
from steertag.bench.bench_table import size as octets
from steertag.matrix.matrix_markdown import table

INTRODUCTION = """\
# Striped files over RDMA: scaling with data servers

`ci/bench-pnfs --keep` makes this page. It is not edited. Noronha (2008) measured pNFS over RDMA with up to eight data
servers. Here client and servers are ours. In S1, S2 and S8 each server is a process of its own on a host of its own.
Such a host is a network namespace, which a bridge joins with the client's. Each link has a limited rate at both ends (tbf), so that the
links are the limit, not the processors. In other rows servers and client are in two namespaces joined by a veth pair, and
no link is limited. There all data servers of a cell are in one process, but those of S5 are processes of their own."""
ONE = DATA_SERVERS[0]
# What Noronha (2008) has of RDMA to TCP over IPoIB, by operation and data servers.
PAPER_TRANSPORTS = {
    ("read", 1): "above 1",
    ("read", 2): "above 1",
    ("read", 4): "above 1",
    ("read", 8): "1.89, 2.88",
    ("write", 4): "above 1",
    ("write", 8): "1.22, 2.50",
}
NO_FIGURE = "-"
WINDOW = f"The client has {IN_FLIGHT} calls in flight for each data server."


def page(run):
    """The text. `run` has machine, rounds, seconds, rate_mbit, elapsed_s, missing, and the results of rows by name."""
    link = (
        f"A limited link has {run.rate_mbit} Mbit/s, and the client's the rate of all data servers' links together."
        f"\nAll that is here was measured in {minutes(run.elapsed_s)}. The limit is {minutes(LIMIT_S)}."
    )
    lines = [INTRODUCTION, "", method(run.rounds), "", link, ""]
    lines += [*machine_table(run, "veth, MTU 1500"), ""]
    return "\n".join(lines + section_lines(SECTIONS, run)) + "\n"


def minutes(seconds):
    return "{} min {} s".format(*divmod(round(seconds), 60))


def scaling(found, servers):
    """{kind: Value}: the rate with so many data servers, to that with one."""
    return {
        kind: figures.ratio(rounds, found[ONE, kind], "rate")
        for (way, kind), rounds in found.items()
        if way == servers
    }


def _scaling_table(found, head, kinds):
    heads = [*head, "MB/s with 1", *(f"{n} to 1" for n in DATA_SERVERS[1:])]
    heads += [f"client's CPU, {FLOOR_AT}", f"servers' CPU, {FLOOR_AT}"]
    rows = []
    for names, kind in kinds:
        row = [*names, megabytes(figures.of(found[ONE, kind], "rate"))]
        row += [scaling(found, servers)[kind].text(2) for servers in DATA_SERVERS[1:]]
        most = found[FLOOR_AT, kind]
        row += [_percent(most, "cpu_share"), _percent(most, "server_share")]
        rows.append(row)
    return table(heads, rows)


def _percent(rounds, name):
    return f"{figures.of(rounds, name).median * 100:.0f} %"


def _reading(found):
    yield f"READs of whole stripe units of a file that the servers have in memory, over iWARP. {WINDOW}"
    yield f"The servers share a directory in memory (tmpfs). Floor: {FLOOR} at {FLOOR_AT}."
    yield ""
    kinds = [
        ((octets(unit), packing), ("read", unit, packing)) for unit in UNITS for packing in PACKINGS
    ]
    yield from _scaling_table(found, ["stripe unit", "packing"], kinds)
    yield ""
    yield "![Throughput by the number of data servers](pnfs-scaling.svg)"


def _writing(found):
    yield "A new file: WRITEs of 64 KiB, unstable, then COMMIT. It goes to each data server, or to the metadata server alone."
    yield f"Over iWARP. {WINDOW}"
    yield ""
    kinds = [((commit.upper(),), ("write", commit)) for commit in COMMITS]
    yield from _scaling_table(found, ["COMMIT at"], kinds)
    yield ""
    yield "![WRITE and COMMIT: throughput by the number of data servers](pnfs-writing.svg)"


def _transports(found):
    yield "The same without limits on the links: the processors are the limit. Ratios of iWARP without CRC to TCP."
    yield f"{ROCE} is software too, and its packets have a CRC always. {WINDOW}"
    yield "A server keeps the memory of removed files (`MALLOC_TRIM_THRESHOLD_`). Pages that are given back, and taken anew, take"
    yield "half of its time for a WRITE, which the C library does with small files only."
    yield "2008: an RDMA adapter, and TCP over IPoIB in connected mode, then in datagram mode. There were as many clients as"
    yield "data servers, up to eight."
    yield ""
    tcp, iwarp = TRANSPORTS
    rows = []
    for operation in ("read", "write"):
        for servers in DATA_SERVERS:
            kind = (operation, servers)
            row = [operation.upper(), str(servers)]
            row += [megabytes(figures.of(found[way, kind], "rate")) for way in TRANSPORTS]
            for name in ("rate", "cpu_s_per_gib", "server_s_per_gib"):
                row.append(figures.ratio(found[iwarp, kind], found[tcp, kind], name).text(2))
            row.append(figures.ratio(found[ROCE, kind], found[tcp, kind], "rate").text(2))
            rows.append([*row, PAPER_TRANSPORTS.get(kind, NO_FIGURE)])
    heads = ["call", "data servers", *(f"MB/s, {way}" for way in TRANSPORTS)]
    heads += ["throughput", "client's CPU a GiB", "servers' CPU a GiB", f"throughput, {ROCE}"]
    yield from table([*heads, "throughput of 2008"], rows)
    yield ""
    yield "![iWARP without CRC to TCP, by data servers](pnfs-transports.svg)"


SECTIONS = {
    "S1": Section("S1: reading", _reading),
    "S2": Section("S2: writing", _writing),
    "S3": Section("S3: iWARP beside TCP", _transports),
    **transport_page.SECTIONS,
    "S7": Section(receives_page.TITLE, receives_page.lines),
    "S8": Section(killed_server_page.TITLE, killed_server_page.lines),
}
