"""The command line: builds, measures the rows, writes the page and its plots."""

import dataclasses
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess

from ci.jobs import PROJECT
from ci.jobs.bench_nfs import networks, nfs_rows
from ci.jobs.bench_nfs.bench_clients import NFS, TCP, new_file
from ci.jobs.bench_nfs.bench_servers import processors, server
from ci.jobs.bench_nfs.figures import json_of
from ci.jobs.bench_nfs.nfs_page import page
from ci.jobs.bench_nfs.nfs_plots import plots
from ci.jobs.bench_nfs.rounds import parts_of
from ci.jobs.bench_nfs.rows_command import measure_rows, parse_rows, rows_parser, run_rows
from ci.jobs.bench_nfs.two_runs import compare, load
from ci.jobs.bench_nfs.yardstick import beside_others, installed
from steertag import __version__

DESCRIPTION = """\
Repeats the comparison of NFS over TCP and over RDMA of 2003, by our client and server over loopback: rows C1 to C9, and
Ganesha with libnfs beside them. C5 needs iproute2 and user namespaces. Prints the page; results and plots go to build/bench-nfs/.
"""
PROGRAM = "ci/bench-nfs"
FOLDER = PROJECT / "build" / "bench-nfs"
RESULTS = PROJECT / "docs" / "results"
PAGE = "nfs-2003.md"
MEASURED = ("C1", "C4", "C5", "C6", "C7", "C8", "C9", "yardstick")
# Those that need what not every machine has.
OPTIONAL = ("C5", "yardstick")
# Sections that show the results of another row.
SHOWN_WITH = {"C2": "C1", "C3": "C1"}


@dataclasses.dataclass
class Run:
    """All that the page shows."""

    rounds: int
    seconds: float
    machine: str
    results: dict = dataclasses.field(default_factory=dict)
    missing: dict = dataclasses.field(default_factory=dict)
    kernel: str = platform.release()
    load: float = dataclasses.field(default_factory=lambda: os.getloadavg()[0])
    nfs: int = NFS
    version: str = __version__
    date: str = dataclasses.field(default_factory=lambda: datetime.date.today().isoformat())


def machine():
    """What processors there are, and how many are used."""
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"model name\s*:\s*(.*)", text)
    client, own = processors()
    shared = "client and server share one processor" if client == own else "a processor each"
    return f"{model[1] if model else platform.machine()}, {shared}"


def measure(wanted, options):
    """A Run, by parts of its rounds."""
    run = Run(options.rounds, options.seconds, machine())
    os.sched_setaffinity(0, {processors()[0]})
    for rounds in parts_of(options.rounds):
        measure_part(run, wanted, rounds, options)
    return run


def measure_part(run, wanted, rounds, options):
    """Adds so many rounds of each row to the Run."""
    how = (rounds, options.seconds)
    with server() as main, new_file(main, TCP, nfs_rows.FILE_BYTES) as path:
        rows = {
            "C1": lambda: nfs_rows.reading(main, path, *how),
            "C4": lambda: nfs_rows.writing(main, *how),
            "C5": lambda: networks.measured(*how),
            "C6": lambda: nfs_rows.threshold(*how),
            "C7": lambda: nfs_rows.registration(main, path, *how),
            "C8": lambda: nfs_rows.copies(main, path, *how),
            "C9": lambda: nfs_rows.names(*how),
            "yardstick": lambda: beside_others(
                main, path, installed(options.packages), FOLDER, rounds, YARDSTICK_S
            ),
        }
        measure_rows(run, rows, wanted, SHOWN_WITH, optional=OPTIONAL)


# A cell of the yardstick, whose reader mounts anew each time.
YARDSTICK_S = 1.0


def write(run, folder):
    """Writes the page and its plots; the text of the page."""
    return write_page(folder, PAGE, page(run), plots(run.results))


def write_page(folder, name, text, svgs):
    """Writes a page of that name, and its plots: {name: SVG}. Returns the text."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    for plot, svg in svgs.items():
        (folder / plot).write_text(svg, encoding="utf-8")
    return text


def write_figures(run, folder=FOLDER, name=PAGE, measured=MEASURED):
    """All figures of all rounds as JSON, and the page of that name for browsers; where the JSON is."""
    stem = name.removesuffix(".md")
    rows = {row: json_of(found) for row, found in run.results.items() if row in measured}
    written = folder / f"{stem}.json"
    written.write_text(json.dumps(rows), encoding="utf-8")
    if shutil.which("cmark-gfm"):
        command = ["cmark-gfm", "--extension", "table", str(folder / name)]
        html = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        (folder / f"{stem}.html").write_text(html.stdout, encoding="utf-8")
    return written


def parse(arguments):
    note = "C2 and C3 come with C1; "
    parser = rows_parser(PROGRAM, DESCRIPTION, MEASURED, note, rounds=6, seconds=0.3)
    parser.add_argument(
        "--packages",
        type=pathlib.Path,
        metavar="DIR",
        help="where the packages of Ganesha and libnfs are unpacked, if they are not installed",
    )
    return parse_rows(parser, MEASURED, arguments)


def main(arguments):
    """Returns the exit status: 0, 1 if an earlier run says otherwise, or 2 if something did not run."""
    options = parse(arguments)

    def work():
        earlier = load(options.against) if options.against else None
        run = measure(options.row or MEASURED, options)
        print(write(run, FOLDER), end="")
        figures = write_figures(run)
        if options.keep:
            write(run, RESULTS)
        return compare(earlier, load(figures)) if options.against else 0

    return run_rows(PROGRAM, work)
