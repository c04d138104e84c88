"""The page of a run: docs/results/nfs-2003.md."""

from ci.jobs.bench_nfs import figures, networks, nfs_rows
from ci.jobs.bench_nfs.bench_clients import IWARP, NO_CRC, TCP, WAYS
from ci.jobs.bench_nfs.floors import at_least, at_most, floors_table
from ci.jobs.bench_nfs.yardstick import KINDS, PEERS
from steertag.bench.bench_table import size as octets
from steertag.matrix.matrix_markdown import table

INTRODUCTION = """\
# NFS over TCP and over RDMA: the comparison of 2003

`ci/bench-nfs --keep` makes this page. It is not edited. Callaghan, Lingutla-Raj, Chiu, Staubach and Asad measured the
first NFS over RDMA beside NFS over TCP ("NFS over RDMA", SIGCOMM workshops 2003). Their adapter did the transport's work
and placed data without a copy. Here both ends of iWARP are software: MPA, DDP and CRC32C come on top of TCP. The table
repeats their method and shows what the software costs. A ratio like theirs needs an adapter."""
_METHOD = """\
All cells of a row take turns, round by round. A figure is the median of the rounds, a ratio the median of the ratios
within rounds. The spread is that of the middle half of the rounds, from quartile to quartile. `~`: it is more than 10 % of
the median. In parentheses: more than 30 %, so it is no result. A ratio of two runs agrees within 10 %, or within 30 % if
one has the mark. It agrees, too, where the rounds of both meet: {bound}. MB/s
are 10^6 octets a second. Client and server have a processor each, if there are two. The processor time is the client's,
user and system, unless a column says server. Only ratios of one run are results; other figures help to read them."""
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
PARTS = """\
The rounds of a row come in three parts, minutes apart. Each part has processes of its own, since a process keeps the luck
of its start."""
PROFILE = """\
A profile of the client says why iWARP costs more (perf, READs of 1 MiB, 5 in flight, 2026-11-30). The kernel's copy takes
some 30 % of the time by either transport, going to sleep and waking some 15 %, CRC32C 9 %. What differs is the number of
system calls. The length of an FPDU has 16 bits (RFC 5044 4.1), and the payload of each goes to a place of its own. So a
call takes 58 KB, where the one of TCP takes 126 KB."""
# Floors of this comparison.
LEAST_IWARP, LEAST_TCP = 1.2, 1.0
MOST_CPU, MOST_CPU_WITH_CRC = 1.1, 1.4
# What 2003 has, by row.
PAPER_BEST = 1.7
PAPER_CPU = "0.3 to 0.6"
PAPER_MTU = 0.6
# What a WRITE of row C4 is called.
WRITES = {"write": "unstable, one COMMIT", "write_sync": "FILE_SYNC"}


def page(run):
    """The text. `run` has machine, rounds, seconds, missing, and the results of rows by name."""
    lines = [INTRODUCTION, "", method(run.rounds), "", PARTS, "", *machine_table(run), ""]
    if "yardstick" in run.results:
        lines += ["## Floors", "", *_floors(run.results["yardstick"]), "", PROFILE, ""]
    return "\n".join(lines + section_lines(SECTIONS, run)) + "\n"


def method(rounds):
    """How the figures of a page are made, of so many rounds."""
    return _METHOD.format(bound=_bound(rounds))


def _bound(rounds):
    """How sure it is that the median of all runs is between the lowest and the highest round."""
    if rounds < 2:
        return "one round does not bound the median"
    # All rounds are above it, or all are below it, in 2 of 2**rounds runs.
    confidence = f"{100 - 200 / 2**rounds:.0f} %"
    if confidence == "100 %":
        confidence = "more than 99 %"
    word = _WORDS[rounds] if rounds < len(_WORDS) else rounds
    return f"{word} rounds bound the median with {confidence} confidence"


def _floors(found):
    """What is to be reached beside programs of others, and beside TCP."""
    rows = []
    for kind in KINDS:
        size = octets(kind[1])
        for way, least in ((IWARP, LEAST_IWARP), (TCP, LEAST_TCP)):
            ratio = figures.ratio(found[way, kind], found[PEERS, kind], "rate")
            rows.append(at_least(f"READ of {size} by {way}, to {PEERS}", least, ratio))
        for way, most in ((NO_CRC, MOST_CPU), (IWARP, MOST_CPU_WITH_CRC)):
            ratio = figures.ratio(found[way, kind], found[TCP, kind], "cpu_s_per_gib")
            rows.append(at_most(f"client CPU of that by {way}, to TCP", most, ratio))
    return floors_table(rows)


def section_lines(sections, run):
    """The lines of {row: Section}: what a run has of each, or why it has nothing."""
    lines = []
    for name, section in sections.items():
        lines += [f"## {section.title}", ""]
        if name in run.results:
            lines += [*section.lines(run.results[name]), ""]
        else:
            lines += [f"Not measured: {run.missing[name]}.", ""]
    return lines[:-1]


def machine_table(run, network="loopback, MTU 65536"):
    return table(
        [
            "machine",
            "load before",
            "kernel",
            "network",
            "NFS",
            "rounds",
            "a cell",
            "Steertag",
            "date",
        ],
        [
            (
                run.machine,
                f"{run.load:.1f}",
                run.kernel,
                network,
                f"version {run.nfs}",
                str(run.rounds),
                f"{run.seconds:g} s",
                run.version,
                run.date,
            )
        ],
    )


class Section:
    """A part of the page: a heading, and the lines of its results."""

    def __init__(self, title, lines):
        self.title = title
        self.lines = lines


def best(found, way):
    """((operation, size, calls), Value) of the cell with the best median rate."""
    rates = {
        kind: figures.of(rounds, "rate") for (each, kind), rounds in found.items() if each == way
    }
    kind = max(rates, key=lambda each: rates[each].median)
    return kind, rates[kind]


def _bests(found):
    yield "The best cell of each transport, and its ratio to that of TCP. 2003: 1.70, at 256 KiB."
    yield ""
    tcp = best(found, TCP)[0]
    rows = []
    for way in WAYS:
        kind, rate = best(found, way)
        ratio = figures.ratio(found[way, kind], found[TCP, tcp], "rate")
        rows.append((way, octets(kind[1]), str(kind[2]), megabytes(rate), ratio.text(2)))
    yield from table(["transport", "octets", "in flight", "MB/s", "to TCP"], rows)
    yield ""
    yield "![Throughput of READ by size](nfs-2003-read.svg)"
    for way in WAYS:
        yield ""
        yield f"MB/s of READ, {way}, by calls in flight:"
        yield ""
        rows = [
            (
                octets(size),
                *(
                    megabytes(figures.of(found[way, ("read", size, calls)], "rate"))
                    for calls in nfs_rows.IN_FLIGHT
                ),
            )
            for size in nfs_rows.SIZES
        ]
        yield from table(["octets", *map(str, nfs_rows.IN_FLIGHT)], rows)


def _cpu(found):
    yield "Processor seconds of the client for a GiB, with 5 READs in flight, and its share of one processor."
    yield ""
    yield from _by_size(found, 5, "cpu_s_per_gib", "cpu_share")
    yield ""
    yield "![Processor time of the client by throughput](nfs-2003-cpu.svg)"


def _by_size(found, calls, *names):
    heads = ["octets", *(f"{way}" for way in WAYS), f"{IWARP} to TCP", f"{NO_CRC} to TCP"]
    if len(names) > 1:
        heads += [f"share, {way}" for way in WAYS]
    rows = []
    for size in nfs_rows.SIZES:
        of = {way: found[way, ("read", size, calls)] for way in WAYS}
        row = [octets(size), *(figures.of(of[way], names[0]).text(2) for way in WAYS)]
        row += [figures.ratio(of[way], of[TCP], names[0]).text(2) for way in (IWARP, NO_CRC)]
        if len(names) > 1:
            row += [percent(figures.of(of[way], names[1])) for way in WAYS]
        rows.append(row)
    return table(heads, rows)


def _per_call(found):
    yield (
        "Microseconds of the client's processor for one READ that waits for nothing else. 2003, system time: RDMA takes "
        f"{PAPER_CPU} of TCP."
    )
    yield ""
    yield from _by_size(found, 1, "cpu_us_per_call")
    yield ""
    yield "![Processor time of a READ, iWARP to TCP](nfs-2003-call.svg)"


def _writing(found):
    yield f"MB/s with {nfs_rows.WRITE_IN_FLIGHT} WRITEs in flight, and the ratio to TCP. 2003 has none."
    rows = []
    for operation, name in WRITES.items():
        for size in nfs_rows.WRITE_SIZES:
            kind = (operation, size, nfs_rows.WRITE_IN_FLIGHT)
            rates = [megabytes(figures.of(found[way, kind], "rate")) for way in WAYS]
            ratios = [
                figures.ratio(found[way, kind], found[TCP, kind], "rate").text(2)
                for way in (IWARP, NO_CRC)
            ]
            rows.append((name, octets(size), *rates, *ratios))
    yield ""
    heads = ["WRITE", "octets", *WAYS, f"{IWARP} to TCP", f"{NO_CRC} to TCP"]
    yield from table(heads, rows)
    yield ""
    yield "![Throughput of WRITE by size](nfs-2003-write.svg)"


def _mtu(found):
    large, small = networks.MTUS
    yield (
        f"READ with {networks.IN_FLIGHT} in flight over two veth pairs between network namespaces. Each packet has one segment "
        "of TCP: none are joined or cut apart as by an adapter. Both processors send, so that some overtake others. The "
        f"processors are the limit, the networks have no rate. 2003: with 1500, RDMA has {PAPER_MTU} of its throughput."
    )
    rows = []
    for way in WAYS:
        for size in networks.SIZES:
            pair = [found[mtu, (way, size)] for mtu in (large, small)]
            row = [way, octets(size), *(megabytes(figures.of(each, "rate")) for each in pair)]
            row.append(figures.ratio(*reversed(pair), "rate").text(2))
            row += [figures.of(each, "cpu_s_per_gib").text(2) for each in pair]
            row.append(figures.ratio(*reversed(pair), "cpu_s_per_gib").text(2))
            rows.append(row)
    yield ""
    heads = [f"MB/s, MTU {large}", str(small), "ratio"]
    heads += [f"client CPU s/GiB, MTU {large}", str(small), "ratio"]
    yield from table(["transport", "octets", *heads], rows)
    yield ""
    yield "![READ with an MTU of 1500, to that with 9000, by size](nfs-2003-mtu.svg)"


def _threshold(found):
    yield (
        f"One READ at a time over iWARP with CRC32C. Both ends announce {nfs_rows.INLINE_BYTES} octets, so that each size "
        "fits inline. 2003 guessed that chunks win from 1 KiB on."
    )
    yield from _two_ways(found, (nfs_rows.INLINE, nfs_rows.CHUNK), nfs_rows.INLINE_SIZES)
    yield ""
    yield "![READ by chunk, to READ inline, by size](nfs-2003-inline.svg)"


def _registration(found):
    yield (
        "One READ by chunks at a time over iWARP without CRC, by the client's memory for its data. 2003 named the cost of "
        "registration as future work. An adapter's is larger: software pins no pages."
    )
    yield from _two_ways(found, (nfs_rows.OPENED, nfs_rows.STAYS), nfs_rows.SIZES)
    yield ""
    yield "![READ into memory that stays open, to memory that is opened for each call, by size](nfs-2003-registration.svg)"


def _two_ways(found, ways, sizes):
    """READs one after the other, in calls and processor time of the client, and the second way's ratio to the first."""
    first, second = ways
    rows = []
    for size in sizes:
        pair = [found[way, ("read", size, 1)] for way in ways]
        row = [octets(size)]
        for name, digits in (("calls_per_s", 0), ("cpu_us_per_call", 1)):
            row += [figures.of(each, name).text(digits) for each in pair]
            row.append(figures.ratio(*reversed(pair), name).text(2))
        rows.append(row)
    yield ""
    heads = ["octets", f"calls/s {first}", second, "ratio", f"us a call {first}", second, "ratio"]
    yield from table(heads, rows)


def _copies(found):
    yield "Processor seconds of the client for a GiB, 5 READs in flight, when what was read is copied once more."
    rows = []
    for way in WAYS:
        for size in nfs_rows.COPIED_SIZES:
            kept, copied = (found[name, (way, size)] for name in (nfs_rows.KEPT, nfs_rows.COPIED))
            rows.append(
                (
                    way,
                    octets(size),
                    figures.of(kept, "cpu_s_per_gib").text(2),
                    figures.of(copied, "cpu_s_per_gib").text(2),
                    figures.ratio(copied, kept, "cpu_s_per_gib").text(2),
                )
            )
    yield ""
    yield from table(["transport", "octets", "without", "with a copy", "ratio"], rows)
    yield ""
    yield "![Processor time of the client with one more copy and without](nfs-2003-copies.svg)"


def _names(found):
    yield (
        "Calls a second over iWARP without CRC. Names are asked for one after the other, so that only the READs need "
        "credits. A listing is one call of READDIRPLUS for each 64 KiB."
    )
    kinds = name_kinds(found)
    rows = []
    for size in nfs_rows.RECEIVE_BYTES:
        for credits in nfs_rows.CREDITS:
            rates = [figures.of(found[(size, credits), kind], "calls_per_s") for kind in kinds]
            rows.append(
                (
                    octets(size),
                    str(credits),
                    *(rate.text(0 if rate.median >= 100 else 1) for rate in rates),
                )
            )
    yield ""
    yield from table(["receives", "credits", *kinds], rows)
    yield ""
    yield "![Calls a second by credits and size of receives](nfs-2003-names.svg)"


def name_kinds(found):
    """The kinds of calls of row C9."""
    return list(dict.fromkeys(kind for _, kind in found))


def _yardstick(found):
    yield "READ of the same file, in memory or in the page cache: our client and server beside programs of others."
    rows = []
    for way in (PEERS, *WAYS):
        for kind in KINDS:
            ours, others = found[way, kind], found[PEERS, kind]
            rows.append(
                (
                    way,
                    octets(kind[1]),
                    str(kind[2]),
                    megabytes(figures.of(ours, "rate")),
                    figures.ratio(ours, others, "rate").text(2),
                    figures.of(ours, "cpu_s_per_gib").text(2),
                    figures.of(ours, "server_s_per_gib").text(2),
                )
            )
    yield ""
    heads = ["transport", "octets", "in flight", "MB/s", "to Ganesha", "client CPU s/GiB", "server"]
    yield from table(heads, rows)


def megabytes(rate):
    return figures.Value(rate.median / 1e6, rate.spread).text()


def percent(share, digits=0):
    return f"{figures.Value(share.median * 100, share.spread).text(digits)} %"


SECTIONS = {
    "C1": Section("C1: READ by size and calls in flight", _bests),
    "C2": Section("C2: processor time at a throughput", _cpu),
    "C3": Section("C3: processor time of a call", _per_call),
    "C4": Section("C4: WRITE", _writing),
    "C5": Section("C5: MTU 1500 and 9000", _mtu),
    "C6": Section("C6: inline or by chunk", _threshold),
    "C7": Section("C7: registration", _registration),
    "C8": Section("C8: one more copy", _copies),
    "C9": Section("C9: size of receives and credits", _names),
    "yardstick": Section("Beside programs of others", _yardstick),
}
