"""The page of a run: docs/results/direct-access.md."""

from ci.jobs.bench_direct import raw, stale_sections
from ci.jobs.bench_direct.direct_clients import (
    CACHED,
    DIRECT,
    INLINE,
    LEFT,
    OPTIMISTIC,
    PRE_POSTED,
    RECOVERABLE,
    kind_of,
)
from ci.jobs.bench_direct.direct_rows import (
    BLOCKS,
    CLIENTS,
    F3_WAYS,
    F7_WAYS,
    FILES,
    FRAMES,
    HITS,
    MOST_IN_FLIGHT,
    RECORD,
    SIZES,
    SMALL,
    T3_WAYS,
    WARM_BYTES,
    WINDOW,
    WORK,
    in_flight,
    measured,
)
from ci.jobs.bench_nfs import figures
from ci.jobs.bench_nfs.bench_clients import TCP
from ci.jobs.bench_nfs.floors import at_most, floor, floors_table
from ci.jobs.bench_nfs.nfs_page import (
    PARTS,
    Section,
    machine_table,
    megabytes,
    method,
    percent,
    section_lines,
)
from steertag.bench.bench_table import size as octets
from steertag.matrix.matrix_markdown import table

INTRODUCTION = """\
# Ways into a server's file cache: the comparison of 2003

`ci/bench-direct --keep` makes this page. It is not edited. Magoutis, Addetia, Fedorova and Seltzer compared inline data, RDMA
by the server, pre-posted buffers and RDMA by the client. Their paper is "Making the Most out of Direct-Access Network
Attached Storage" (FAST 2003). [Direct access](../direct-access.md) tells how this project does each of them.

Their adapter split messages and answered RDMA Reads by itself. Here both ends of iWARP are software over TCP, without
CRC32C in MPA. The server's process answers an RDMA Read, so that its processor time is not zero. What can be shown is
the time of a Read Response beside that of an RPC. At the end of a READ its data is in a buffer of its own. Inline data
and that of TCP take a copy for that, unless a row says otherwise. Files are in memory and small enough for caches of
the processor."""
# Floors of this comparison: what the modes are for.
MOST_OPTIMISTIC_SERVER = 0.5
PRE_POSTED_BAND = 0.1
LARGE = 65536
# What 2003 has, to TCP; it used UDP.
PAPER_ROUND_TRIP = {raw.SEND_POLL: 0.29, raw.SEND_BLOCK: 0.66, raw.TCP: 1.0}
PAPER_BANDWIDTH = {raw.WRITE: 1.47, raw.READ: 1.47, raw.TCP: 1.0}


def page(run):
    """The text. `run` has machine, rounds, seconds, missing, and the results of rows by name."""
    lines = [INTRODUCTION, "", method(run.rounds), "", PARTS, "", *machine_table(run), ""]
    lines += ["## Floors", "", *_floors(run.results), ""]
    return "\n".join(lines + section_lines(SECTIONS, run)) + "\n"


def _floors(results):
    """What is to be reached, and whether it was."""
    rows = []
    if "T3" in results:
        ratio = _t3(results["T3"], OPTIMISTIC, "response_us")
        what = "response of an optimistic 4 KiB READ to a direct one"
        rows.append(floor(what, "below 1", ratio, ratio.median < 1))
        ratio = _t3(results["T3"], OPTIMISTIC, "server_us_per_call")
        rows.append(at_most("server CPU of the same", MOST_OPTIMISTIC_SERVER, ratio))
    if "F7" in results:
        pair = [results["F7"][way, kind_of(SMALL)] for way in (OPTIMISTIC, DIRECT)]
        ratio = figures.ratio(*pair, "server_us_per_call")
        what = f"server CPU, 4 KiB, {CLIENTS} clients"
        rows.append(at_most(what, MOST_OPTIMISTIC_SERVER, ratio))
        ratio = _own(*pair)
        rows.append(at_most("of that, outside of the kernel", MOST_OPTIMISTIC_SERVER, ratio))
    for size in SIZES:
        if "F3" in results and size >= LARGE and measured(PRE_POSTED, size):
            # In 2003 direct READs had cached registrations here.
            ratio = _f3(results["F3"], PRE_POSTED, CACHED, size, "rate")
            met = abs(ratio.median - 1) <= PRE_POSTED_BAND
            what = f"throughput of pre-posted READs of {octets(size)} to cached ones"
            band = f"{1 - PRE_POSTED_BAND:g} to {1 + PRE_POSTED_BAND:g}"
            rows.append(floor(what, band, ratio, met))
    yield from floors_table(rows)
    yield ""
    yield KERNEL


KERNEL = """\
An optimistic and a direct READ cost the server's kernel the same. That is a wake-up for all that has arrived, one receive,
one send and TCP's copy of the data. Samples of `perf`, and system calls counted by `strace`, show it. So the floor for all
of the server's time is out of reach over TCP. The server's own code is what an optimistic READ saves."""


def _own(rounds, others):
    """The ratio of times outside of the kernel. Their ticks are too long for one round."""
    mine, theirs = figures.whole(rounds), figures.whole(others)
    ratio = mine.server_user_us_per_call / max(theirs.server_user_us_per_call, 1e-12)
    return figures.Value(ratio, 0.0)


def _t3(found, way, name):
    return figures.ratio(found[way, _T3], found[DIRECT, _T3], name)


def _f3(found, way, other, size, name):
    kind = kind_of(size)
    return figures.ratio(found[way, kind], found[other, kind], name)


_T3 = kind_of(SMALL)


def _primitives(found):
    yield (
        "One octet there and back. 2003: 23, 53 and 80 us, by VI with polling and blocking, and by UDP. Polling needs processors "
        "that no other program uses."
    )
    yield ""
    tcp = found[raw.TCP, raw.ROUND_TRIP]
    rows = []
    for way, theirs in PAPER_ROUND_TRIP.items():
        rounds = found[way, raw.ROUND_TRIP]
        ratio = figures.ratio(rounds, tcp, "round_trip_us")
        time = figures.of(rounds, "round_trip_us").text(1)
        rows.append((way, time, ratio.text(2), f"{theirs:.2f}"))
    yield from table(["", "us", "to TCP", "2003"], rows)
    yield ""
    yield "A mebibyte at a time. 2003: 244 MB/s by VI, 166 by UDP."
    yield ""
    tcp = found[raw.TCP, raw.BANDWIDTH]
    rows = []
    for way, theirs in PAPER_BANDWIDTH.items():
        rounds = found[way, raw.BANDWIDTH]
        rows.append(
            (
                way,
                megabytes(figures.of(rounds, "rate")),
                figures.ratio(rounds, tcp, "rate").text(2),
                f"{theirs:.2f}",
                figures.of(rounds, "cpu_s_per_gib").text(2),
                figures.of(rounds, "server_s_per_gib").text(2),
            )
        )
    yield from table(["", "MB/s", "to TCP", "2003", "client CPU s/GiB", "server"], rows)
    yield ""
    yield "![Round trip and bandwidth to TCP, this run and 2003](direct-access-primitives.svg)"


def _streams(found):
    yield (
        f"READ of a warm file of {octets(WARM_BYTES)}, MB/s, with {WINDOW} in flight, but no more than {octets(MOST_IN_FLIGHT)}. "
        "2003: 1.5 GB."
    )
    yield ""
    yield from _by_size(found, lambda rounds: megabytes(figures.of(rounds, "rate")))
    yield ""
    yield "Ratios of throughput. 2003, from 32 KiB on, with cached registrations: RDMA 3.5 times standard NFS, pre-posted 1.02 times RDMA."
    yield ""
    pairs = ((CACHED, TCP), (CACHED, INLINE), (PRE_POSTED, CACHED), (CACHED, DIRECT))
    rows = []
    for way, other in pairs:
        cells = [
            _f3(found, way, other, size, "rate").text(2) if _both(way, other, size) else ""
            for size in SIZES
        ]
        rows.append((f"{way} to {other}", *cells))
    yield from table(["", *map(octets, SIZES)], rows)
    yield ""
    yield "![Throughput of READ by way and size](direct-access-read.svg)"


def _both(way, other, size):
    return measured(way, size) and measured(other, size)


def _by_size(found, text):
    rows = []
    for way in F3_WAYS:
        cells = [text(found[way, kind_of(size)]) if measured(way, size) else "" for size in SIZES]
        rows.append((way, *cells))
    return table(["", *map(octets, SIZES)], rows)


def _client_cpu(found):
    yield "Processor seconds of the client for a GiB. 2003: standard NFS fills a processor by copying; RDMA takes below 15 %."
    yield ""
    yield from _by_size(found, lambda rounds: figures.of(rounds, "cpu_s_per_gib").text(2))
    yield ""
    yield "To the client's inline READs:"
    yield ""
    rows = []
    for way in F3_WAYS[1:]:
        cells = [
            _f3(found, way, INLINE, size, "cpu_s_per_gib").text(2)
            if _both(way, INLINE, size)
            else ""
            for size in SIZES
        ]
        rows.append((way, *cells))
    yield from table(["", *map(octets, SIZES)], rows)
    yield ""
    yield "Processor seconds of the server for a GiB:"
    yield ""
    yield from _by_size(found, lambda rounds: figures.of(rounds, "server_s_per_gib").text(2))
    yield ""
    yield "![Processor time of the client by way and size](direct-access-cpu.svg)"


def _join(found):
    yield (
        f"READs of {octets(RECORD)}, {in_flight(RECORD)} in flight, MB/s, when the reader copies so many octets of each. 2003 has "
        "curves: the more is copied, the more a way that leaves the client's processor alone wins."
    )
    yield ""
    rows = []
    for way in F3_WAYS:
        cells = [megabytes(figures.of(found[way, kind_of(RECORD, work)], "rate")) for work in WORK]
        ratio = figures.ratio(
            found[way, kind_of(RECORD, WORK[-1])], found[way, kind_of(RECORD, 0)], "rate"
        )
        rows.append((way, *cells, ratio.text(2)))
    heads = [octets(work) if work else "none" for work in WORK]
    yield from table(["", *heads, "all to none"], rows)
    yield ""
    yield "![Throughput of READ by what is copied of each record](direct-access-join.svg)"


def _response(found):
    yield (
        f"READs of {octets(SMALL)}, one at a time, of a file of {octets(FRAMES * SMALL)}. All references were collected by a "
        "pass before."
    )
    yield ""
    paper = {LEFT: "0.89", INLINE: "1.06", DIRECT: "1.00", OPTIMISTIC: "0.64", RECOVERABLE: "0.64"}
    rows = []
    for way in T3_WAYS:
        rounds = found[way, _T3]
        rows.append(
            (
                way,
                figures.of(rounds, "response_us").text(1),
                _t3(found, way, "response_us").text(2),
                paper.get(way, ""),
                figures.of(rounds, "cpu_us_per_call").text(1),
                figures.of(rounds, "server_us_per_call").text(1),
                _t3(found, way, "server_us_per_call").text(2),
            )
        )
    yield from table(
        ["", "median us", "to direct", "2003", "client CPU us", "server CPU us", "to direct"], rows
    )
    yield ""
    yield "![Response time and processor time of a small READ](direct-access-response.svg)"


def _many_files(found):
    yield (
        f"Whole files of {octets(SMALL)}, one at a time and at random, out of {FILES} that are open. The client keeps a share of "
        "them, and copies what it finds there. 2003 is PostMark without writing: direct READs took 30, 25 and 20 % of the server's "
        "processor, optimistic ones nothing."
    )
    yield ""
    rows = []
    for share in HITS:
        direct, optimistic = found[DIRECT, (share,)], found[OPTIMISTIC, (share,)]
        rows.append(
            (
                f"{share * 100:g} %",
                *(figures.of(rounds, "calls_per_s").text() for rounds in (direct, optimistic)),
                figures.ratio(optimistic, direct, "calls_per_s").text(2),
                "1.34",
                *(percent(figures.of(each, "server_share")) for each in (direct, optimistic)),
                figures.ratio(optimistic, direct, "server_us_per_call").text(2),
            )
        )
    heads = ["kept", "files/s, direct", "optimistic", "to direct", "2003"]
    heads += ["server busy, direct", "optimistic", "server CPU a file, to direct"]
    yield from table(heads, rows)
    yield ""
    yield "![Files a second and the server's processor by what the client keeps](direct-access-files.svg)"


def _two_clients(found):
    yield (
        f"READs of one block by two clients in one process, {WINDOW} in flight each, of a file of {FRAMES} blocks. 2003, 4 KiB: "
        "1.32 times direct with polling, and no server CPU."
    )
    yield ""
    rows = []
    for size in BLOCKS:
        kind = kind_of(size)
        of = {way: found[way, kind] for way in F7_WAYS}
        rows.append(
            (
                octets(size),
                *(megabytes(figures.of(of[way], "rate")) for way in F7_WAYS),
                figures.ratio(of[OPTIMISTIC], of[DIRECT], "rate").text(2),
                *(figures.of(of[way], "server_us_per_call").text(1) for way in F7_WAYS),
                figures.ratio(of[OPTIMISTIC], of[DIRECT], "server_us_per_call").text(2),
                _own(of[OPTIMISTIC], of[DIRECT]).text(2),
            )
        )
    heads = ["block", *(f"{way} MB/s" for way in F7_WAYS), "to direct"]
    heads += [
        *(f"server us a READ, {way}" for way in F7_WAYS),
        "to direct",
        "outside of the kernel",
    ]
    yield from table(heads, rows)
    yield ""
    yield "![Throughput and server CPU with two clients](direct-access-server.svg)"


SECTIONS = {
    "T2": Section("T2: without NFS", _primitives),
    "F3": Section("F3: READ by size", _streams),
    "F4": Section("F4: the client's processor", _client_cpu),
    "F5": Section("F5: work on each record", _join),
    "T3": Section("T3: response time of small READs", _response),
    "F6": Section("F6: many small files", _many_files),
    "F7": Section("F7: a server of two clients", _two_clients),
    "X1": Section("X1: stale references", stale_sections.by_share),
    "X2": Section("X2: beside a writer", stale_sections.beside_a_writer),
}
