"""The sections and plots of the rows that compare latencies over RDMA and over TCP: S4, S5 and S6."""

from ci.jobs.bench_nfs import figures
from ci.jobs.bench_nfs.nfs_page import Section
from ci.jobs.bench_nfs.panels import panels, ratios, size_lines, step_lines
from ci.jobs.bench_pnfs.striped import DATA_SERVERS, TRANSPORTS
from ci.jobs.bench_pnfs.transport_rows import CREATED_AT, CREATES, HANDLES
from ci.jobs.bench_pnfs.transport_rows import ZIPF_ALPHA, ZIPF_FILE_BYTES, ZIPF_READ_BYTES
from steertag.bench.bench_plot import to_svg
from steertag.bench.bench_table import size as octets
from steertag.matrix.matrix_markdown import table

TCP, RDMA = TRANSPORTS
# What Noronha (2008) has, by creates under way and by data servers; a dash: no figure.
PAPER_CREATES = {1: "above 1", 2: "1", 4: "below 1", 8: "below 1", 16: "0.85, 16 servers"}
PAPER_ZIPF = {1: "1.22", 8: "1.27"}
NO_FIGURE = "-"


def _pair(found, kind):
    return found[RDMA, kind], found[TCP, kind]


def _ratio(found, kind, name):
    return figures.ratio(*_pair(found, kind), name)


def _latencies(found, kind):
    """Microseconds over TCP and over RDMA, and the ratio of RDMA to TCP."""
    texts = [figures.of(found[way, kind], "response_us").text(1) for way in (TCP, RDMA)]
    return [*texts, _ratio(found, kind, "response_us").text(2)]


def layout_octets(found, handles):
    """Octets of the layout's body."""
    (first, *_) = found[TCP, ("layoutget", handles)]
    return first.bytes // first.calls


def _layouts(found):
    yield "In S4, S5 and S6 no link is limited, and iWARP is software on top of TCP. 2008 had an adapter."
    yield ""
    yield "LAYOUTGET, one at a time, over iWARP without CRC and over TCP. LAYOUTRETURN follows each, outside of the times. A"
    yield "layout has 36 octets, and 48 for each filehandle. One data server with many turns in a stripe (`--stripe-turns`) stands"
    yield "for many: the layout has as many filehandles. The client asks for no more octets than the layout takes. Both ends"
    yield "announce 4 KiB: over RDMA a larger reply comes in a reply chunk, by an RDMA Write before the Send."
    yield "2008: up to 65 % lower with RDMA, with replies of up to 32 KiB."
    yield ""
    rows = [
        (
            str(handles),
            str(layout_octets(found, handles)),
            *_latencies(found, ("layoutget", handles)),
        )
        for handles in HANDLES
    ]
    yield from table(["filehandles", "octets of the layout", f"us, {TCP}", RDMA, "ratio"], rows)
    yield ""
    yield "![Latency of LAYOUTGET by the size of the layout](pnfs-layoutget.svg)"


def _creates(found):
    yield "A file is made at each of some servers, one after the other, by LOOKUP, OPEN, SETATTR of its mode and CLOSE. So did"
    yield "the metadata server of 2008, by NFSv3. Each is a process of its own, all on one processor. The time is that of a"
    yield "whole create, the median. 2008: 32 receives of 1 KiB for each connection over RDMA, and 128 of 64 KiB for all over IP."
    yield "Ours has 32 of 4 KiB for each connection over RDMA."
    yield ""
    rows = [
        (str(creates), *_creates_row(found, creates), PAPER_CREATES[creates]) for creates in CREATES
    ]
    heads = [head for at in CREATED_AT for head in (f"us, {TCP}, {_servers(at)}", RDMA, "ratio")]
    yield from table(["at a time", *heads, "ratio of 2008"], rows)
    yield ""
    yield "![Latency of a create, iWARP to TCP, by creates at a time](pnfs-create.svg)"


def _servers(count):
    return f"{count} server{'s' if count > 1 else ''}"


def _creates_row(found, creates):
    return [text for at in CREATED_AT for text in _latencies(found, ("create", at, creates))]


def _zipf(found):
    yield f"READs of {octets(ZIPF_READ_BYTES)}, one at a time, of a file of {octets(ZIPF_FILE_BYTES)} that is striped in units of 64K. Zipf's law"
    yield f"chooses the places (exponent {ZIPF_ALPHA}). The client keeps nothing of what it has read. 2008: a file of 512 MiB, and a"
    yield "cache at the client, which hid a part of the difference."
    yield ""
    rows = []
    for servers in DATA_SERVERS:
        kind = ("zipf", servers)
        rates = [figures.of(found[way, kind], "rate").median / 1e6 for way in (TCP, RDMA)]
        row = [str(servers), *(f"{rate:.0f}" for rate in rates)]
        row += [_ratio(found, kind, "rate").text(2), *_latencies(found, kind)]
        rows.append((*row, PAPER_ZIPF.get(servers, NO_FIGURE)))
    heads = ["data servers", f"MB/s, {TCP}", RDMA, "ratio", f"us, {TCP}", RDMA, "ratio"]
    yield from table([*heads, "throughput of 2008"], rows)
    yield ""
    yield "![READs by Zipf's law, iWARP to TCP, by data servers](pnfs-zipf.svg)"


SECTIONS = {
    "S4": Section("S4: LAYOUTGET by the size of its reply", _layouts),
    "S5": Section("S5: creates at all data servers", _creates),
    "S6": Section("S6: READs by Zipf's law", _zipf),
}


def _lines(found, kinds, name):
    return ratios([found[RDMA, kind] for kind in kinds], [found[TCP, kind] for kind in kinds], name)


def _one(axis):
    """A line where both transports are alike."""
    axis.axhline(1, color="black", linewidth=0.5)


def _draw_layouts(found):
    made, (axis,) = panels(1)
    kinds = [("layoutget", handles) for handles in HANDLES]
    sizes = [layout_octets(found, handles) for handles in HANDLES]
    lines = {
        way: [figures.of(found[way, kind], "response_us").median for kind in kinds]
        for way in (TCP, RDMA)
    }
    size_lines(axis, "LAYOUTGET, microseconds", sizes, lines)
    axis.legend()
    return made


def _draw_creates(found):
    made, (axis,) = panels(1)
    lines = {
        _servers(at): _lines(found, [("create", at, creates) for creates in CREATES], "response_us")
        for at in CREATED_AT
    }
    step_lines(axis, f"a create, {RDMA} to {TCP}", "at a time", CREATES, lines)
    _one(axis)
    axis.legend()
    return made


def _draw_zipf(found):
    made, (axis,) = panels(1)
    kinds = [("zipf", servers) for servers in DATA_SERVERS]
    lines = {
        label: _lines(found, kinds, name)
        for name, label in {"rate": "throughput", "response_us": "latency"}.items()
    }
    step_lines(axis, f"READs by Zipf's law, {RDMA} to {TCP}", "data servers", DATA_SERVERS, lines)
    _one(axis)
    axis.legend()
    return made


PLOTS = {
    "S4": ("pnfs-layoutget.svg", _draw_layouts),
    "S5": ("pnfs-create.svg", _draw_creates),
    "S6": ("pnfs-zipf.svg", _draw_zipf),
}


def plots(results):
    """{name of a file: SVG}."""
    return {
        name: to_svg(draw(results[row])) for row, (name, draw) in PLOTS.items() if row in results
    }
